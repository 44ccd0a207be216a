import * as v from 'valibot'
import { didDocumentUrl } from '../../http/shared.ts'
import { isJsonObject, type JsonObject } from '../../json/index.ts'
import { MAX_UPSTREAM_KEYS } from '../../limits.ts'
import { httpUrl, jsonObject, looseObject } from '../model/index.ts'

/** What happens to a fetched card that is not verified. */
export const verifyPolicies = ['off', 'warn', 'require'] as const

/** A public key as a JWK, the URL of a JWK Set, or a DID. */
type KeySource = JsonObject | string

/** The keys that may sign the card of an agent; or the first card decides. */
export type TrustedKeys = readonly KeySource[] | 'first-use'

/** Whether a text is a DID. */
export const isDid = (text: string): boolean => text.startsWith('did:')

const absent = (message: string) => v.optional(v.never(message))
const member = (name: string) => v.pipe(v.string(), v.regex(/^[\w-]+$/, `must be \`${name}\` in base64url`))
const privateMember = absent(
  'is private: anybody who reads this manifest could sign cards with the key. Replace the key, and name the public part of the new one',
)

/** The members of a JWK that are private, of all types of keys (RFC 7518 §6). */
export const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const

const time = v.optional(v.pipe(v.number('must be in seconds since 1970'), v.finite('must be in seconds since 1970')))

/** What every JWK may have. */
const common = {
  ...{ kid: v.optional(v.string()), alg: v.optional(v.string()) },
  use: v.optional(v.literal('sig', 'must be sig: the key is for signatures')),
  key_ops: v.optional(
    v.pipe(v.array(v.string()), v.includes('verify', 'must include `verify`: the key is for signatures')),
  ),
  ...{ exp: time, nbf: time },
  ...Object.fromEntries(privateMembers.map(name => [name, privateMember])),
}

/** A public key for signatures (RFC 7517). */
const PublicJwk = v.lazy(value => {
  switch (isJsonObject(value) ? value.kty : undefined) {
    case 'EC':
      return looseObject({
        ...common,
        kty: v.literal('EC'),
        crv: v.picklist(['P-256', 'P-384', 'P-521'], 'must be P-256, P-384 or P-521'),
        x: member('x'),
        y: member('y'),
      })
    case 'OKP':
      return looseObject({
        ...common,
        kty: v.literal('OKP'),
        crv: v.literal('Ed25519', 'must be Ed25519'),
        x: member('x'),
      })
    case 'RSA':
      return looseObject({ ...common, kty: v.literal('RSA'), n: member('n'), e: member('e') })
    default:
      return v.pipe(
        jsonObject(),
        v.check(() => false, 'must be a public JWK whose `kty` is EC, OKP or RSA'),
      )
  }
})

const didWeb = v.pipe(
  v.string(),
  v.check(
    did => didDocumentUrl(did) !== undefined,
    'must be a DID of the method web, such as did:web:agents.example.com',
  ),
)

const noSource = (message: string) =>
  v.pipe(
    v.string(KEY_SOURCES),
    v.check(() => false, message),
  )

const KEY_SOURCES = 'must be a public JWK, the URL of a JWK Set, a DID of the method web, or first-use'

const keySource = v.lazy((value): v.GenericSchema<unknown, KeySource> => {
  if (isJsonObject(value)) return PublicJwk as v.GenericSchema<unknown, JsonObject>
  if (value === 'first-use') return noSource('must be the only one: first-use is no part of a list')
  if (typeof value !== 'string' || !value.includes(':')) return noSource(KEY_SOURCES)
  return isDid(value) ? didWeb : httpUrl
})

/** `upstream.keys`: one or several sources of keys, or `first-use`. */
export const UpstreamKeys = v.lazy((value): v.GenericSchema<unknown, TrustedKeys> => {
  if (value === 'first-use') return v.literal('first-use')
  const list = v.pipe(
    v.array(keySource),
    v.minLength(1, 'must have at least one key'),
    v.maxLength(MAX_UPSTREAM_KEYS, `must have at most ${MAX_UPSTREAM_KEYS} keys`),
  )
  return Array.isArray(value)
    ? list
    : v.pipe(
        keySource,
        v.transform(source => [source]),
      )
})
