import { describe, expect, it } from 'vitest'
import { compileDocument } from '../../src/card/compile/index.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { registration } from '../support/cards/compile.ts'
import { doubled, growthWhenDoubled } from '../support/cpu-time.ts'
import { hostilePieces, repeatTo } from '../support/hostile.ts'

const upstream = { url: 'https://2525.ex.com/a2a', card: 'https://2525.ex.com/card.json' }
const tiers = { silver: { description: 'More' }, gold: { description: 'All' } }

const makeCard = (examples: string[], paths: string[] = []): JsonObject => ({
  ...{ name: 'A', description: 'B', url: 'https://2525.ex.com/a2a', protocolVersion: '0.3.0' },
  additionalInterfaces: paths.map(path => ({ url: `https://2525.ex.com/${path}`, transport: 'HTTP+JSON' })),
  skills: [{ id: 's', name: 'S', description: 'C', tags: ['t'], examples }],
})

/** Compile a card with its tiers. */
const compilers: Record<string, (card: JsonObject) => unknown> = {
  written: card => compileDocument({ card, route: 'gateway', upstream: { url: upstream.url }, tiers }, registration),
  fetched: fetched => compileDocument({ route: 'gateway', upstream, tiers }, { ...registration, fetched }),
}

/** Parts of the host name, and texts around it. */
const pieces = ['25', '2525.', '.ex.com', '%2525', 'http://2525.ex.com/a2a', 'http://2525.ex.com/a2a ', 'z2525.ex.com ']

describe.each(Object.entries(compilers))('a %s card behind the gateway', (_, read) => {
  it('costs in proportion to a text that nearly names the host of the agent', async () => {
    const slow: string[] = []
    for (const piece of [...pieces, ...hostilePieces])
      for (const beginning of ['', 'z2525.ex.com ']) {
        const growth = await growthWhenDoubled(4096, 20, size => read(makeCard([beginning + repeatTo(piece, size)])))
        if (growth > doubled) slow.push(beginning + piece)
      }
    expect(slow).toStrictEqual([])
  })

  it('costs in proportion to its interfaces and its texts together', async () => {
    const growth = await growthWhenDoubled(50, 50, count => {
      const numbers = Array.from({ length: count }, (_, index) => String(index))
      return read(
        makeCard(
          numbers.map(() => repeatTo('http://2525.ex.com ', 2000)),
          numbers,
        ),
      )
    })
    expect(growth).toBeLessThan(doubled)
  })
})
