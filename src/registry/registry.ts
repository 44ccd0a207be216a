import { DurableObject } from 'cloudflare:workers'
import type { RepresentationName } from '../card/representations.ts'
import { type Condition, holds } from '../http/condition.ts'
import { changesKey } from './changes.ts'
import { distinct, type Representation } from './envelope.ts'
import { extendedKey, isExtendedBy, keepExtended, tiersKept } from './extended.ts'
import { claimHosts, releaseHosts } from './host-claims.ts'
import { idNamed, namedSince, namesIndex } from './names.ts'
import { Publisher } from './publisher.ts'
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
    const { id, condition, origin } = registration
    const before = this.#agent(id)
    if (!holds(condition, before && this.#etags(id, before.manifestEtag)))
      return { outcome: 'precondition-failed', exists: before !== undefined }
    const revised = !before || before.origin !== origin || !this.#isServed(registration, before.manifestEtag)
    const claim = claimHosts(this.#sql, registration, mayClaim)
    if ('outcome' in claim) return claim
    const seq = revised ? this.#lastSeq(id) + 1 : before.seq
    const modified = revised ? Date.now() : before.modified
    const tiers = registration.extended.map(({ tier }) => tier)
    const tiersGone = tiersKept(this.#sql, id).filter(tier => !tiers.includes(tier))
    if (revised) this.#revise(registration, seq, modified)
    const hostnames = claim.changed.map(({ hostname }) => hostname)
    this.#publisher.owe(
      revised ? [...keysOf(id, hostnames, [...tiers, ...tiersGone]), changesKey] : hostnames.map(hostKey),
    )
    return { outcome: 'registered', seq, modified, created: !before, revised, published: false, tiersGone, ...claim }
  }

  #revise({ id, visibility, origin, manifest, ...made }: Registration, seq: number, modified: number): void {
    const summary = { ...made.summary, named: namedSince(this.#sql, id, made.summary.name, modified) }
    this.#sql.exec(
      'INSERT INTO revisions (id, seq, created, origin, manifest) VALUES (?, ?, ?, ?, ?)',
      ...[id, seq, modified, origin, manifest],
    )
    this.#sql.exec(
      'INSERT OR REPLACE INTO agents (id, seq, visibility, origin, modified, manifest_etag, summary) VALUES (?, ?, ?, ?, ?, ?, ?)',
      ...[id, seq, visibility, origin, modified, made.manifestEtag, JSON.stringify(summary)],
    )
    this.#sql.exec('DELETE FROM representations WHERE id = ?', id)
    for (const { names, etag, bytes } of distinct({ ...made.representations, profile: made.profile }))
      this.#sql.exec(
        'INSERT INTO representations (id, etag, names, body) VALUES (?, ?, ?, ?)',
        ...[id, etag, JSON.stringify(names), bytes],
      )
    keepExtended(this.#sql, id, made.extended)
  }

  /** Whether what is registered, and kept under each name, is what is being registered. */
  #isServed({ id, manifestEtag, representations, profile, extended }: Registration, servedManifest: string): boolean {
    const rows = this.#sql
      .exec<{ etag: string; names: string }>('SELECT etag, names FROM representations WHERE id = ?', id)
      .toArray()
    const served = rows.map(({ etag, names }) => `${etag} ${names}`).sort()
    const given = distinct({ ...representations, profile }).map(({ etag, names }) => `${etag} ${JSON.stringify(names)}`)
    return (
      manifestEtag === servedManifest && served.join() === given.sort().join() && isExtendedBy(this.#sql, id, extended)
    )
  }

  #remove(id: string, condition: Condition): Removed | Declined {
    const before = this.#agent(id)
    if (!before)
      return condition.ifMatch ? { outcome: 'precondition-failed', exists: false } : { outcome: 'unknown-agent' }
    if (!holds(condition, this.#etags(id, before.manifestEtag))) return { outcome: 'precondition-failed', exists: true }
    const seq = this.#lastSeq(id) + 1
    const changed = releaseHosts(this.#sql, id)
    this.#sql.exec('INSERT INTO revisions (id, seq, created) VALUES (?, ?, ?)', id, seq, Date.now())
    this.#sql.exec('DELETE FROM agents WHERE id = ?', id)
    this.#sql.exec('DELETE FROM representations WHERE id = ?', id)
    const tiersGone = tiersKept(this.#sql, id)
    keepExtended(this.#sql, id, [])
    const hostnames = changed.map(({ hostname }) => hostname)
    this.#publisher.owe([...keysOf(id, hostnames, tiersGone), changesKey])
    return { outcome: 'removed', seq, published: false, changed, tiersGone }
  }

  #agent(id: string): { seq: number; origin: string; modified: number; manifestEtag: string } | undefined {
    return this.#sql
      .exec<{ seq: number; origin: string; modified: number; manifestEtag: string }>(
        'SELECT seq, origin, modified, manifest_etag AS manifestEtag FROM agents WHERE id = ?',
        id,
      )
      .toArray()[0]
  }

  #etags(id: string, manifestEtag: string): string[] {
    const rows = this.#sql
      .exec<{ etag: string }>(`SELECT etag FROM representations WHERE id = ? AND names <> '["profile"]'`, id)
      .toArray()
    return [manifestEtag, ...rows.map(({ etag }) => etag)]
  }

  #lastSeq(id: string): number {
    return this.#sql.exec<{ seq: number }>('SELECT COALESCE(MAX(seq), 0) AS seq FROM revisions WHERE id = ?', id).one()
      .seq
  }
}

const hostKey = (hostname: string): string => `host:${hostname}`

const keysOf = (id: string, hostnames: readonly string[], tiers: readonly string[]): string[] => [
  `card:${id}`,
  ...hostnames.map(hostKey),
  ...tiers.map(tier => extendedKey(id, tier)),
]
