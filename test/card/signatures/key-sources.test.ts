import { describe, expect, it } from 'vitest'
import { resolveKeys } from '../../../src/card/signatures/index.ts'
import { chooseKeys } from '../../../src/card/signatures/key-sources.ts'
import { didDocumentUrl } from '../../../src/http/hosts.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { makeKey } from '../../support/cards/signed.ts'

const { publicJwk: jwk, kid } = await makeKey()
const did = 'did:web:agent.example'
const method = { id: `${did}#main`, type: 'JsonWebKey', controller: did, publicKeyJwk: jwk }

/** Resolves sources against documents by their URLs. */
const resolve = async (documents: Record<string, Json>, ...sources: (string | JsonObject)[]) => {
  const { keys, errors } = await resolveKeys(sources, async url =>
    url in documents ? { document: documents[url] as Json } : { error: 'returned status 404' },
  )
  return { keys: keys.map(({ kid, from }) => `${kid} ${from}`), errors }
}

describe('didDocumentUrl', () => {
  it('maps a DID of the method `web` to the URL of its document (did:web §3.2), and nothing else', () => {
    const urls: Record<string, string | undefined> = {
      'did:web:agent.example': 'https://agent.example/.well-known/did.json',
      'did:web:agent.example%3A8443': 'https://agent.example:8443/.well-known/did.json',
      'did:web:agent.example:agents:weather': 'https://agent.example/agents/weather/did.json',
      'did:key:z6Mk': undefined,
      'did:web:agent.example#main': undefined,
      'did:web:a/b': undefined,
    }
    expect(Object.fromEntries(Object.keys(urls).map(did => [did, didDocumentUrl(did)]))).toEqual(urls)
  })
})

describe('chooseKeys', () => {
  const signedBy = (...jkus: (string | undefined)[]): JsonObject => ({
    signatures: jkus.map(jku => ({
      protected: Buffer.from(JSON.stringify({ alg: 'ES256', kid, jku })).toString('base64url'),
      signature: 'AAAA',
    })),
  })
  const jwks = (name: string) => `https://agent.example/${name}.json`

  it('takes the key sets that the signatures of either document point to', () => {
    const served = { plain: signedBy(jwks('a'), undefined), current: signedBy(jwks('a'), jwks('b')) }
    expect(chooseKeys(served, {})).toEqual({ trust: 'signer', sources: [jwks('a'), jwks('b')], unread: [] })
    expect(chooseKeys({ plain: {}, current: signedBy(jwks('b')) }, { url: jwks('card') })).toEqual({
      trust: 'origin',
      sources: ['https://agent.example/.well-known/jwks.json', jwks('b')],
      unread: [],
    })
    expect(chooseKeys(served, { given: [did] })).toEqual({ trust: 'given', sources: [did], unread: [] })
  })
})

describe('resolveKeys', () => {
  const set = 'https://agent.example/jwks.json'
  const document = 'https://agent.example/.well-known/did.json'

  it('reads a JWK of the manifest, a JWK Set and a DID document', async () => {
    const documents = {
      [set]: { keys: [jwk] },
      [document]: { id: did, verificationMethod: [method], assertionMethod: [method.id] },
    }
    expect(await resolve(documents, jwk, set, did)).toEqual({
      keys: [`${kid} manifest`, `${kid} ${set}`, `${kid} ${did}`],
      errors: [],
    })
  })

  it('has the keys of the other sources if one cannot be read, and the reason', async () => {
    expect(await resolve({}, jwk, set)).toEqual({ keys: [`${kid} manifest`], errors: [`${set} returned status 404`] })
  })

  it('takes the keys of a DID document that may make assertions', async () => {
    const { kid: _, ...unnamed } = jwk
    const rows: [JsonObject, string[]][] = [
      [{ assertionMethod: [method] }, [kid]],
      // A relative id; no list of assertion methods; other purposes only.
      [{ verificationMethod: [method], assertionMethod: ['#main'] }, [kid]],
      [{ verificationMethod: [method] }, [kid]],
      [{ verificationMethod: [method], assertionMethod: [], authentication: [method.id] }, []],
      // A key without a `kid` has the fragment of its id.
      [{ verificationMethod: [{ ...method, publicKeyJwk: unnamed as JsonObject }] }, ['main']],
    ]
    for (const [members, kids] of rows) {
      const { keys } = await resolve({ [document]: { id: did, ...members } }, did)
      expect([members, keys]).toEqual([members, kids.map(kid => `${kid} ${did}`)])
    }
  })

  it('rejects the document of another DID', async () => {
    expect(await resolve({ [document]: { id: 'did:web:other.example', verificationMethod: [method] } }, did)).toEqual({
      keys: [],
      errors: [`the document of ${did} is that of another DID`],
    })
  })

  it('reads no RSA key with a modulus or an exponent that takes long to verify with', async () => {
    const rsa = { kty: 'RSA', n: 'A'.repeat(683), e: 'AQAB', kid: 'rsa' }
    expect(await resolve({}, rsa)).toEqual({ keys: ['rsa manifest'], errors: [] })
    for (const members of [{ n: 'A'.repeat(684) }, { e: 'A'.repeat(7) }])
      expect((await resolve({}, { ...rsa, ...members })).errors).toEqual(['manifest has no public key for signatures'])
  })
})
