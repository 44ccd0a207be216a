import { flattenedVerify, importJWK, type JWK } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { didOf } from '../../src/api/catalogs/entries.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { canonicalJson } from '../../src/json/tree.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { type NodeHost, startNodeHost } from '../support/node-host.ts'
import { catalogErrors } from '../support/schemas/catalogs.ts'
import { makeSigningKey } from '../support/signing-key.ts'

const origin = 'https://cards.example.com'
const path = '/.well-known/ai-catalog.json'

type Entry = { identifier: string; url: string; trustManifest?: JsonObject }
type Catalog = { host: JsonObject; entries: Entry[]; signature?: string }

/** A host with a key and the agents `own`, `stripped`, whose cards are not signed, and `weather`, which claims weather.example.com. */
const startSigningHost = async (vars: Record<string, string>): Promise<NodeHost> => {
  const host = await startNodeHost({ vars: { SIGNING_KEY: JSON.stringify(makeSigningKey()), ...vars } })
  await host.put('own', { card: { ...minimalCard, name: 'Own' } })
  await host.put('stripped', { card: { ...minimalCard, name: 'Stripped' }, signatures: 'strip' })
  await host.put('weather', { card: { ...minimalCard, name: 'Weather' }, hosts: ['weather.example.com'] })
  return host
}

let host: NodeHost
let anonymous: NodeHost
beforeAll(async () => {
  host = await startSigningHost({ PUBLIC_URL: origin })
  anonymous = await startSigningHost({})
})

const read = async (at = path, from = host) => (await (await from.fetch(at)).json()) as Catalog

const readKeys = async (from = host): Promise<JWK[]> =>
  ((await (await from.fetch('/.well-known/jwks.json')).json()) as { keys: JWK[] }).keys

/** Verifies a catalog as a client does: with the key of the host that the signature names. Returns its protected header. */
const verifyCatalog = async ({ signature = '', ...catalog }: Catalog, keys: readonly JWK[]) => {
  const [header = '', payload, value = ''] = signature.split('.')
  expect(payload).toBe('')
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string }
  const key = keys.find(each => kid.endsWith(`#${each.kid}`))
  const signed = Buffer.from(canonicalJson(catalog as Json)).toString('base64url')
  return flattenedVerify({ protected: header, payload: signed, signature: value }, await importJWK({ ...key }, 'ES256'))
}

describe('the AI Catalog of a host with a key', () => {
  it('is signed as a whole by the DID of the host, to which it is attributed', async () => {
    const [catalog, keys] = [await read(), await readKeys()]
    expect(catalogErrors('AI Catalog', catalog)).toEqual([])
    const { protectedHeader } = await verifyCatalog(catalog, keys)
    // No `jku`: the profile of AI Catalog takes keys from the document of the DID only.
    const did = 'did:web:cards.example.com'
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'ai-catalog+jws', kid: `${did}#${keys[0]?.kid}` })
    expect(catalog.host).toEqual({ displayName: 'cards.example.com', identifier: did })
  })

  it('is signed by the name that an agent claims, at that name', async () => {
    const catalog = await read(`https://weather.example.com${path}`)
    const { protectedHeader } = await verifyCatalog(catalog, await readKeys())
    expect(protectedHeader?.kid).toMatch(/^did:web:weather\.example\.com#/)
  })

  it('has one entity tag, which is weak, because each signature has other bytes', async () => {
    const [first, second] = [await host.fetch(path), await host.fetch(path)]
    expect(await first.text()).not.toBe(await second.text())
    const etag = first.headers.get('ETag') ?? ''
    expect(etag).toMatch(/^W\/"[0-9a-f]{64}"$/)
    expect(second.headers.get('ETag')).toBe(etag)
    for (const known of [etag, `"x", ${etag}`, etag.slice(2)]) {
      const { status } = await host.fetch(path, { headers: { 'If-None-Match': known } })
      expect(status, known).toBe(304)
    }
    expect((await host.fetch(`${path}?limit=1`)).headers.get('ETag')).not.toBe(etag)
  })

  it('has another entity tag with another key', async () => {
    const changed = await startSigningHost({ PUBLIC_URL: origin })
    const before = await changed.fetch(path)
    await changed.deploy({ SIGNING_KEY: JSON.stringify(makeSigningKey()) })
    expect((await changed.fetch(path)).headers.get('ETag')).not.toBe(before.headers.get('ETag'))
  })

  it('is not signed if the key is invalid', async () => {
    const catalog = await read(path, await startNodeHost({ vars: { SIGNING_KEY: '{}', PUBLIC_URL: origin } }))
    expect([catalog.host.identifier, catalog.signature]).toEqual(['cards.example.com', undefined])
  })

  it('is not signed under a name that its client made up', async () => {
    const catalog = await read(`https://made-up.example${path}`, anonymous)
    expect(catalog).not.toHaveProperty('signature')
    const response = await anonymous.fetch(`https://made-up.example${path}`)
    expect(response.headers.get('ETag')).toMatch(/^"[0-9a-f]{64}"$/)
    expect(await response.text()).not.toContain('did:web:made-up.example')
  })

  it('is not signed under a name that only the requests of registrations had', async () => {
    const catalog = await read(path, anonymous)
    expect(catalog.host.identifier).toBe('host.example')
    expect(catalog).not.toHaveProperty('signature')
  })
})

describe('the trust manifest of an entry', () => {
  const trustOf = ({ entries }: Catalog, id: string) =>
    entries.find(({ identifier }) => identifier.endsWith(`:agent:${id}`))?.trustManifest

  it('names the DID of the host, and the signed card, in ARD too, whose manifest has no signature', async () => {
    const uri = `${origin}/agents/own/.well-known/agent-card.json`
    const identifier = 'https://a2a-protocol.org/latest/specification/#84-agent-card-signing'
    const ard = await read('/.well-known/ard.json')
    for (const catalog of [await read(), ard])
      expect(trustOf(catalog, 'own')).toEqual({
        ...{ identity: 'did:web:cards.example.com', identityType: 'did' },
        trustSchema: { identifier, version: '1.0', verificationMethods: ['did'] },
        attestations: [{ type: 'a2a-agent-card-signature', uri }],
      })
    expect(ard).not.toHaveProperty('signature')
    expect(catalogErrors('ARD manifest', ard)).toEqual([])
  })

  it('is there for one entry of ARD, and not for a result of a search', async () => {
    const entry = (await (await host.fetch('/ard/agents/urn:air:cards.example.com:agent:own')).json()) as Entry
    expect(entry.trustManifest?.identity).toBe('did:web:cards.example.com')
    expect(catalogErrors('ARD entry', entry)).toEqual([])
  })

  it('is there only where this host signs the card', async () => {
    const catalog = await read()
    expect(trustOf(catalog, 'stripped')).toBeUndefined()
    expect(catalog.entries.filter(({ trustManifest }) => trustManifest)).toHaveLength(2)
    // Registered under a name that the owner of the host has not decided on.
    expect(trustOf(await read(path, anonymous), 'own')).toBeUndefined()
  })

  it('has the domain of the identifier', async () => {
    const { entries } = await read(`https://weather.example.com${path}`, anonymous)
    const identity = 'did:web:weather.example.com'
    const identifier = 'urn:air:weather.example.com:agent:weather'
    expect(entries).toMatchObject([
      { identifier, trustManifest: { identity } },
      { identifier: 'urn:air:weather.example.com:mcp:weather' },
    ])
  })
})

it('gives a DID to an origin of https with a public name, without a port', () => {
  const origins = ['https://cards.example.com', 'https://xn--bcher-kva.example', 'https://cards.example.com:8443']
  const others = ['http://cards.example.com', 'http://localhost:8787', 'https://agents.localhost', 'https://192.0.2.1']
  expect([...origins, ...others, 'https://[2001:db8::1]', ''].map(didOf)).toEqual([
    ...['did:web:cards.example.com', 'did:web:xn--bcher-kva.example', ...Array(7).fill(undefined)],
  ])
})
