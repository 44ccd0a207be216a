import { describe, expect, it } from 'vitest'
import { compileDocument } from '../../src/card/compile/index.ts'
import { applyOverlay } from '../../src/card/compile/overlay.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { toSuperxCard } from '../../src/mcp/client/server-card.ts'
import { registration } from '../support/cards/compile.ts'
import { completeCards } from '../support/cards/complete.ts'
import { cpuTime, doubled, growth, growthWhenDoubled, linear } from '../support/cpu-time.ts'
import {
  addMember,
  harmlessPiece,
  hostilePieces,
  mapStrings,
  repeatItems,
  repeatTo,
  stringPaths,
} from '../support/hostile.ts'

const manifest: JsonObject = {
  card: completeCards['0.3'] as JsonObject,
  extended: { description: 'More', skills: [{ id: 'history', name: 'History', description: 'Past', tags: ['past'] }] },
  tiers: { partner: { skills: [{ id: 'forecast', description: 'Better' }] } },
  hosts: ['weather.example.com'],
  upstream: { url: 'https://weather.internal.example/a2a', secret: 'TOKEN', mayShow: ['docs.example.com'] },
}

const mcpServer: JsonObject = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {}, resources: {} },
  serverInfo: { name: 'Search', version: '1.0.0' },
  tools: {
    items: [
      {
        name: 'search',
        title: 'Search',
        description: 'Searches the web',
        inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
        annotations: { title: 'Search', readOnlyHint: true },
      },
    ],
  },
  resources: { items: [{ uri: 'file:///a', name: 'a', mimeType: 'text/plain' }] },
}

const compileFetched = (upstream: JsonObject, fetched: JsonObject) =>
  compileDocument({ upstream, route: 'gateway' }, { ...registration, fetched })

/** What is registered, or fetched: a document, and what reads it. */
const inputs: [
  name: string,
  document: JsonObject,
  read: (document: JsonObject) => ReturnType<typeof compileDocument>,
][] = [
  ['a manifest', manifest, document => compileDocument(document, registration)],
  ['a card of GopherHole', completeCards.gopherhole ?? {}, document => compileDocument(document, registration)],
  ['front matter of Shaman', completeCards.shaman ?? {}, document => compileDocument(document, registration)],
  [
    'a fetched card',
    completeCards['1.0'] ?? {},
    fetched => compileFetched({ card: 'https://a.example/card.json' }, fetched),
  ],
  [
    'the lists of an MCP server',
    mcpServer,
    listed => compileFetched({ mcp: 'https://mcp.example/' }, toSuperxCard('search', listed as never).card),
  ],
]

/** Each string then has twice as many characters as MAX_NAME_LENGTH, or twice as many again. */
const SIZE = 400

/** Twice as many are MAX_SKILLS, which is less than MAX_MEMBERS. */
const ITEMS = 250

/** The fields of a card and of an overlay: ten times as many are more than MAX_MEMBERS, but show how the time grows. */
const FIELDS = 800

describe.each(inputs)('%s', (_, document, read) => {
  const change = (map: (text: string, path: string) => string): JsonObject =>
    mapStrings(document, (text, path) => map(text, path.join('/'))) as JsonObject
  /** The strings to which anything may be added: with them, the document is read to its end. */
  const free = new Set(
    stringPaths(document).filter(
      each => 'compiled' in read(change((text, path) => (path === each ? `${text}x` : text))),
    ),
  )

  const variants: Record<string, (hostile: string) => JsonObject> = {
    'in place of every string': hostile => change(() => hostile),
    'after every string': hostile => change(text => text + hostile),
    'after every string that may have any value': hostile =>
      change((text, path) => (free.has(path) ? text + hostile : text)),
    'in the host of every URL': hostile => change(text => text.replace('//', `//a${hostile}.`)),
    'as the name of a member': hostile => addMember(document, hostile) as JsonObject,
  }

  it.each(Object.entries(variants))('costs in proportion to hostile text %s', async (_, write) => {
    const reading = (piece: string) => (size: number) => read(write(repeatTo(piece, size)))
    const harmless = cpuTime(() => reading(harmlessPiece)(2 * SIZE))
    const growths: [piece: string, growth: number][] = []
    for (const piece of hostilePieces)
      growths.push([piece, await growthWhenDoubled(SIZE, 3 * harmless, reading(piece))])
    expect(growths.filter(([, growth]) => growth > doubled)).toStrictEqual([])
  })

  it('costs in proportion to the items of each of its lists, half of which are the same', async () => {
    const makeItem = (item: Json, index: number) =>
      index % 2 === 0 ? item : mapStrings(item, text => `${text}${index}`)
    const slow: string[] = []
    for (const [path] of repeatItems(document, 1, makeItem)) {
      const withItems = (count: number) => new Map(repeatItems(document, count, makeItem)).get(path) as JsonObject
      const documents = new Map([ITEMS, 2 * ITEMS].map(count => [count, withItems(count)]))
      const growth = await growthWhenDoubled(ITEMS, 20, count => read(documents.get(count) ?? {}))
      if (growth > doubled) slow.push(`${path}: ${growth}`)
    }
    expect(slow).toStrictEqual([])
  })
})

describe('the report', () => {
  it.each([
    ['secrets', 'sk-a1b2c3d4e5f6g7h8i9j0k'],
    ['instructions', 'system prompt'],
  ])('costs in proportion to a name and the %s below it', async (_, text) => {
    const growth = await growthWhenDoubled(8 * 1024, 20, size =>
      compileDocument({ ...completeCards['1.0'], [repeatTo('a', size)]: Array(size / 32).fill(text) }, registration),
    )
    expect(growth).toBeLessThan(doubled)
  })
})

describe('an overlay', () => {
  it('costs in proportion to its fields and those of the card', () => {
    const makeFields = (count: number, name: string): JsonObject =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index}`, name]))
    const inputs = new Map(
      [FIELDS, 10 * FIELDS].map(count => [count, { document: makeFields(count, 'a'), patch: makeFields(count, 'b') }]),
    )
    const apply = (count: number) => {
      const { document = {}, patch = {} } = inputs.get(count) ?? {}
      return applyOverlay({ document, originOf: () => undefined }, { pointer: '/extended', patch })
    }
    expect(growth(FIELDS, apply)).toBeLessThan(linear)
  })
})
