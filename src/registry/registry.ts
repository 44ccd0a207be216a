import { DurableObject } from 'cloudflare:workers'
import type { RepresentationName } from '../card/representations.ts'
import { type Condition, holds } from '../http/condition.ts'
import { changesKey } from './changes.ts'
import type { Representation } from './envelope.ts'
import { extendedKey, tiersKept } from './extended.ts'
import { claimHosts, releaseHosts } from './host-claims.ts'
import { idNamed, namesIndex } from './names.ts'
import { Publisher } from './publisher.ts'
import { endRevisions, etagsOf, isRevision, newestRevision, revise } from './revisions.ts'
import { tables } from './tables.ts'
import type { TokenRecord } from './token-record.ts'
import { dropToken, type Issued, keepToken, type Revoked, tokenKey, tokenPage } from './tokens.ts'
import type { Declined, Registered, Registration, Removed, Summary } from './write.ts'

/** One agent as a list shows it. */
export type Listed = Summary & { id: string; origin: string }

/** The record of truth about what is registered. Reads of the edge never come here: they are KV's. */
export class Registry extends DurableObject<Env> {
  readonly #sql: SqlStorage
  readonly #publisher: Publisher

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#sql = ctx.storage.sql
    this.#publisher = new Publisher(ctx.storage, env.CARDS)
    this.#sql.exec(tables + namesIndex)
  }

  /**
   * Registers or replaces an agent; with host names that are not its own already only where `mayClaim`. The condition is
   * compared, and all is written, in one transaction.
   */
  async register(registration: Registration, mayClaim: boolean): Promise<Registered | Declined> {
    const written = this.ctx.storage.transactionSync(() => this.#register(registration, mayClaim))
    if (written.outcome !== 'registered') return written
    // All that it holds, so that what failed before heals with any write; and what it gave up.
    const hostnames = [...written.hosts, ...written.changed.map(({ hostname }) => hostname)]
    const tiers = [...registration.extended.map(({ tier }) => tier), ...written.tiersGone]
    return { ...written, published: await this.#publisher.publish(keysOf(registration.id, hostnames, tiers)) }
  }

  /** Removes an agent; its revisions stay. */
  async remove(id: string, condition: Condition): Promise<Removed | Declined> {
    const removed = this.ctx.storage.transactionSync(() => this.#remove(id, condition))
    if (removed.outcome !== 'removed') return removed
    const freed = removed.changed.map(({ hostname }) => hostname)
    return { ...removed, published: await this.#publisher.publish(keysOf(id, freed, removed.tiersGone)) }
  }

  /** The manifest of an agent as it was registered, with its entity tag, and where absolute URLs of this host started then. */
  manifest(id: string): { manifest: string; etag: string; modified: number; origin: string } | null {
    const [row] = this.#sql
      .exec<{ manifest: string; etag: string; modified: number; origin: string }>(
        `SELECT manifest, manifest_etag AS etag, modified, agents.origin FROM agents JOIN revisions USING (id, seq) WHERE id = ?`,
        id,
      )
      .toArray()
    return row ?? null
  }

  /** One document of an agent, internal ones included: for readers with a token. */
  document(id: string, name: RepresentationName): (Representation & { modified: number }) | null {
    const [row] = this.#sql
      .exec<{ etag: string; body: ArrayBuffer; modified: number }>(
        `SELECT etag, body, modified FROM agents JOIN representations USING (id)
          WHERE id = ? AND EXISTS (SELECT 1 FROM json_each(names) WHERE value = ?)`,
        id,
        name,
      )
      .toArray()
    return row ? { etag: row.etag, modified: row.modified, bytes: new Uint8Array(row.body) } : null
  }

  /** A page of agents in the order of their ids, beginning after `after`. */
  list(after: string, limit: number, internal: boolean): Listed[] {
    return this.#sql
      .exec<{ id: string; summary: string; origin: string }>(
        `SELECT id, summary, origin FROM agents WHERE id > ? AND (visibility = 'public' OR ?) ORDER BY id LIMIT ?`,
        after,
        internal ? 1 : 0,
        limit,
      )
      .toArray()
      .map(({ id, summary, origin }) => ({ id, origin, ...(JSON.parse(summary) as Summary) }))
  }

  /** The id of the agent of an id, else of a name, in lower case. */
  agentNamed(name: string): string | null {
    return idNamed(this.#sql, name)
  }

  /** Keeps a token, known by the SHA-256 of its whole text in hexadecimal. */
  async issueToken(record: TokenRecord, hash: string): Promise<Issued> {
    const issued = this.ctx.storage.transactionSync(() => {
      const issued = keepToken(this.#sql, record, hash)
      if (issued.outcome === 'issued') this.#publisher.owe([tokenKey(hash)])
      return issued
    })
    if (issued.outcome !== 'issued') return issued
    return { ...issued, published: await this.#publisher.publish([tokenKey(hash)]) }
  }

  /** A page of tokens in the order of their ids, beginning after `after`; never the tokens themselves. */
  tokens(after: string, limit: number): TokenRecord[] {
    return tokenPage(this.#sql, after, limit)
  }

  /** Ends a token: at once in the isolate that asks, and everywhere within the cache time. */
  async revokeToken(id: string): Promise<Revoked> {
    const revoked = this.ctx.storage.transactionSync(() => {
      const revoked = dropToken(this.#sql, id)
      if (revoked.outcome === 'revoked') this.#publisher.owe([tokenKey(revoked.hash)])
      return revoked
    })
    if (revoked.outcome !== 'revoked') return revoked
    return { ...revoked, published: await this.#publisher.publish([tokenKey(revoked.hash)]) }
  }

  /** Tries again what KV did not take. */
  override async alarm(): Promise<void> {
    await this.#publisher.retry()
  }

  #register(registration: Registration, mayClaim: boolean): Registered | Declined {
    const { id, condition } = registration
    const before = newestRevision(this.#sql, id)
    if (!holds(condition, before && etagsOf(this.#sql, id, before)))
      return { outcome: 'precondition-failed', exists: before !== undefined }
    const same = before && isRevision(this.#sql, before, registration) ? before : undefined
    const claim = claimHosts(this.#sql, registration, mayClaim)
    if ('outcome' in claim) return claim
    const modified = same?.modified ?? Date.now()
    const tiers = registration.extended.map(({ tier }) => tier)
    const tiersGone = tiersKept(this.#sql, id).filter(tier => !tiers.includes(tier))
    const seq = same?.seq ?? revise(this.#sql, registration, modified)
    const hostnames = claim.changed.map(({ hostname }) => hostname)
    this.#publisher.owe(
      same ? hostnames.map(hostKey) : [...keysOf(id, hostnames, [...tiers, ...tiersGone]), changesKey],
    )
    const outcome = { outcome: 'registered', published: false } as const
    return { ...outcome, seq, modified, created: !before, revised: !same, tiersGone, ...claim }
  }

  #remove(id: string, condition: Condition): Removed | Declined {
    const before = newestRevision(this.#sql, id)
    if (!before)
      return condition.ifMatch ? { outcome: 'precondition-failed', exists: false } : { outcome: 'unknown-agent' }
    if (!holds(condition, etagsOf(this.#sql, id, before))) return { outcome: 'precondition-failed', exists: true }
    const changed = releaseHosts(this.#sql, id)
    const tiersGone = tiersKept(this.#sql, id)
    const seq = endRevisions(this.#sql, id)
    const hostnames = changed.map(({ hostname }) => hostname)
    this.#publisher.owe([...keysOf(id, hostnames, tiersGone), changesKey])
    return { outcome: 'removed', seq, published: false, changed, tiersGone }
  }
}

const hostKey = (hostname: string): string => `host:${hostname}`

const keysOf = (id: string, hostnames: readonly string[], tiers: readonly string[]): string[] => [
  `card:${id}`,
  ...hostnames.map(hostKey),
  ...tiers.map(tier => extendedKey(id, tier)),
]
