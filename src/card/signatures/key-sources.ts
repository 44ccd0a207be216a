import { type CryptoKey, calculateJwkThumbprint, importJWK, type JWK } from 'jose'
import { didDocumentUrl, parseUrl } from '../../http/shared.ts'
import { isJsonObject, type Json, type JsonObject } from '../../json/index.ts'
import {
  MAX_RSA_EXPONENT_BITS,
  MAX_RSA_MODULUS_BITS,
  MAX_SIGNER_KEY_SETS,
  MAX_VERIFICATION_KEYS,
} from '../../limits.ts'
import { listSignatures, readHeader } from './header.ts'
import type { FetchJson, ServedCards } from './served-cards.ts'

/** The source of a verifier's keys: a JWK, the URL of a JWK Set, or a DID of the method `web`. */
export type KeySource = JsonObject | string

/** The path of the keys of a host (RFC 7517). */
export const KEY_SET_PATH = '/.well-known/jwks.json'

/**
 * Names who decided which keys count: the verifier (`given`), the server of the card (`origin`), or the signer of the
 * card (`signer`). The last proves nothing: anybody can sign a card with their own key, and name the place of that key.
 */
export type Trust = 'given' | 'origin' | 'signer'

/** The keys that the verifier named, if any, and the address of the card, if it has one, before and after redirects. */
type KeyChoice = {
  given?: readonly KeySource[] | undefined
  url?: string | undefined
  redirectedTo?: string | undefined
}

/** The sources of the keys that a card is verified with, and the key sets that are not read, with the reason. */
type ChosenKeys = { trust: Trust; sources: KeySource[]; unread: string[] }

/**
 * Chooses the keys that a card is verified with: those that are given, else those of the origin that its address `url`
 * names: its well-known key set, and others there that signatures point to. Without an origin, all https addresses that
 * they point to. No key is taken from another origin that the card was `redirectedTo`: a server that redirects to any
 * address would vouch for anybody's card.
 */
export const chooseKeys = (served: ServedCards, { given, url, redirectedTo = url }: KeyChoice): ChosenKeys => {
  if (given !== undefined) return { trust: 'given', sources: [...given], unread: [] }
  const [origin, lastOrigin] = [url, redirectedTo].map(each => parseUrl(each ?? '')?.origin)
  const named = new Set([served.plain, served.current ?? []].flat().flatMap(listKeySetUrls))
  if (lastOrigin !== origin) named.add(lastOrigin + KEY_SET_PATH)
  const reject = (jku: string): string | undefined => {
    const target = parseUrl(jku)
    if (origin === undefined) return target?.protocol === 'https:' ? undefined : 'it is not https'
    if (target?.origin === origin) return undefined
    return target?.origin === lastOrigin
      ? 'the card is redirected to this origin. To trust its keys, name the address there'
      : 'it is not on the origin of the card'
  }
  const wellKnown = origin === undefined ? [] : [origin + KEY_SET_PATH]
  const sources = [...new Set([...wellKnown, ...[...named].filter(jku => reject(jku) === undefined)])]
  const rejected = [...named].map(jku => [jku, reject(jku)]).filter(([, reason]) => reason !== undefined)
  return {
    trust: origin === undefined ? 'signer' : 'origin',
    sources: sources.slice(0, MAX_SIGNER_KEY_SETS),
    unread: [
      ...sources.slice(MAX_SIGNER_KEY_SETS).map(jku => `${jku} is not read: signatures point to too many key sets`),
      ...rejected.map(([jku, reason]) => `${jku} is not read: ${reason}`),
    ],
  }
}

/** Returns the `jku` of each signature of a card that has one. */
export const listKeySetUrls = (card: JsonObject): string[] =>
  listSignatures(card).flatMap(signature => {
    const read = readHeader(signature)
    return 'header' in read && read.header.jku !== undefined ? [read.header.jku] : []
  })

/** Reads the keys of each source; or why it could not. `owner` is where a JWK among the sources is from. */
export const resolveKeys = async (sources: readonly KeySource[], fetchJson: FetchJson, owner = 'manifest') => {
  const results = await Promise.all(sources.map(source => resolveSource(source, fetchJson, owner)))
  return {
    keys: results.flatMap(result => ('keys' in result ? result.keys : [])),
    errors: results.flatMap(result => ('error' in result ? [result.error] : [])),
  }
}

const resolveSource = async (source: KeySource, fetchJson: FetchJson, owner: string): Promise<KeysResult> => {
  if (typeof source !== 'string') return readKeys(source, owner)
  const didUrl = didDocumentUrl(source)
  const fetched = await fetchJson(didUrl ?? source)
  if ('error' in fetched) return { error: `${source} ${fetched.error}` }
  return didUrl === undefined ? readKeys(fetched.document, source) : readDidDocument(fetched.document, source)
}

/** A public key, and where it is from: a URL, a DID, or what it is a part of, such as `manifest`. */
export type PublicKey = { jwk: JsonObject; kid: string; thumbprint: string; from: string }

type KeysResult = { keys: PublicKey[] } | { error: string }

/** Returns the public keys of a JWK, a list of them or a JWK Set, without those that verify no signature of a card. */
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
  if (!isJsonObject(jwk) || !isForSignatures(jwk)) return undefined
  // Private members and those that could change how a key is imported stay out.
  const { kty, crv, x, y, n, e, alg, exp, nbf } = jwk
  if (kty !== 'EC' && kty !== 'OKP' && kty !== 'RSA') return undefined
  if (kty === 'RSA' && !(isWithin(n, MAX_RSA_MODULUS_BITS) && isWithin(e, MAX_RSA_EXPONENT_BITS))) return undefined
  const members = Object.entries({ kty, crv, x, y, n, e, alg, exp, nbf }).filter(([, value]) => value !== undefined)
  const publicJwk: JsonObject = Object.fromEntries(members)
  try {
    const thumbprint = await calculateJwkThumbprint(publicJwk as JWK)
    return { jwk: publicJwk, kid: typeof jwk.kid === 'string' ? jwk.kid : thumbprint, thumbprint, from }
  } catch {
    return undefined
  }
}

/** Checks the purpose of a key (RFC 7517 §4.2 and §4.3). */
const isForSignatures = ({ use, key_ops }: JsonObject): boolean =>
  (use ?? 'sig') === 'sig' && (key_ops === undefined || (Array.isArray(key_ops) && key_ops.includes('verify')))

/** Checks that a number in base64url has at most so many bits. */
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
  const key = await importJWK(publicJwk as JWK, alg).catch(() => undefined)
  return key === undefined || key instanceof Uint8Array ? { error: `the key is not one for ${alg}` } : { key }
}

/** Returns the keys of a DID document that may make assertions (`assertionMethod`); without that list, all of them. */
const readDidDocument = async (document: Json, did: string): Promise<KeysResult> => {
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
