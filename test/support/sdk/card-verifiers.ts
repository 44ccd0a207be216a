import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { verifyAgentCardSignature } from '@a2a-js/sdk'
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client'
import { base64url, type CryptoKey, flattenedVerify, importJWK, type JWK } from 'jose'
import type { RepresentationName } from '../../../src/card/model/constants.ts'
import { isJsonObject, type Json, type JsonObject, jsonEntries, omit } from '../../../src/json/json.ts'
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

/** The fields of a2a.proto that are neither REQUIRED nor `optional` and are no messages, as paths of a card. */
const fieldsWithoutPresence = new RegExp(
  `^/(${[
    'securitySchemes',
    '(skills/\\d+/)?securityRequirements(/\\d+/schemes(/[^/]*/list)?)?',
    'supportedInterfaces/\\d+/tenant',
    'capabilities/extensions(/\\d+/(uri|description|required))?',
    'skills/\\d+/(examples|inputModes|outputModes)',
    'securitySchemes/[^/]*/[^/]*SecurityScheme/description',
    'securitySchemes/[^/]*/httpAuthSecurityScheme/bearerFormat',
    'securitySchemes/[^/]*/oauth2SecurityScheme/oauth2MetadataUrl',
    'securitySchemes/[^/]*/oauth2SecurityScheme/flows/(authorizationCode/pkceRequired|[^/]*/refreshUrl)',
    'securitySchemes/[^/]*/oauth2SecurityScheme/flows/implicit/(authorizationUrl|scopes)',
    'securitySchemes/[^/]*/oauth2SecurityScheme/flows/password/(tokenUrl|scopes)',
  ].join('|')})$`,
)

/** The rule of A2A 1.0 §8.4.1: leaves out fields without presence of their own at their defaults, and nothing else. */
const leaveOutDefaults = (value: Json, path = ''): Json => {
  if (Array.isArray(value)) return value.map((item, index) => leaveOutDefaults(item, `${path}/${index}`))
  if (!isJsonObject(value)) return value
  const pathOf = (name: string): string => `${path}/${name.replaceAll('/', '~1')}`
  return Object.fromEntries(
    jsonEntries(value)
      .filter(
        ([name, member]) =>
          !fieldsWithoutPresence.test(pathOf(name)) || !/^(""|false|\[\]|\{\})$/.test(JSON.stringify(member)),
      )
      .map(([name, member]) => [name, leaveOutDefaults(member, pathOf(name))]),
  )
}

/** A verifier that follows A2A 1.0 §8.4.1 by the letter, with the JSON that it gets. */
const acceptsBySpecification = (card: JsonObject, keys: readonly JWK[]): boolean => {
  const payload = canonicalize(leaveOutDefaults(omit(card, 'signatures')))
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
  {
    name: 'A2A 1.0 §8.4.1',
    documents: ['agent-card.json', 'agent.json', '1.0', '0.3'],
    accepts: acceptsBySpecification,
  },
]
