import { expect, it } from 'vitest'
import { type Principal, Quota, type QuotaExceeded } from '../../src/mcp-bridge/quotas.ts'

const alice: Principal = { authenticated: true, name: 'alice' }
const bob: Principal = { authenticated: true, name: 'bob' }
const [first, second, third] = ['first', 'second', 'third'].map(name => ({ authenticated: false, name })) as [
  Principal,
  Principal,
  Principal,
]

/** How many units of 16 each principal gets, one after the other, and which quota ends it. */
const acquireAll = (...principals: Principal[]): [count: number, exceeded: QuotaExceeded][] => {
  const quota = new Quota(16)
  return principals.map(principal => {
    for (let count = 0; ; count++) {
      const exceeded = quota.acquire(principal)
      if (exceeded) return [count, exceeded]
    }
  })
}

it.each<[title: string, principals: Principal[], expected: [number, QuotaExceeded][]]>([
  [
    'three quarters to one caller',
    [alice, bob],
    [
      [12, 'principal'],
      [4, 'agent'],
    ],
  ],
  [
    'a quarter to one address',
    [first, alice],
    [
      [4, 'principal'],
      [12, 'principal'],
    ],
  ],
  [
    'half to all anonymous callers',
    [first, second, third, alice],
    [
      [4, 'principal'],
      [4, 'principal'],
      [0, 'anonymous'],
      [8, 'agent'],
    ],
  ],
  [
    'no more than there is',
    [alice, first, bob],
    [
      [12, 'principal'],
      [4, 'principal'],
      [0, 'agent'],
    ],
  ],
])('gives %s', (_, principals, expected) => {
  expect(acquireAll(...principals)).toEqual(expected)
})

it('distinguishes an authenticated caller from an address of the same name', () => {
  const quota = new Quota(4)
  quota.acquire({ authenticated: false, name: 'x' })
  expect([
    quota.acquire({ authenticated: true, name: 'x' }),
    quota.acquire({ authenticated: false, name: 'x' }),
  ]).toEqual([undefined, 'principal'])
})

it('gives again what was released', () => {
  const quota = new Quota(4)
  expect([1, 2, 3, 4].map(() => quota.acquire(alice))).toEqual([undefined, undefined, undefined, 'principal'])
  quota.release(alice)
  expect([quota.acquire(bob), quota.acquire(bob), quota.acquire(bob)]).toEqual([undefined, undefined, 'agent'])
})
