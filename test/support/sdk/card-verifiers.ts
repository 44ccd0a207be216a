import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { verifyAgentCardSignature } from '@a2a-js/sdk'
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client'
import { base64url, type CryptoKey, flattenedVerify, importJWK, type JWK } from 'jose'
import type { RepresentationName } from '../../../src/card/model/constants.ts'
import { type JsonObject, omit } from '../../../src/json/json.ts'
import { canonicalize, pythonPayload } from './python-signing.ts'

type Signature = { protected: string; signature: string }

/** How a client verifies a card that it gets: with the official SDK, or by its rule, restated from its source. */
export type CardVerifier = {
  name: string
  /** The documents that the client may get. */
  documents: readonly RepresentationName[]
  /** Whether the client accepts a card with these public keys. */
  accepts: (card: JsonObject, keys: readonly JWK[]) => boolean | Promise<boolean>
}

const listSignatures = ({ signatures }: JsonObject): Signature[] => signatures as Signature[]

const decodeHeader = (signature: Signature): { alg?: string; kid?: string } =>
  JSON.parse(Buffer.from(signature.protected, 'base64url').toString())

const importKey = (keys: readonly JWK[], kid: string | undefined): Promise<CryptoKey> => {
  const key = keys.find(key => key.kid === kid)
  if (key === undefined) throw new Error('unknown key')
  return importOnce(key)
}

const imported = new Map<JWK, Promise<CryptoKey>>()
const importOnce = (key: JWK): Promise<CryptoKey> => {
  const promise = imported.get(key) ?? (importJWK(key, 'ES256') as Promise<CryptoKey>)
  imported.set(key, promise)
  return promise
}

const created = new Map<JWK, KeyObject>()
const createOnce = (key: JWK): KeyObject => {
  const object = created.get(key) ?? createPublicKey({ key: { ...key }, format: 'jwk' })
  created.set(key, object)
  return object
}

/** Verifies ES256 with the crypto of Node.js. */
const verifyBytes = (key: JWK, { protected: header, signature }: Signature, payload: string): boolean =>
  verify(
    'sha256',
    Buffer.from(`${header}.${base64url.encode(payload)}`),
    { key: createOnce(key), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )

const acceptsAnyWithJose = async (card: JsonObject, keys: readonly JWK[]): Promise<boolean> => {
  const payload = base64url.encode(canonicalize(omit(card, 'signatures')))
  for (const { protected: header, signature } of listSignatures(card)) {
    const verified = flattenedVerify({ protected: header, signature, payload }, ({ kid }) => importKey(keys, kid))
    const isValid = await verified.then(
      () => true,
      () => false,
    )
    if (isValid) return true
  }
  return false
}

const acceptsWithSdk = (card: JsonObject, keys: readonly JWK[]): Promise<boolean> =>
  verifyAgentCardSignature(kid => importKey(keys, kid))(card as never).then(
    () => true,
    () => false,
  )

const acceptsThroughResolver = async (card: JsonObject, keys: readonly JWK[]): Promise<boolean> => {
  const resolver = new DefaultAgentCardResolver({ fetchImpl: () => Promise.resolve(Response.json(card)) })
  return acceptsWithSdk((await resolver.resolve('https://agent.example')) as never, keys)
}

/** The loop of `create_signature_verifier`: a key provider that raises for an unknown key ends it. */
const acceptsAsPython = (version: '1.1' | '1.2') => (card: JsonObject, keys: readonly JWK[]) => {
  const payload = attempt(() => pythonPayload(card, version))
  if (payload === undefined) return false
  for (const signature of listSignatures(card)) {
    const { alg, kid } = decodeHeader(signature)
    const key = keys.find(key => key.kid === kid)
    if (key === undefined) return false
    if (alg === 'ES256' && verifyBytes(key, signature, payload)) return true
  }
  return false
}

const attempt = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** a2a-go's `a2acrypto`: any of the signatures, over the card as it is served, with `alg` and `kid` in the protected header. */
const acceptsAsGo = (card: JsonObject, keys: readonly JWK[]): boolean => {
  const payload = canonicalize(omit(card, 'signatures'))
  return listSignatures(card).some(signature => {
    const { alg, kid } = decodeHeader(signature)
    const key = keys.find(key => key.kid === kid)
    return alg === 'ES256' && key !== undefined && verifyBytes(key, signature, payload)
  })
}

/** The clients that verify cards. */
export const cardVerifiers: readonly CardVerifier[] = [
  {
    name: 'jose over the card as it is served',
    documents: ['agent-card.json', 'agent.json', '1.0', '0.3'],
    accepts: acceptsAnyWithJose,
  },
  { name: 'a2a-js 1.3 on the JSON', documents: ['agent-card.json', 'agent.json', '1.0'], accepts: acceptsWithSdk },
  { name: 'a2a-js 1.3 through its resolver', documents: ['1.0'], accepts: acceptsThroughResolver },
  { name: 'a2a-python from 1.2 on', documents: ['agent-card.json', '1.0', '0.3'], accepts: acceptsAsPython('1.2') },
  { name: 'a2a-python up to 1.1', documents: ['agent-card.json', '1.0', '0.3'], accepts: acceptsAsPython('1.1') },
  { name: 'a2a-go', documents: ['agent-card.json', 'agent.json', '1.0', '0.3'], accepts: acceptsAsGo },
]
