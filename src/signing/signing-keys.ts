import { calculateJwkThumbprint, FlattenedSign, importJWK } from 'jose'
import * as v from 'valibot'
import { type keyRoles, MAX_TIME_SECONDS, wholeNumber } from '../card/model/index.ts'
import { log, toDidWeb } from '../http/index.ts'
import { canonicalJson, type Json } from '../json/index.ts'
import { keySecrets } from '../variables.ts'

/** A public key as it is published (RFC 7517 §4). Its thumbprint (RFC 7638) names it everywhere. */
type PublishedKey = { kty: 'EC'; crv: 'P-256'; x: string; y: string; kid: string; alg: 'ES256'; use: 'sig' }

type KeySecret = (typeof keySecrets)[number]

/** A key of this host. Times are in ms since 1970; `signsFrom` is 0 for a key that has signed from the beginning. */
export type HostKey = {
  role: (typeof keyRoles)[number]
  secret: KeySecret
  kid: string
  privateKey: CryptoKey
  publicKey: PublishedKey
  signsFrom: number
}

/** The keys of this host by their roles, and their public parts, the one that signs first. */
export type SigningKeys = {
  current: HostKey
  next?: HostKey
  previous?: HostKey
  published: readonly PublishedKey[]
  /** The error in a secret without a valid key; the others are used all the same. */
  problem?: string
}

/** The part of the environment that has keys. */
export type KeyEnv = Pick<Env, KeySecret>

/** Returns the keys in the secrets of this Worker; or what its owner has to do, without any part of a secret. */
export const getSigningKeys = async (
  env: KeyEnv,
  now = Date.now(),
): Promise<SigningKeys | { misconfigured: string }> => {
  const stored = await Promise.all(keySecrets.map(secret => readStoredKey(secret, env[secret])))
  const names = keySecrets.filter((_, index) => stored[index] === 'invalid').join(' and the ')
  const valid = stored.filter(key => key !== undefined && key !== 'invalid')
  const distinct = valid.filter(({ kid }, index) => valid.findIndex(key => key.kid === kid) === index)
  const repeated = valid.filter(key => !distinct.includes(key))
  const problem = [
    ...(names ? [`The ${names} of this Worker is not a private key for ES256 (P-256) as a JWK. ${CREATE_KEY}`] : []),
    ...repeated.map(({ secret }) => `The ${secret} of this Worker is the key of another secret, so it is not used.`),
  ].join(' ')
  const { current, next, previous } = findRoles(distinct, now)
  if (current === undefined) return { misconfigured: problem || `This Worker has no SIGNING_KEY. ${CREATE_KEY}` }
  const keys = { current, ...(next && { next }), ...(previous && { previous }), ...(problem && { problem }) }
  return { ...keys, published: listKeys(keys).map(({ publicKey }) => publicKey) }
}

/** Returns the keys of this host; undefined where it has none. Logs what is wrong with its secrets. */
export const findSigningKeys = async (env: KeyEnv): Promise<SigningKeys | undefined> => {
  const keys = await getSigningKeys(env)
  const problem = 'misconfigured' in keys ? keys.misconfigured : keys.problem
  if (problem !== undefined && keySecrets.some(secret => env[secret]))
    log('error', 'signing-key', { 'calling_card.detail': problem })
  return 'misconfigured' in keys ? undefined : keys
}

const CREATE_KEY = 'Create one: npx sync-card keys create'

type StoredKey = Omit<HostKey, 'role'>

/** Assigns roles: the newest key whose time has come signs, and any other is the next or the previous one. */
const findRoles = (stored: readonly StoredKey[], now: number): { [Role in HostKey['role']]?: HostKey | undefined } => {
  const byTime = stored.toSorted((a, b) => a.signsFrom - b.signsFrom)
  const current = byTime.findLast(({ signsFrom }) => signsFrom <= now) ?? byTime[0]
  if (current === undefined) return {}
  const other = byTime.find(key => key !== current)
  const role = other && other.signsFrom > current.signsFrom ? 'next' : 'previous'
  return { current: { ...current, role: 'current' }, [role]: other && { ...other, role } }
}

/** Lists keys, the one that signs first. */
export const listKeys = ({ current, next, previous }: Omit<SigningKeys, 'published'>): HostKey[] =>
  [current, next, previous].filter(key => key !== undefined)

/** Returns the `did:web` document of a host, such as `127.0.0.1:8787`, with the next key: it may be cached for long. */
export const createDidDocument = (host: string, { published }: Pick<SigningKeys, 'published'>) => {
  const did = toDidWeb(host)
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
    id: did,
    verificationMethod: published.map(publicKeyJwk => ({
      ...{ id: `${did}#${publicKeyJwk.kid}`, type: 'JsonWebKey2020', controller: did, publicKeyJwk },
    })),
    assertionMethod: published.map(({ kid }) => `${did}#${kid}`),
  }
}

/** Names the keys that sign cards: if the name changes, all cards are signed again. '' for a host without keys. */
export const nameSigners = (keys: SigningKeys | { misconfigured: string }): string =>
  'misconfigured' in keys ? '' : [keys.current, keys.previous].map(key => key?.kid ?? '').join(' ')

/** 256 bits in base64url. */
const coordinate = v.pipe(v.string(), v.regex(/^[\w-]{43}$/))
const PrivateJwk = v.object({
  kty: v.literal('EC'),
  crv: v.literal('P-256'),
  x: coordinate,
  y: coordinate,
  d: coordinate,
  alg: v.optional(v.literal('ES256')),
  use: v.optional(v.literal('sig')),
  /** From when on it signs, in seconds since 1970 (OpenID Federation §8.7): an alarm is set for that. */
  nbf: v.optional(wholeNumber(0, MAX_TIME_SECONDS), 0),
})

/** By secret, the key that was read last: importing one takes longer than signing with it. */
const cached = new Map<KeySecret, { text: string; key: Promise<StoredKey | 'invalid'> }>()

const readStoredKey = (secret: KeySecret, text: string | undefined): Promise<StoredKey | 'invalid' | undefined> => {
  if (!text) return Promise.resolve(undefined)
  const known = cached.get(secret)
  if (known?.text === text) return known.key
  const key = readKey(secret, text)
  cached.set(secret, { text, key })
  return key
}

const readKey = async (secret: KeySecret, text: string): Promise<StoredKey | 'invalid'> => {
  // The message of a parser's error would contain a part of the secret.
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), PrivateJwk), text)
  if (!parsed.success) return 'invalid'
  const { x, y, d, nbf } = parsed.output
  const jwk = { kty: 'EC', crv: 'P-256', x, y } as const
  // Fails if the point is not on the curve, or the private part is that of another key.
  const privateKey = await importJWK({ ...jwk, d }, 'ES256').catch(() => undefined)
  if (privateKey === undefined || privateKey instanceof Uint8Array) return 'invalid'
  const kid = await calculateJwkThumbprint(jwk)
  return { secret, kid, privateKey, publicKey: { ...jwk, kid, alg: 'ES256', use: 'sig' }, signsFrom: nbf * 1000 }
}

/**
 * Signs a document in the canonical form of RFC 8785. Returns a compact JWS without its payload (RFC 7515, appendix F).
 * `typ` distinguishes it from all else that the key signs (RFC 8725 §3.11).
 */
export const signDetached = async (
  document: Json,
  header: { typ: string; kid: string; jku?: string },
  { privateKey }: Pick<HostKey, 'privateKey'>,
): Promise<string> => {
  const payload = new TextEncoder().encode(canonicalJson(document))
  const jws = await new FlattenedSign(payload).setProtectedHeader({ alg: 'ES256', ...header }).sign(privateKey)
  return `${jws.protected}..${jws.signature}`
}
