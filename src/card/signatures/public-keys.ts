import { type CryptoKey, calculateJwkThumbprint, importJWK, type JWK } from 'jose'
import { isJsonObject, type Json, type JsonObject } from '../../json/index.ts'
import { MAX_RSA_EXPONENT_BITS, MAX_RSA_MODULUS_BITS, MAX_VERIFICATION_KEYS } from '../../limits.ts'

/**
 * A public key by which signatures are verified, and where it is from: a URL, a DID, or what it is a part of, such as
 * `manifest`.
 */
export type PublicKey = { jwk: JsonObject; kid: string; thumbprint: string; from: string }

/** Keys, or why there are none. */
export type KeysResult = { keys: PublicKey[] } | { error: string }

const KEY_TYPES = new Set(['EC', 'OKP', 'RSA'])

/** Checks the purpose of a key (RFC 7517 §4.2 and §4.3). */
const isForSignatures = ({ use, key_ops }: JsonObject): boolean =>
  (use ?? 'sig') === 'sig' && (key_ops === undefined || (Array.isArray(key_ops) && key_ops.includes('verify')))

/** Returns the public keys of a JWK, a list of them or a JWK Set. A key that no signature of a card can be verified with is left out. */
export const readKeys = async (document: Json, from: string): Promise<KeysResult> => {
  const listed = isJsonObject(document) && document.keys !== undefined ? document.keys : document
  const jwks = Array.isArray(listed) ? listed : [listed]
  if (jwks.length > MAX_VERIFICATION_KEYS)
    return { error: `${from} has ${jwks.length} keys; at most ${MAX_VERIFICATION_KEYS} are read` }
  const keys = await Promise.all(jwks.map(jwk => readKey(jwk, from)))
  const usable = keys.filter(key => key !== undefined)
  return usable.length > 0 ? { keys: usable } : { error: `${from} has no public key for signatures` }
}

const readKey = async (jwk: Json, from: string): Promise<PublicKey | undefined> => {
  if (!isJsonObject(jwk) || !KEY_TYPES.has(String(jwk.kty)) || !isForSignatures(jwk)) return undefined
  // Private members and those that could change how a key is imported stay out.
  const { kty, crv, x, y, n, e, alg, exp, nbf } = jwk
  if (kty === 'RSA' && !(isWithin(n, MAX_RSA_MODULUS_BITS) && isWithin(e, MAX_RSA_EXPONENT_BITS))) return undefined
  const members = Object.entries({ kty, crv, x, y, n, e, alg, exp, nbf }).filter(([, value]) => value !== undefined)
  const publicJwk = Object.fromEntries(members) as JsonObject
  try {
    const thumbprint = await calculateJwkThumbprint(publicJwk as JWK)
    const kid = typeof jwk.kid === 'string' ? jwk.kid : thumbprint
    return { jwk: publicJwk, kid, thumbprint, from }
  } catch {
    return undefined
  }
}

/** Whether a number in base64url has at most so many bits. */
const isWithin = (number: Json | undefined, bits: number): boolean =>
  typeof number === 'string' && number.length <= Math.ceil(bits / 6)

/** Imports a key for an algorithm; or returns why it cannot be used now. */
export const importKey = async (
  { jwk }: PublicKey,
  alg: string,
  now: number,
): Promise<{ key: CryptoKey } | { error: string }> => {
  if (jwk.alg !== undefined && jwk.alg !== alg) return { error: `the key is for ${String(jwk.alg)}, not ${alg}` }
  // Members of OpenID Federation (§8.7), in seconds since 1970.
  const { exp, nbf, ...publicJwk } = jwk
  const invalid = Object.entries({ exp, nbf }).find(([, time]) => time !== undefined && !Number.isFinite(time))
  if (invalid) return { error: `the \`${invalid[0]}\` of the key is not a time` }
  if (Number(exp) * 1000 <= now) return { error: 'the key has expired' }
  if (Number(nbf) * 1000 > now) return { error: 'the key is not valid yet' }
  try {
    const key = await importJWK(publicJwk as JWK, alg)
    return key instanceof Uint8Array ? { error: `the key is not one for ${alg}` } : { key }
  } catch {
    return { error: `the key is not one for ${alg}` }
  }
}

/** Returns the keys of a DID document that may make assertions (`assertionMethod`); without that list, all of them. */
export const readDidDocument = async (document: Json, did: string): Promise<KeysResult> => {
  if (!isJsonObject(document) || document.id !== did) return { error: `the document of ${did} is that of another DID` }
  const { verificationMethod, assertionMethod } = document
  const methods = Array.isArray(verificationMethod) ? verificationMethod.filter(isJsonObject) : []
  const named = Array.isArray(assertionMethod) ? assertionMethod : methods
  const jwks = named.flatMap(method => {
    const found = isJsonObject(method) ? method : methods.find(({ id }) => id === method || id === did + String(method))
    if (!isJsonObject(found?.publicKeyJwk)) return []
    const { publicKeyJwk, id } = found
    return [{ ...publicKeyJwk, kid: publicKeyJwk.kid ?? String(id).replace(/^.*#/, '') }]
  })
  return readKeys(jwks, did)
}
