import { expect, it } from 'vitest'
import { type Principal, Quota } from '../../src/mcp-bridge/quotas.ts'

const alice: Principal = { known: true, name: 'alice' }
const bob: Principal = { known: true, name: 'bob' }
const [here, there, elsewhere]: Principal[] = ['here', 'there', 'elsewhere'].map(name => ({ known: false, name }))

/** How many each gets of 64, one after the other, and why no more. */
const got = (...accounts: (Principal | undefined)[]) => {
  const shares = new Quota(64)
  return accounts.map(account => {
    for (let count = 0; ; count++) {
      const full = account && shares.take(account)
      if (full || !account) return [count, full]
    }
  })
}

it.each<[accounts: (Principal | undefined)[], taken: [number, string][]]>([
  [
    [alice, bob],
    [
      [48, 'account'],
      [16, 'all'],
    ],
  ],
  [
    [here, alice],
    [
      [16, 'account'],
      [48, 'account'],
    ],
  ],
  [
    [here, there, elsewhere, alice],
    [
      [16, 'account'],
      [16, 'account'],
      [0, 'unknown'],
      [32, 'all'],
    ],
  ],
  [
    [alice, here, bob],
    [
      [48, 'account'],
      [16, 'account'],
      [0, 'all'],
    ],
  ],
])('gives nobody all of it, and callers that are unknown half at most: %j', (accounts, taken) => {
  expect(got(...accounts)).toEqual(taken)
})

it('takes a known caller for another than an address of that name', () => {
  const shares = new Quota(4)
  shares.take({ known: false, name: 'x' })
  expect([shares.take({ known: true, name: 'x' }, 3), shares.take({ known: false, name: 'x' })]).toEqual([
    undefined,
    'account',
  ])
})

it('gives again what was given back, and nothing of what it did not have', () => {
  const shares = new Quota(100)
  expect([shares.take(alice, 76), shares.take(alice, 75), shares.take(bob, 26), shares.take(bob, 25)]).toEqual([
    'account',
    undefined,
    'all',
    undefined,
  ])
  shares.give(alice, 75)
  expect(shares.take(bob, 50)).toBeUndefined()
})
