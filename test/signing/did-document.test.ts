import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
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

  it('is for the host of PUBLIC_URL, the host names of agents, or this machine, and for no other host name', async () => {
    const PUBLIC_URL = 'https://cards.example.com'
    for (const [vars, origin, did] of [
      [{ PUBLIC_URL }, 'https://cards.example.com', 'did:web:cards.example.com'],
      [{ PUBLIC_URL }, 'https://did-weather.example.com', 'did:web:did-weather.example.com'],
      [{ PUBLIC_URL: `${PUBLIC_URL}:8443` }, 'https://cards.example.com:8443', 'did:web:cards.example.com%3A8443'],
      [{}, 'http://localhost:8787', 'did:web:localhost%3A8787'],
      // This machine is not a public host.
      [{ PUBLIC_URL }, 'http://localhost:8787'],
      [{ PUBLIC_URL }, 'https://attacker.example'],
      [{}, 'https://attacker.example'],
    ] as [Record<string, string>, string, string?][]) {
      const response = await (await start({ ...secrets, ...vars })).fetch(`${origin}${path}`)
      const { id, code } = (await response.json()) as JsonObject
      const expected = did ? [200, did, undefined] : [404, undefined, 'unknown-host']
      expect([vars, origin, response.status, id, code]).toEqual([vars, origin, ...expected])
    }
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

  it('is 404 without a valid key, as the key set is, and the log does not have the key', async () => {
    const invalid = /"event":"signing-key".*The SIGNING_KEY_2 of this Worker is not a private key/
    const log = vi.spyOn(console, 'error').mockReturnValue()
    for (const [vars, lines] of [
      [{}, []],
      [{ SIGNING_KEY_2: 'my-secret' }, [expect.stringMatching(invalid), expect.stringMatching(invalid)]],
    ] as const) {
      const host = await start({ ...vars, PUBLIC_URL: 'https://cards.example.com' })
      log.mockClear()
      for (const file of ['did.json', 'jwks.json']) {
        const response = await host.fetch(`https://cards.example.com/.well-known/${file}`)
        const detail = 'This host has no key to sign with, so it publishes none.'
        expect(await response.json()).toMatchObject({ status: 404, code: 'no-signing-key', detail })
      }
      expect(log.mock.calls.flat()).toEqual(lines)
      expect(String(log.mock.calls)).not.toContain('my-secret')
    }
  })
})
