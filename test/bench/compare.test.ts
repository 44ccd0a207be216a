import { expect, it } from 'vitest'
import { sampleInTurn } from '../../bench/compare.ts'

it('samples each server in each of its builds once a round, backwards every other round', async () => {
  const order: string[] = []
  const servers = [{ name: 'host', other: { name: 'other host' } }, { name: 'sink' }]
  const samples = await sampleInTurn(servers, 3, async ({ name }, round) => {
    order.push(name)
    return `${name} ${round}`
  })
  expect(order).toEqual(['host', 'other host', 'sink', 'sink', 'other host', 'host', 'host', 'other host', 'sink'])
  expect(samples).toEqual([
    [
      ['host 0', 'host 1', 'host 2'],
      ['other host 0', 'other host 1', 'other host 2'],
    ],
    [['sink 0', 'sink 1', 'sink 2']],
  ])
})
