import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { MAX_IMPORT_LINE_BYTES } from '../../../src/limits.ts'
import type { ImportStep } from '../../../src/registry/move/import.ts'
import { register } from '../../../src/registry/store/registrations.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { type OwnHost, startHost, token } from '../../support/host.ts'
import { type NodeHost, startNodeHost } from '../../support/node-host.ts'
import { prepareDocument } from '../../support/registrations.ts'

const auth = { Authorization: `Bearer ${token}` }
const AGENTS = 12
/** A host with agents, and one that imports them, which must be empty: no file before may have used it. */
let source: NodeHost
let target: OwnHost
let reader: string
let exported: Response
let text: string

beforeAll(async () => {
  source = await startNodeHost({ vars: { PUBLIC_URL: 'https://cards.example.com' } })
  target = await startHost({ PUBLIC_URL: 'https://new.example.com' })
  for (let index = 0; index < AGENTS; index++)
    await source.put(`agent-${index}`, {
      card: { ...minimalCard, name: `Agent ${index} é漢`, version: `1.${index}.0` },
      ...(index % 5 === 0 && { visibility: 'internal' }),
      ...(index % 7 === 0 && { extended: { description: 'More' } }),
      ...(index === 3 && { hosts: ['three.example.com'] }),
    })
  await source.put('agent-1', { ...minimalCard, name: 'Second' })
  await source.fetch('/agents/agent-2', { method: 'DELETE', headers: auth })
  const issued = await source.fetch('/tokens', {
    ...{ method: 'POST', headers: { ...auth, 'Content-Type': 'application/json' } },
    body: JSON.stringify({ scopes: ['read'], note: 'reads all' }),
  })
  reader = ((await issued.json()) as { token: string }).token
  exported = await source.fetch('/export', { headers: auth })
  text = await exported.text()
})
afterAll(() => target.close())

type AnyHost = { fetch: (path: string, init?: RequestInit) => Promise<Response> }

const post = (body: BodyInit | null, headers: Record<string, string> = {}) =>
  target.fetch('/import', { method: 'POST', headers: { ...auth, ...headers }, body })
/** Gives lines the last line that fits them. */
const seal = (lines: string) =>
  `${lines}{"end":true,"lines":${lines.split('\n').length - 1},"sha256":"${createHash('sha256').update(lines).digest('hex')}"}\n`
const content = () => text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1)

describe('GET /export', () => {
  it('is a stream of lines, with a header and a last line that has the digest of the others', () => {
    expect([exported.status, exported.headers.get('Content-Type'), exported.headers.get('Cache-Control')]).toEqual([
      ...[200, 'application/x-ndjson', 'private, no-store'],
    ])
    const [header = ''] = text.split('\n', 1)
    const exportedAt = expect.any(String)
    expect(JSON.parse(header)).toEqual({ format: 'calling-card-export', version: 1, exported: exportedAt })
    expect(text).toBe(seal(content()))
    expect(text).not.toContain(reader)
    expect(text).toContain(createHash('sha256').update(reader).digest('hex'))
  })

  it('requires the scope admin', async () => {
    const headers = { Authorization: `Bearer ${reader}` }
    expect((await source.fetch('/export')).status).toBe(401)
    expect((await source.fetch('/export', { headers })).status).toBe(403)
    expect((await source.fetch('/import', { method: 'POST', headers, body: text })).status).toBe(403)
  })
})

it('imports everything but the tokens with ?tokens=false', async () => {
  const host = await startNodeHost()
  const importWith = (query: string) => host.fetch(`/import${query}`, { method: 'POST', headers: auth, body: text })
  expect((await importWith('?tokens=no')).status).toBe(400)
  expect(await (await importWith('?tokens=false')).json()).toEqual({ agents: 11, revisions: 14, tokens: 0 })
  expect(await host.registry.tokens('', 9)).toEqual([])
})

it('sends the lines of an import to the Registry a thousand at a time, so that other requests get their turn', async () => {
  const host = await startNodeHost()
  const steps: number[] = []
  const registry = new Proxy(host.registry, {
    get: (target, name) => (step: ImportStep) => {
      if ('lines' in step) steps.push(step.lines.split('\n').length - 1)
      return Reflect.get(target, name).call(target, step)
    },
  })
  Object.assign(host.env, { REGISTRY: { getByName: () => registry } })
  const body = seal(`${content().split('\n', 1)[0]}\n${'{"replace":"a"}\n'.repeat(2500)}`)
  const response = await host.fetch('/import', { method: 'POST', headers: auth, body })
  expect([response.status, steps]).toEqual([201, [1000, 1000, 501]])
})

it('the export of 200 revisions is imported, although it expands to more than 100 times its size', async () => {
  const [host, copy] = [await startNodeHost(), await startNodeHost()]
  const description = 'This agent does one thing for people. '.repeat(200)
  const prepare = (version: string) =>
    prepareDocument({ ...minimalCard, description, version }, { id: 'often', requestOrigin: 'https://host.example' })
  const versions = [await prepare('1.0.0'), await prepare('2.0.0')]
  for (let seq = 0; seq < 100; seq++)
    for (const version of versions) expect(register(host.storage.sql, version, true)).not.toHaveProperty('error')
  const bytes = await (await host.fetch('/export', { headers: auth })).arrayBuffer()
  const body = gzipSync(bytes, { level: 9 })
  expect(bytes.byteLength).toBeGreaterThan(1024 * 1024 + 100 * body.byteLength)
  const headers = { ...auth, 'Content-Encoding': 'gzip' }
  const response = await copy.fetch('/import', { method: 'POST', headers, body })
  expect([response.status, await response.json()]).toEqual([201, { agents: 1, revisions: 200, tokens: 0 }])
})

describe('POST /import', () => {
  it('refuses a file that is no whole export, and changes nothing', async () => {
    const gzip = { 'Content-Encoding': 'gzip' }
    const header = content().split('\n', 1)[0]
    const withoutLine = content().replace(/\{"table":"revisions".*\n/, '')
    const bomb = `${header}\n${`{"replace":"a","more":"${'a'.repeat(9_000)}"}\n`.repeat(1000)}`
    const rows: [what: string, BodyInit | null, Record<string, string>, number, string][] = [
      ['nothing', null, {}, 422, 'invalid-import'],
      ['no export', 'hello\n', {}, 422, 'invalid-import'],
      ['a file without its last line break', text.slice(0, -1), {}, 422, 'invalid-import'],
      ['an edited file', text.replace('Agent 4', 'Agent X'), {}, 422, 'invalid-import'],
      ['lines after the last one', `${text}${text}`, {}, 422, 'invalid-import'],
      ['bytes that are not UTF-8', new Uint8Array([0x7b, 0xff, 0x0a]), {}, 422, 'invalid-import'],
      ['a line that was left out', seal(withoutLine), {}, 422, 'invalid-import'],
      ['a newer version', seal(content().replace('"version":1', '"version":9')), {}, 422, 'export-too-new'],
      ['broken compression', text, gzip, 422, 'invalid-import'],
      ['a line without end', 'x'.repeat(MAX_IMPORT_LINE_BYTES + 1024 * 1024), {}, 413, 'too-large'],
      ['lines that become 800 times as many bytes', gzipSync(bomb), gzip, 413, 'too-large'],
      ['another compression', text, { 'Content-Encoding': 'br' }, 415, 'unsupported-encoding'],
    ]
    for (const [what, body, headers, status, code] of rows) {
      const response = await post(body, headers)
      expect([response.status, await response.json()], what).toMatchObject([status, { code }])
      const listed = await target.fetch('/agents', { headers: auth })
      expect([what, await listed.json()]).toEqual([what, { agents: [] }])
    }
  })
})

describe('a host that has imported an export', () => {
  let imported: [status: number, body: unknown]
  beforeAll(async () => {
    const response = await post(gzipSync(text), { 'Content-Encoding': 'gzip' })
    imported = [response.status, await response.json()]
    // Until it is published, a card is unknown, and the host remembers that for a while. The removed agent has no entry.
    const { CARDS } = await target.env()
    const names = async () => (await CARDS.list({ prefix: 'card:' })).keys.filter(({ name }) => name !== 'card:agent-2')
    await vi.waitFor(async () => expect(await names()).toHaveLength(11), { timeout: 30_000, interval: 100 })
  })

  it('has the same cards, entity tags, manifests, tokens and history, byte for byte', async () => {
    expect(imported).toEqual([201, { agents: 11, revisions: 14, tokens: 1 }])
    const asReader = { Authorization: `Bearer ${reader}` }
    const read = async (host: AnyHost, path: string, init: RequestInit) => {
      const response = await host.fetch(path, init)
      const [etag, modified] = [response.headers.get('ETag'), response.headers.get('Last-Modified')]
      return { path, status: response.status, etag, modified, body: await response.text() }
    }
    const paths = Array.from({ length: AGENTS }, (_, index) => index).flatMap(index =>
      ['1.0', '0.3', 'superx'].map(dialect => `/agents/agent-${index}/.well-known/agent-card.json?dialect=${dialect}`),
    )
    const others = [
      ...['/agents/agent-1/manifest', '/agents/agent-1/revisions', '/agents/agent-2/revisions', '/tokens'],
      'http://three.example.com/.well-known/agent-card.json',
    ]
    const readHost = (host: AnyHost) =>
      Promise.all([
        ...paths.map(path => read(host, path, { headers: asReader })),
        ...paths.map(path => read(host, path, {})),
        ...others.map(path => read(host, path, { headers: auth })),
      ])
    const expected = await readHost(source)
    const missing = expected.filter(({ status }) => status !== 200).map(({ path }) => path.split('/')[2])
    // The others are internal: not without a token.
    expect([...new Set(missing)].toSorted()).toEqual(['agent-0', 'agent-10', 'agent-2', 'agent-5'])
    await vi.waitFor(async () => expect(await readHost(target)).toEqual(expected), { timeout: 10_000, interval: 100 })
  })

  it('refuses another import, because it is not empty', async () => {
    // A client that is still sending gets the response, too.
    const response = await post(text + ' '.repeat(8 * 1024 * 1024))
    expect([response.status, await response.json()]).toMatchObject([409, { code: 'host-not-empty' }])
  })
})
