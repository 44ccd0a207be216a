import { calculateJwkThumbprint, importJWK, type JWK } from 'jose'
import * as v from 'valibot'

/** A public key as it is published (RFC 7517 §4). */
export type PublicKey = {
  kty: 'EC'
  crv: 'P-256'
  x: string
  y: string
  /** The thumbprint of RFC 7638, so that one key has one name everywhere. */
  kid: string
  alg: 'ES256'
  use: 'sig'
}

/** The keys of this host. */
export type SigningKeys = {
  /** Signs everything; its public key is the first of those that are published. */
  privateKey: CryptoKey
  kid: string
  published: readonly PublicKey[]
}

/** 256 bits in base64url. */
const coordinate = v.pipe(v.string(), v.regex(/^[\w-]{43}$/))
const publicMembers = {
  kty: v.literal('EC'),
  crv: v.literal('P-256'),
  x: coordinate,
  y: coordinate,
  alg: v.optional(v.literal('ES256')),
  use: v.optional(v.literal('sig')),
}
const PrivateJwk = v.object({ ...publicMembers, d: coordinate })

/** One private key; or a JWK Set whose first key signs, and whose other keys, private or not, are only published. */
const SigningKey = v.union([
  v.pipe(
    PrivateJwk,
    v.transform(key => ({ signing: key, others: [] })),
  ),
  v.pipe(
    v.object({ keys: v.tupleWithRest([PrivateJwk], v.object(publicMembers)) }),
    v.transform(({ keys: [signing, ...others] }) => ({ signing, others })),
  ),
])

let cached: { text: string; keys: SigningKeys | undefined } | undefined

/** Returns the keys in the secret `SIGNING_KEY`; or what its owner has to do. No message contains any part of the secret. */
export const getSigningKeys = async ({
  SIGNING_KEY: text,
}: Pick<Env, 'SIGNING_KEY'>): Promise<SigningKeys | { misconfigured: string }> => {
  if (!text) return { misconfigured: `This Worker has no SIGNING_KEY. ${CREATE_KEY}` }
  if (cached?.text !== text) cached = { text, keys: await readKeys(text) }
  return cached.keys ?? { misconfigured: `${INVALID_KEY} ${CREATE_KEY}` }
}

const CREATE_KEY = 'Create one: npx sync-card keys create'
const INVALID_KEY =
  'The SIGNING_KEY of this Worker is not a private key for ES256 (P-256) as a JWK, or a JWK Set that begins with one.'

const readKeys = async (text: string): Promise<SigningKeys | undefined> => {
  const parsed = v.safeParse(SigningKey, parseOrUndefined(text))
  if (!parsed.success) return undefined
  const { signing, others } = parsed.output
  const { x, y, d } = signing
  const first = await toPublicKey(signing)
  const rest = await Promise.all(others.map(toPublicKey))
  const privateKey = await importKey({ kty: 'EC', crv: 'P-256', x, y, d })
  const imported = await Promise.all(rest.map(importKey))
  if (privateKey === undefined || imported.includes(undefined)) return undefined
  const published = [...new Map([first, ...rest].map(key => [key.kid, key])).values()]
  return { privateKey, kid: first.kid, published }
}

const toPublicKey = async ({ x, y }: { x: string; y: string }): Promise<PublicKey> => {
  const jwk = { kty: 'EC', crv: 'P-256', x, y } as const
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: 'ES256', use: 'sig' }
}

const parseOrUndefined = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // The message of the error would contain a part of the secret.
    return undefined
  }
}

/** Imports a key; undefined if its point is not on the curve, or its private part is that of another key. */
const importKey = async (jwk: JWK): Promise<CryptoKey | undefined> => {
  try {
    const key = await importJWK(jwk, 'ES256')
    return key instanceof Uint8Array ? undefined : key
  } catch {
    return undefined
  }
}
