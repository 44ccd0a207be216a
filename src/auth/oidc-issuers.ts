import type { JWTVerifyGetKey } from 'jose'
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
export class IssuerCache {
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
