import { inflateSync } from 'node:zlib'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadManifests } from '../../cli/manifests/load.ts'
import worker from '../../examples/mcp-server/worker.ts'
import { compileDocument } from '../../src/card/compile/index.ts'
import { discover, toSuperxCard } from '../../src/mcp/client/server-card.ts'

const fetchFromWorker = async (url: string | URL, init?: RequestInit) => worker.fetch(new Request(url, init) as never)

const client = new Client({ name: 'test', version: '1.0.0' })
const transport = new StreamableHTTPClientTransport(new URL('https://mcp-server.internal/mcp'), {
  fetch: fetchFromWorker,
})
beforeAll(() => client.connect(transport))
afterAll(() => client.close())

const call = async (name: string, args: Record<string, unknown>) => {
  const { content, isError, structuredContent } = await client.callTool({ name, arguments: args })
  return { content, ...(isError && { isError }), ...(structuredContent !== undefined && { structuredContent }) }
}
const textResult = (text: string) => ({ content: [{ type: 'text', text }] })

describe('the example MCP server', () => {
  it('counts words, rolls dice, and divides, or reports a division by 0 as a failure of the tool', async () => {
    expect(await call('count_words', { text: 'one two  three\n' })).toEqual(textResult('3 words'))
    expect(await call('count_words', { text: 'one' })).toEqual(textResult('1 word'))
    const { structuredContent } = await call('roll_dice', { dice: 20, sides: 2 })
    const { rolls, sum } = structuredContent as { rolls: number[]; sum: number }
    expect([rolls.length, rolls.every(roll => roll === 1 || roll === 2)]).toEqual([20, true])
    expect(rolls.reduce((total, roll) => total + roll)).toBe(sum)
    expect(await call('divide', { dividend: 1, divisor: 4 })).toEqual(textResult('0.25'))
    const failure = { ...textResult('Cannot divide by 0.'), isError: true }
    expect(await call('divide', { dividend: 1, divisor: 0 })).toEqual(failure)
  })

  it('returns a PNG picture of 32 by 32 pixels', async () => {
    const { content } = await call('draw_pattern', {})
    const [image] = content as { type: string; mimeType: string; data: string }[]
    const file = Buffer.from(image?.data ?? '', 'base64')
    expect([image?.type, image?.mimeType]).toEqual(['image', 'image/png'])
    expect([file.subarray(1, 4).toString(), file.readUInt32BE(16), file.readUInt32BE(20)]).toEqual(['PNG', 32, 32])
    const length = file.readUInt32BE(33)
    // A row is a byte that names its filter and one bit a pixel.
    expect(inflateSync(file.subarray(41, 41 + length)).length).toBe(32 * (1 + 32 / 8))
  })
})

describe('examples/cards/tool-box.yaml', () => {
  const [draft] = loadManifests(['examples/cards/tool-box.yaml'], 'https://cards.example.com').drafts

  it('makes a card from the tools of the server and the overlay of the manifest', async () => {
    const discovery = await discover('https://mcp-server.internal/mcp', fetchFromWorker)
    if ('failure' in discovery) throw new Error(discovery.failure.message)
    const { card: fetched, notes } = toSuperxCard('tool-box', discovery.discovered)
    const result = compileDocument(draft?.manifest ?? null, {
      id: 'tool-box',
      requestOrigin: 'https://h.example.com',
      fetched,
    })
    if ('errors' in result) throw new Error(JSON.stringify(result.errors))
    const { card, report } = result.compiled
    expect([notes, report.issues.filter(({ severity }) => severity === 'error')]).toEqual([[], []])
    expect([card.name, card.skills.map(({ id, tags }) => [id, tags])]).toEqual([
      'Tool Box',
      [
        ['count-words', ['text']],
        ['roll-dice', ['tool', 'mcp']],
        ['divide', ['tool', 'mcp', 'read-only']],
        ['count-down', ['tool', 'mcp']],
        ['draw-pattern', ['picture']],
      ],
    ])
  })
})
