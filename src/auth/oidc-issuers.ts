import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { fetchText } from '../http/fetch-resource.ts'
import { log } from '../http/log.ts'
import { isJsonType } from '../http/media-type.ts'
import { isJsonObject, type JsonObject } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import { ClockCache } from '../registry/edge/clock-cache.ts'

/** An OpenID Connect issuer by its own name, with a finder for its keys; `size` in bytes. */
export type Issuer = { issuer: string; keyFor: JWTVerifyGetKey; size: number }

/** Reads an issuer; undefined where that fails. */
type Read = () => Promise<Issuer | undefined>

/** `read`: when the issuer was last read; `tried`: when a read last began, whatever came of it. In ms since 1970. */
type Known = { issuer: Issuer | undefined; read: number; tried: number; reading: boolean; size: number }

/** How long keys are taken from memory; and how long while the issuer cannot be read. In ms. */
const fresh = 10 * 60_000
const stale = 60 * 60_000
/** What comes between two reads of one issuer, however many tokens name keys that nobody has heard of. In ms. */
const cooldown = 30_000
/** A read that takes longer may never end, and others must not wait for it. In ms. */
const patience = 10_000
/** How long who waits for another's read may look away. In ms. */
const longestPause = 64
/** What an entry takes besides its keys. */
const entryOverhead = 300

/**
 * The issuers that one isolate knows, by the addresses of their discovery documents. One request reads for all; but the
 * runtime forbids any to wait for another's I/O, so the others look again until it is done.
 */
class IssuerCache {
  readonly #issuers: ClockCache<Known>

  /** `most` bytes of keys, all issuers together. */
  constructor(most: number) {
    this.#issuers = new ClockCache(most)
  }

  /** An issuer with its keys; undefined where it cannot be read, nor could be lately. */
  async get(url: string, read: Read, ctx: ExecutionContext): Promise<Issuer | undefined> {
    const known = this.#issuers.get(url)
    if (known?.issuer && Date.now() - known.read < fresh) return known.issuer
    const usable = this.#usable(url)
    // Nobody waits for another's read who has keys at hand.
    if (usable && this.#isReading(known)) return usable
    await this.#renew(url, read, ctx)
    return this.#usable(url)
  }

  /** The issuer read anew, for a key that it had not: the same where it was read a moment ago; undefined where it cannot be read. */
  async again(url: string, read: Read, ctx: ExecutionContext): Promise<Issuer | undefined> {
    await this.#renew(url, read, ctx)
    const held = this.#issuers.get(url)
    return held && held.read >= held.tried ? held.issuer : undefined
  }

  #usable(url: string): Issuer | undefined {
    const known = this.#issuers.get(url)
    return known && Date.now() - known.read < stale ? known.issuer : undefined
  }

  #isReading(known: Known | undefined): boolean {
    return known?.reading === true && Date.now() - known.tried < patience
  }

  /** Has the issuer read, by whomever, unless it was tried a moment ago. */
  async #renew(url: string, read: Read, ctx: ExecutionContext): Promise<void> {
    const known = this.#issuers.get(url)
    if (this.#isReading(known)) {
      for (let pause = 1; this.#isReading(this.#issuers.get(url)); pause = Math.min(2 * pause, longestPause))
        await new Promise(resolve => setTimeout(resolve, pause))
      return
    }
    if (known && !known.reading && Date.now() - known.tried < cooldown) return
    const reading = this.#read(url, known, read)
    // Who reads may leave; what it learns is for those who come after.
    ctx.waitUntil(reading)
    await reading
  }

  async #read(url: string, known: Known | undefined, read: Read): Promise<void> {
    const before = { issuer: known?.issuer, read: known?.read ?? Number.NEGATIVE_INFINITY }
    const tried = Date.now()
    this.#set(url, { ...before, tried, reading: true })
    const issuer = await read()
    const now = issuer ? { issuer, read: Date.now() } : before
    this.#set(url, { ...now, tried, reading: false })
  }

  #set(url: string, known: Omit<Known, 'size'>): void {
    this.#issuers.set(url, { ...known, size: entryOverhead + url.length + (known.issuer?.size ?? 0) })
  }
}

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
