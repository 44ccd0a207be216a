import { beforeAll, describe, expect, it, vi } from 'vitest'
import { resolveKeys } from '../../src/card/signatures/index.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { type NodeHost, startNodeHost } from '../support/node-host.ts'
import { makeSigningKey } from '../support/signing-key.ts'

const secretOf = (nbf?: number): string => JSON.stringify({ ...makeSigningKey(), ...(nbf !== undefined && { nbf }) })
const secrets = { SIGNING_KEY: secretOf(), SIGNING_KEY_2: secretOf(4_000_000_000) }
const path = '/.well-known/did.json'

type KeySet = { keys: { kid: string }[] }
type DidDocument = { id: string; verificationMethod: JsonObject[]; assertionMethod: string[] }

const start = async (vars: Record<string, string>): Promise<NodeHost> => {
  const host = await startNodeHost({ vars })
  await host.put('did-weather', { card: minimalCard, hosts: ['did-weather.example.com'] })
  return host
}

let host: NodeHost
beforeAll(async () => {
  host = await start({ ...secrets, PUBLIC_URL: 'https://cards.example.com' })
})

describe('GET /.well-known/did.json', () => {
  it('has the keys of the key set, the next one included', async () => {
    const document = (await (await host.fetch(`https://cards.example.com${path}`)).json()) as DidDocument
    const { keys } = (await (await host.fetch('/.well-known/jwks.json')).json()) as KeySet
    const did = 'did:web:cards.example.com'
    expect(document).toEqual({
      '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
      id: did,
      verificationMethod: keys.map(key => ({
        ...{ id: `${did}#${key.kid}`, type: 'JsonWebKey2020', controller: did, publicKeyJwk: key },
      })),
      assertionMethod: keys.map(({ kid }) => `${did}#${kid}`),
    })
    expect(keys).toHaveLength(2)
    for (const secret of Object.values(secrets)) expect(JSON.stringify(document)).not.toContain(JSON.parse(secret).d)
  })

  it.each<[string, Record<string, string>, string, string | number]>([
    [
      'the host of PUBLIC_URL',
      { PUBLIC_URL: 'https://cards.example.com' },
      'https://cards.example.com',
      'cards.example.com',
    ],
    [
      'a host name of an agent',
      { PUBLIC_URL: 'https://cards.example.com' },
      'https://did-weather.example.com',
      'did-weather.example.com',
    ],
    [
      'a port',
      { PUBLIC_URL: 'https://cards.example.com:8443' },
      'https://cards.example.com:8443',
      'cards.example.com%3A8443',
    ],
    ['this machine', {}, 'http://localhost:8787', 'localhost%3A8787'],
    ['this machine, for a public host', { PUBLIC_URL: 'https://cards.example.com' }, 'http://localhost:8787', 404],
    ['any other host name', { PUBLIC_URL: 'https://cards.example.com' }, 'https://attacker.example', 404],
    ['any host name of a host that has none', {}, 'https://attacker.example', 404],
  ])('is for %s', async (_, vars, origin, expected) => {
    const host = await start({ ...secrets, ...vars })
    const response = await host.fetch(`${origin}${path}`)
    const { id, code } = (await response.json()) as JsonObject
    expect([response.status, id, code]).toEqual(
      typeof expected === 'number' ? [404, undefined, 'unknown-host'] : [200, `did:web:${expected}`, undefined],
    )
  })

  it('is read by our own verifier', async () => {
    const did = 'did:web:did-weather.example.com'
    const fetched: string[] = []
    const resolved = await resolveKeys([did], async url => {
      fetched.push(url)
      return { document: (await (await host.fetch(url)).json()) as Json }
    })
    const { keys } = (await (await host.fetch('/.well-known/jwks.json')).json()) as KeySet
    expect(fetched).toEqual([`https://did-weather.example.com${path}`])
    expect(resolved.errors).toEqual([])
    expect(resolved.keys.map(({ kid, thumbprint, from }) => [kid, thumbprint, from])).toEqual(
      keys.slice(0, 2).map(({ kid }) => [kid, kid, did]),
    )
  })

  it('may be cached for as long as the key set, and is revalidated', async () => {
    const { status, headers } = await host.fetch(`https://cards.example.com${path}`)
    expect([status, headers.get('Cache-Control'), headers.get('Content-Type')]).toEqual([
      200,
      'public, max-age=300',
      'application/did+json',
    ])
    const etag = headers.get('ETag') ?? ''
    const again = await host.fetch(`https://cards.example.com${path}`, { headers: { 'If-None-Match': etag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })

  it.each<[string, Record<string, string>, unknown[]]>([
    ['without a key', {}, []],
    [
      'with an invalid key, whose log does not have it',
      { SIGNING_KEY_2: 'my-secret' },
      [expect.stringMatching(/"event":"signing-key".*The SIGNING_KEY_2 of this Worker is not a private key/)],
    ],
  ])('is 404 at a host %s, as the key set is', async (_, vars, logged) => {
    const log = vi.spyOn(console, 'error').mockReturnValue()
    const host = await start({ ...vars, PUBLIC_URL: 'https://cards.example.com' })
    log.mockClear()
    for (const file of ['did.json', 'jwks.json']) {
      const response = await host.fetch(`https://cards.example.com/.well-known/${file}`)
      expect([response.status, await response.json()]).toMatchObject([404, { code: 'no-signing-key' }])
    }
    expect(log.mock.calls.flat()).toEqual(logged.flatMap(line => [line, line]))
    expect(String(log.mock.calls)).not.toContain('my-secret')
  })
})
