import { createLocalJWKSet, type JSONWebKeySet } from 'jose'
import { fetchText } from '../http/guarded-text.ts'
import { isJsonType } from '../http/json-type.ts'
import { log } from '../http/log.ts'
import { isJsonObject, type JsonObject } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import { type Issuer, IssuerCache } from './oidc-issuers.ts'

const issuers = new IssuerCache(2 * 1024 * 1024)
const asking = {
  headers: { Accept: 'application/json' },
  accepts: isJsonType,
  maxBytes: 128 * 1024,
  seconds: 4,
  redirects: 0,
}
const wellKnown = '/.well-known/openid-configuration'

/** What this file needs of the Worker's environment. */
export type IssuerEnv = Pick<Env, 'ALLOWED_ORIGINS'>

/**
 * Whether an issuer is the one that a discovery document speaks for (OpenID Connect Discovery §4.3): known from the two
 * names alone, so that no stranger's token makes this host ask anybody.
 */
export const isDiscoveryUrlOf = (discoveryUrl: string, issuer: string): boolean =>
  discoveryUrl === issuer.replace(/\/$/, '') + wellKnown

/** The issuer behind a discovery document, from memory where that is fresh; undefined where it cannot be read. */
export const getIssuer = (url: string, env: IssuerEnv, ctx: ExecutionContext): Promise<Issuer | undefined> =>
  issuers.get(url, () => discover(url, env), ctx)

/** The same, read anew for a key that it did not have: not more than twice a minute. */
export const refreshIssuer = (url: string, env: IssuerEnv, ctx: ExecutionContext): Promise<Issuer | undefined> =>
  issuers.again(url, () => discover(url, env), ctx)

const discover = async (url: string, env: IssuerEnv): Promise<Issuer | undefined> => {
  const document = await fetchObject(url, env)
  if (document === undefined) return undefined
  const { issuer, jwks_uri: keysUrl } = document
  if (typeof issuer !== 'string' || typeof keysUrl !== 'string' || !isDiscoveryUrlOf(url, issuer))
    return unread(url, 'its discovery document names another issuer, or no keys')
  const keys = await fetchObject(keysUrl, env)
  if (keys === undefined) return undefined
  if (!isKeySet(keys)) return unread(keysUrl, 'it is no JSON Web Key Set')
  return { issuer, keyFor: createLocalJWKSet(keys), size: 4 * JSON.stringify(keys).length }
}

const isKeySet = (value: JsonObject): value is JsonObject & JSONWebKeySet =>
  Array.isArray(value.keys) && value.keys.every(key => isJsonObject(key) && typeof key.kty === 'string')

const fetchObject = async (url: string, { ALLOWED_ORIGINS: allowedOrigins }: IssuerEnv) => {
  const answer = await fetchText(url, { ...asking, allowedOrigins })
  if ('failed' in answer) return unread(url, `${answer.failed}: ${answer.detail}`)
  const parsed = parseJson(answer.content, 'a JSON document')
  if ('refused' in parsed) return unread(url, `${parsed.refused}: ${parsed.detail}`)
  return isJsonObject(parsed.value) ? parsed.value : unread(url, 'it is no JSON object')
}

const unread = (url: string, why: string): undefined => {
  log('error', 'issuer-unread', { url, why })
  return undefined
}
