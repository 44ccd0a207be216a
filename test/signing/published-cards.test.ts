import { calculateJwkThumbprint, decodeProtectedHeader } from 'jose'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { readKeys, verifySignatures } from '../../src/card/signatures/index.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { agentCard } from '../support/cards/cards.ts'
import { type NodeHost, startNodeHost } from '../support/node-host.ts'
import { token } from '../support/runtime.ts'
import { makeSigningKey } from '../support/signing-key.ts'

const now = Date.parse('2026-11-25T12:00:00Z')
const origin = 'https://cards.example.com'
const secret = (key: object) => JSON.stringify(key)
const first = makeSigningKey()
const second = makeSigningKey()
const kidOf = ({ x, y }: { x: string; y: string }) => calculateJwkThumbprint({ kty: 'EC', crv: 'P-256', x, y })
const card = agentCard('https://agent.example', {
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
  description: 'Le temps qu’il fait',
})
const author = { protected: 'eyJhbGciOiJFUzI1NiIsImtpZCI6ImEifQ', signature: 'AAAA' }

/** Each test has an agent of its own: the process caches what it serves. */
let id = ''
let count = 0
beforeEach(() => {
  id = `weather-${++count}`
  vi.spyOn(console, 'log').mockReturnValue()
  vi.useFakeTimers({ now, toFake: ['Date'] })
})

const start = (vars: Record<string, string> = {}): Promise<NodeHost> =>
  startNodeHost({ origin, vars: { PUBLIC_URL: origin, SIGNING_KEY: secret(first), ...vars } })

type Served = { etag: string | null; modified: string | null; document: JsonObject }

const read = async (host: NodeHost, id: string, query = ''): Promise<Served> => {
  const response = await host.fetch(`/agents/${id}/.well-known/agent-card.json${query}`)
  expect(response.status).toBe(200)
  return {
    etag: response.headers.get('ETag'),
    modified: response.headers.get('Last-Modified'),
    document: (await response.json()) as JsonObject,
  }
}

const signaturesOf = ({ document }: Served): JsonObject[] => (document.signatures ?? []) as JsonObject[]
const kidsOf = (served: Served) => [
  ...new Set(signaturesOf(served).map(entry => decodeProtectedHeader(entry as never).kid)),
]
const notesOf = (receipt: JsonObject) =>
  ((receipt.report as JsonObject).signatures as { message: string }[]).map(({ message }) => message)

const readPublished = async (host: NodeHost) => {
  const response = await host.fetch('/.well-known/jwks.json')
  const keys = response.ok ? await readKeys((await response.json()) as Json, 'jwks.json') : { keys: [] }
  return 'keys' in keys ? keys.keys : []
}

/** Returns how each signature of a card is verified with the keys that the host publishes now. */
const verify = async (host: NodeHost, { document }: Served) =>
  (await verifySignatures(document, await readPublished(host))).map(result =>
    result.valid ? result.rule : result.reason,
  )

describe('a card that is registered at a host with a SIGNING_KEY', () => {
  it('is signed by every rule that verifiers follow, unless its dialect has no signatures', async () => {
    const host = await start()
    await host.put(id, card)
    for (const [query, rules] of [
      ['', ['proto', 'wire', 'proto-ascii']],
      ['?dialect=1.0', ['wire', 'proto-ascii']],
      ['?dialect=0.3', ['proto', 'wire', 'proto-ascii']],
    ] as const)
      expect([query, ...(await verify(host, await read(host, id, query)))]).toEqual([query, ...rules])
    for (const dialect of ['gopherhole', 'superx', 'shaman', 'telex'])
      expect((await read(host, id, `?dialect=${dialect}`)).document.signatures, dialect).toBeUndefined()
    const header = { alg: 'ES256', typ: 'JOSE', kid: await kidOf(first), jku: `${origin}/.well-known/jwks.json` }
    for (const entry of signaturesOf(await read(host, id))) {
      expect(Object.keys(entry)).toEqual(['protected', 'signature'])
      expect(decodeProtectedHeader(entry as never)).toEqual(header)
    }
  })

  it('keeps its signatures, and so its entity tags, while what they sign stays the same', async () => {
    const host = await start()
    const manifest = (more: object) => ({ card, ...more })
    const before = await host.put(id, manifest({}))
    expect(await host.put(id, manifest({}))).toMatchObject({ seq: 1, changed: false, etags: before.etags })
    const { manifest: _, ...etags } = before.etags as JsonObject
    expect(await host.put(id, manifest({ set: 'mine' }))).toMatchObject({ seq: 2, etags })
    expect(await host.put(id, manifest({ card: { ...card, version: '3.0.0' } }))).not.toMatchObject({ etags })
  })

  it('is signed in each tier, for callers with a token', async () => {
    const host = await start()
    await host.put(id, { card, extended: { description: 'For callers with a token' }, tiers: { partner: {} } })
    const response = await host.fetch(`/agents/${id}/a2a`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetExtendedAgentCard', params: {} }),
    })
    const { result } = (await response.json()) as { result: JsonObject }
    expect(result.description).toBe('For callers with a token')
    expect(await verify(host, { etag: null, modified: null, document: result })).toEqual(['wire'])
  })
})

describe('a card that is not signed', () => {
  it('is served without signatures, and the report has the reason', async () => {
    for (const [vars, manifest, reason] of [
      [{ SIGNING_KEY: '' }, {}, /no SIGNING_KEY.*npx sync-card keys create/],
      [{ SIGNING_KEY: '{"kty":"RSA"}' }, {}, /SIGNING_KEY .* is not a private key/],
      [{}, { signatures: 'strip' }, /`signatures: strip`/],
      [{ PUBLIC_URL: '' }, {}, /set PUBLIC_URL/],
    ] as [Record<string, string>, object, RegExp][]) {
      const host = await start(vars)
      const unsigned = `${id}-${reason.source.length}`
      expect(notesOf(await host.put(unsigned, { card, ...manifest }))).toEqual([expect.stringMatching(reason)])
      expect((await read(host, unsigned)).document.signatures).toBeUndefined()
    }
  })

  it('names the host of a request only if the agent claims it, or if it is this machine', async () => {
    for (const [from, manifest, count] of [
      ['https://cards.example.com', {}, 0],
      ['https://weather.example.com', { hosts: ['weather.example.com'] }, 3],
      ['http://127.0.0.1:8787', {}, 3],
    ] as [string, JsonObject, number][]) {
      const host = await startNodeHost({ origin: from, vars: { SIGNING_KEY: secret(first) } })
      const named = `${id}-${new URL(from).hostname.replaceAll('.', '-')}`
      await host.put(named, { card, route: 'direct', ...manifest })
      const jkus = signaturesOf(await read(host, named)).map(entry => decodeProtectedHeader(entry as never).jku)
      expect(jkus).toEqual(Array(count).fill(`${from}/.well-known/jwks.json`))
    }
  })
})

describe('the signatures of an author', () => {
  const signed = { ...agentCard('https://agent.example'), signatures: [author] }
  it('are kept, replaced or left out as the manifest says', async () => {
    const host = await start()
    for (const [signatures, inV1, notes] of [
      ['keep', true, ['kept in 1.0', 'left out of agent-card.json, agent.json, 0.3']],
      ['resign', false, ['left out of every document: the manifest has `signatures: resign`']],
      ['strip', false, ['left out of every document: the manifest has `signatures: strip`']],
    ] as const) {
      const authored = `${id}-${signatures}`
      const report = notesOf(await host.put(authored, { card: signed, signatures }))
      const hasAuthors = async (query: string) =>
        signaturesOf(await read(host, authored, query)).some(({ signature }) => signature === author.signature)
      expect([signatures, await hasAuthors('?dialect=1.0'), await hasAuthors('')]).toEqual([signatures, inV1, false])
      for (const [index, note] of notes.entries()) expect(report[index]?.startsWith(note), report[index]).toBe(true)
    }
  })

  it('stay where they are when the keys of the host change', async () => {
    const host = await start()
    await host.put(id, signed)
    await changeKeys(host, { SIGNING_KEY: secret(second) })
    expect(signaturesOf(await read(host, id, '?dialect=1.0'))).toEqual([author])
    expect(kidsOf(await read(host, id))).toEqual([await kidOf(second)])
  })
})

/** Gives the host other keys, as a deployment does, and lets the Registry sign and publish. */
const changeKeys = async (host: NodeHost, secrets: Partial<Env>): Promise<void> => {
  Object.assign(host.env, secrets)
  // One alarm signs, the next one publishes what was signed.
  for (let alarm = 0; alarm < 2; alarm++) await host.registry.alarm()
  vi.setSystemTime(Date.now() + 60_000)
}

describe('when the keys of a host change', () => {
  it('a first key signs all that is registered', async () => {
    const host = await start({ SIGNING_KEY: '' })
    await host.put(id, { card, extended: { description: 'For callers with a token' } })
    const before = await read(host, id)
    await changeKeys(host, { SIGNING_KEY: secret(first) })
    const after = await read(host, id)
    expect(await verify(host, after)).toEqual(['proto', 'wire', 'proto-ascii'])
    expect({ ...after.document, signatures: undefined }).toEqual({ ...before.document, signatures: undefined })
    expect([after.etag === before.etag, after.modified]).toEqual([false, 'Wed, 25 Nov 2026 12:00:01 GMT'])
    // No revision was made, and the next one follows the documents that were published.
    expect(await host.put(id, { ...card, version: '3.0.0' })).toMatchObject({ seq: 3, changed: true })
  })

  it('an agent that is removed meanwhile stays removed', async () => {
    const host = await start()
    await host.put(id, card)
    Object.assign(host.env, { SIGNING_KEY: secret(second) })
    await host.fetch(`/agents/${id}`, { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } })
    await changeKeys(host, {})
    expect((await host.fetch(`/agents/${id}/.well-known/agent-card.json`)).status).toBe(404)
  })
})
