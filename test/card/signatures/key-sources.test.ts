import { describe, expect, it } from 'vitest'
import { resolveKeys } from '../../../src/card/signatures/index.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { didDocumentUrl } from '../../../src/net/did-web.ts'
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
  it.each([
    ['did:web:agent.example', 'https://agent.example/.well-known/did.json'],
    ['did:web:agent.example%3A8443', 'https://agent.example:8443/.well-known/did.json'],
    ['did:web:agent.example:agents:weather', 'https://agent.example/agents/weather/did.json'],
  ])('maps %s to %s (did:web §3.2)', (did, url) => {
    expect(didDocumentUrl(did)).toBe(url)
  })

  it.each([
    'did:key:z6Mk',
    'did:web:',
    'did:web:agent.example#main',
    'https://agent.example',
    'did:web:a/b',
    'did:web:user@a.example',
  ])('maps %s to no URL', text => {
    expect(didDocumentUrl(text)).toBeUndefined()
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

  it.each<[string, JsonObject, string[]]>([
    ['in the list of assertion methods', { assertionMethod: [method] }, [kid]],
    ['that the list names by a relative id', { verificationMethod: [method], assertionMethod: ['#main'] }, [kid]],
    ['where there is no such list', { verificationMethod: [method] }, [kid]],
    ['not for other purposes', { verificationMethod: [method], assertionMethod: [], authentication: [method.id] }, []],
    [
      'by the fragment of its id, if it has no `kid`',
      {
        verificationMethod: [
          { ...method, publicKeyJwk: { kty: 'EC', crv: 'P-256', x: jwk.x as Json, y: jwk.y as Json } },
        ],
      },
      ['main'],
    ],
  ])('takes a key of a DID document %s', async (_, members, kids) => {
    const { keys } = await resolve({ [document]: { id: did, ...members } }, did)
    expect(keys).toEqual(kids.map(kid => `${kid} ${did}`))
  })

  it('rejects the document of another DID', async () => {
    expect(await resolve({ [document]: { id: 'did:web:other.example', verificationMethod: [method] } }, did)).toEqual({
      keys: [],
      errors: [`the document of ${did} is that of another DID`],
    })
  })

  it.each([
    ['modulus', { n: 'A'.repeat(684), e: 'AQAB' }],
    ['exponent', { n: 'A'.repeat(683), e: 'A'.repeat(7) }],
  ])('reads no RSA key with a %s that takes long to verify with', async (_, members) => {
    expect(await resolve({}, { kty: 'RSA', n: 'A'.repeat(683), e: 'AQAB', kid: 'rsa' })).toEqual({
      keys: ['rsa manifest'],
      errors: [],
    })
    expect(await resolve({}, { kty: 'RSA', ...members })).toEqual({
      keys: [],
      errors: ['manifest has no public key for signatures'],
    })
  })
})
