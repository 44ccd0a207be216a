import { expect, it } from 'vitest'
import { sampleInTurn } from '../../bench/compare.ts'

it('samples each server in each of its builds once a round, not always in the same order', async () => {
  const order: string[] = []
  const servers = [{ name: 'host', other: { name: 'other host' } }, { name: 'sink' }]
  const samples = await sampleInTurn(servers, 20, async ({ name }, round) => {
    order.push(name)
    return `${name} ${round}`
  })
  const rounds = Array.from({ length: 20 }, (_, round) => order.slice(3 * round, 3 * round + 3))
  for (const round of rounds) expect(round.toSorted()).toEqual(['host', 'other host', 'sink'])
  expect(new Set(rounds.map(([first]) => first)).size).toBe(3)
  expect(samples.map(builds => builds.map(([first]) => first))).toEqual([['host 0', 'other host 0'], ['sink 0']])
  expect(samples.flat().map(({ length }) => length)).toEqual([20, 20, 20])
})
