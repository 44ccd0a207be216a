import { calculateJwkThumbprint, decodeProtectedHeader } from 'jose'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
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
afterEach(() => {
  vi.useRealTimers()
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
  it.each([
    ['the hybrid agent-card.json', '', ['proto', 'wire', 'proto-ascii']],
    ['the document for A2A 1.0', '?dialect=1.0', ['wire', 'proto-ascii']],
    ['the document for A2A 0.3', '?dialect=0.3', ['proto', 'wire', 'proto-ascii']],
  ])('is signed by every rule that verifiers follow: %s', async (_, query, rules) => {
    const host = await start()
    await host.put(id, card)
    expect(await verify(host, await read(host, id, query))).toEqual(rules)
  })

  it('has protected headers of alg, kid, typ and jku, and nothing else', async () => {
    const host = await start()
    await host.put(id, card)
    for (const entry of signaturesOf(await read(host, id))) {
      expect(Object.keys(entry)).toEqual(['protected', 'signature'])
      expect(decodeProtectedHeader(entry as never)).toEqual({
        alg: 'ES256',
        typ: 'JOSE',
        kid: await kidOf(first),
        jku: `${origin}/.well-known/jwks.json`,
      })
    }
  })

  it.each(['gopherhole', 'superx', 'shaman', 'telex'])(
    'is not signed in %s, which has no signatures',
    async dialect => {
      const host = await start()
      await host.put(id, card)
      expect((await read(host, id, `?dialect=${dialect}`)).document.signatures).toBeUndefined()
    },
  )

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
  it.each<[string, Record<string, string>, JsonObject, RegExp]>([
    ['without a key', { SIGNING_KEY: '' }, {}, /no SIGNING_KEY.*npx sync-card keys create/],
    ['with a key that is not valid', { SIGNING_KEY: '{"kty":"RSA"}' }, {}, /SIGNING_KEY .* is not a private key/],
    ['with `signatures: strip`', {}, { signatures: 'strip' }, /`signatures: strip`/],
    ['at a host that knows no public name of its own', { PUBLIC_URL: '' }, {}, /set PUBLIC_URL/],
  ])('is served %s, and the report has the reason', async (_, vars, manifest, reason) => {
    const host = await start(vars)
    const receipt = await host.put(id, { card, ...manifest })
    expect(notesOf(receipt)).toEqual([expect.stringMatching(reason)])
    expect((await read(host, id)).document.signatures).toBeUndefined()
  })

  it.each([
    ['of the request', 'https://cards.example.com', {}, 0],
    ['that the agent claims', 'https://weather.example.com', { hosts: ['weather.example.com'] }, 3],
    ['of this machine', 'http://127.0.0.1:8787', {}, 3],
  ])('names no host of a request: the name %s', async (_, from, manifest, count) => {
    const host = await startNodeHost({ origin: from, vars: { SIGNING_KEY: secret(first) } })
    await host.put(id, { card, route: 'direct', ...manifest })
    const served = await read(host, id)
    expect(signaturesOf(served)).toHaveLength(count)
    for (const entry of signaturesOf(served))
      expect(decodeProtectedHeader(entry as never).jku).toBe(`${from}/.well-known/jwks.json`)
  })
})

describe('the signatures of an author', () => {
  const signed = { ...agentCard('https://agent.example'), signatures: [author] }
  const hasAuthors = async (host: NodeHost, query: string) =>
    signaturesOf(await read(host, id, query)).some(({ signature }) => signature === author.signature)

  it.each([
    ['keep', [true, false], ['kept in 1.0', 'left out of agent-card.json, agent.json, 0.3']],
    ['resign', [false, false], ['left out of every document: the manifest has `signatures: resign`']],
    ['strip', [false, false], ['left out of every document: the manifest has `signatures: strip`']],
  ])('with `signatures: %s` are in the 1.0 document and in the hybrid: %j', async (signatures, expected, notes) => {
    const host = await start()
    const report = notesOf(await host.put(id, { card: signed, signatures }))
    expect(await Promise.all(['?dialect=1.0', ''].map(query => hasAuthors(host, query)))).toEqual(expected)
    expect(report.slice(0, notes.length).map((note, index) => note.startsWith(notes[index] ?? ''))).not.toContain(false)
  })

  it('give way to those of this host where another document is served', async () => {
    const host = await start()
    await host.put(id, signed)
    expect(await verify(host, await read(host, id))).toEqual(['proto', 'wire'])
    expect(signaturesOf(await read(host, id, '?dialect=1.0'))).toEqual([author])
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
  const at = (key: object, milliseconds: number) => secret({ ...key, nbf: Math.ceil(milliseconds / 1000) })

  it('a first key signs all that is registered', async () => {
    const host = await start({ SIGNING_KEY: '' })
    await host.put(id, { card, extended: { description: 'For callers with a token' } })
    const before = await read(host, id)
    await changeKeys(host, { SIGNING_KEY: secret(first) })
    const after = await read(host, id)
    expect(await verify(host, after)).toEqual(['proto', 'wire', 'proto-ascii'])
    expect({ ...after.document, signatures: undefined }).toEqual({ ...before.document, signatures: undefined })
    expect([after.etag === before.etag, after.modified]).toEqual([false, 'Wed, 25 Nov 2026 12:00:01 GMT'])
  })

  it('the next key signs when its time has come, beside the previous one, and alone after that', async () => {
    const host = await start()
    await host.put(id, card)
    const before = await read(host, id)
    await changeKeys(host, { SIGNING_KEY_2: at(second, now + 600_000) })
    expect(await read(host, id)).toEqual(before)
    vi.setSystemTime(now + 600_000)
    await changeKeys(host, {})
    const during = await read(host, id)
    expect(kidsOf(during)).toEqual([await kidOf(second), await kidOf(first)])
    expect(await verify(host, during)).toEqual(['proto', 'wire', 'proto-ascii', 'proto', 'wire', 'proto-ascii'])
    await changeKeys(host, { SIGNING_KEY: '' })
    expect(kidsOf(await read(host, id))).toEqual([await kidOf(second)])
    expect(await verify(host, before)).toEqual(
      Array(3).fill(`names the key "${await kidOf(first)}", which is not among the trusted keys`),
    )
  })

  it('the signatures of a key that stays are not made again', async () => {
    const host = await start()
    await host.put(id, card)
    const before = signaturesOf(await read(host, id))
    await changeKeys(host, { SIGNING_KEY_2: at(second, now - 1000) })
    await changeKeys(host, { SIGNING_KEY_2: '' })
    expect(signaturesOf(await read(host, id))).toEqual(before)
  })

  it('nothing is signed without a key, and the documents are again what they were', async () => {
    const host = await start({ SIGNING_KEY: '' })
    await host.put(id, { card, extended: { description: 'For callers with a token' } })
    const before = await read(host, id)
    await changeKeys(host, { SIGNING_KEY: secret(first) })
    await changeKeys(host, { SIGNING_KEY: '' })
    expect(await read(host, id)).toMatchObject({ etag: before.etag, document: before.document })
  })

  it('no revision is made, and the next one follows the documents that were published', async () => {
    const host = await start()
    await host.put(id, card)
    await changeKeys(host, { SIGNING_KEY: secret(second) })
    const { metadata } = await host.env.CARDS.getWithMetadata<{ seq: number }>(`card:${id}`)
    expect([metadata?.seq, (await host.registry.revisions(id, 1000, 10)).map(({ seq }) => seq)]).toEqual([2, [1]])
    expect(await host.put(id, card)).toMatchObject({ seq: 1, changed: false })
    expect(await host.put(id, { ...card, version: '3.0.0' })).toMatchObject({ seq: 3, changed: true })
    expect(await verify(host, await read(host, id))).toEqual(['proto', 'wire', 'proto-ascii'])
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
