import { DurableObject } from 'cloudflare:workers'
import type { RepresentationName } from '../card/representation-names.ts'
import type { Condition } from '../http/condition.ts'
import { documentOf, type KeptDocument, type Listed, listOf, manifestOf } from './kept-agents.ts'
import { type NamedAgents, namedAgents } from './names.ts'
import { Publisher } from './publisher.ts'
import { register } from './registering.ts'
import { remove } from './removing.ts'
import { type RevisionRow, revisionRows } from './revision-rows.ts'
import type { SourceCheck } from './source-check.ts'
import { checkSource } from './source-checks.ts'
import { dueSources, leaseSource, releaseSource } from './source-leases.ts'
import type { Leased, NotLeased, SourceRecord } from './source-record.ts'
import { sourceRecord } from './source-records.ts'
import type { SourceState } from './source-state.ts'
import { sourceState } from './source-states.ts'
import { createTables } from './tables.ts'
import type { TokenRecord } from './token-record.ts'
import { dropToken, type Issued, keepToken, type Revoked, tokenPage } from './tokens.ts'
import type { Declined, Registered, Registration, Removed } from './write.ts'
import type { Written } from './written.ts'

export type { Listed } from './kept-agents.ts'

/** The record of truth about what is registered. Reads of the edge never come here: they are KV's. */
export class Registry extends DurableObject<Env> {
  readonly #sql: SqlStorage
  readonly #publisher: Publisher

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#sql = ctx.storage.sql
    this.#publisher = new Publisher(ctx.storage, env.CARDS)
    createTables(this.#sql)
  }

  /** Registers or replaces an agent; with host names that are not its own already only where `mayClaim`. */
  async register(registration: Registration, mayClaim: boolean): Promise<Registered | Declined> {
    return this.#write(() => register(this.#sql, registration, mayClaim))
  }

  /** Removes an agent; its revisions stay. */
  async remove(id: string, condition: Condition): Promise<Removed | Declined> {
    return this.#write(() => remove(this.#sql, id, condition))
  }

  /** The manifest of an agent as it was registered, with its entity tag, and where absolute URLs of this host started then. */
  manifest(id: string): ReturnType<typeof manifestOf> {
    return manifestOf(this.#sql, id)
  }

  /** One document of an agent, internal ones included: for readers with a token. */
  document(id: string, name: RepresentationName): KeptDocument | null {
    return documentOf(this.#sql, id, name)
  }

  /** A page of agents in the order of their ids, beginning after `after`. */
  list(after: string, limit: number, internal: boolean): Listed[] {
    return listOf(this.#sql, after, limit, internal)
  }

  /** A page of an agent's revisions, the newest first, of those before a `seq`. */
  revisions(id: string, before: number, limit: number): RevisionRow[] {
    return revisionRows(this.#sql, id, before, limit)
  }

  /** The agents of an id, else of a name, in lower case: internal ones included, for who may read them. */
  namedAgents(name: string): NamedAgents {
    return namedAgents(this.#sql, name)
  }

  /** All that is kept of the source of an agent's card, what was fetched of it included; null where there is none. */
  sourceRecord(id: string): SourceRecord | null {
    return sourceRecord(this.#sql, id)
  }

  /** How the source of an agent's card stands; null where there is none. */
  sourceState(id: string): SourceState | null {
    return sourceState(this.#sql, id)
  }

  /** The agents whose cards were to be read again before a time, in ms: those first that were longest not read. */
  dueSources(before: number, limit: number): string[] {
    return dueSources(this.#sql, before, limit)
  }

  /** Gives somebody the right to refresh an agent's card for a while: unless `force`, only when it is time. */
  leaseSource(id: string, { force }: { force: boolean }): Leased | NotLeased {
    return leaseSource(this.#sql, id, force)
  }

  /** Ends a refresh that brought no new card to serve; how the source stands now. */
  async sourceChecked(id: string, seq: number, check: SourceCheck, lease: string): Promise<SourceState | null> {
    await this.#write(() => checkSource(this.#sql, id, seq, check, lease))
    return sourceState(this.#sql, id)
  }

  /** Gives a lease back of which nothing was learned. */
  releaseSource(id: string, lease: string): void {
    releaseSource(this.#sql, id, lease)
  }

  /** Keeps a token, known by the SHA-256 of its whole text in hexadecimal. */
  async issueToken(record: TokenRecord, hash: string): Promise<Issued> {
    return this.#write(() => keepToken(this.#sql, record, hash))
  }

  /** A page of tokens in the order of their ids, beginning after `after`; never the tokens themselves. */
  tokens(after: string, limit: number): TokenRecord[] {
    return tokenPage(this.#sql, after, limit)
  }

  /** Ends a token: at once in the isolate that asks, and everywhere within the cache time. */
  async revokeToken(id: string): Promise<Revoked> {
    return this.#write(() => dropToken(this.#sql, id))
  }

  /** Tries again what KV did not take. */
  override async alarm(): Promise<void> {
    await this.#publisher.retry()
  }

  /** Conditions are compared, all is written, and what KV lacks is noted, in one transaction; then it is published. */
  async #write<Made, Refused>(write: () => Written<Made, Refused>): Promise<(Made & { published: boolean }) | Refused> {
    const written = this.ctx.storage.transactionSync(() => {
      const written = write()
      if ('made' in written) this.#publisher.owe(written.owed)
      return written
    })
    if ('refused' in written) return written.refused
    return { ...written.made, published: await this.#publisher.publish(written.publish) }
  }
}
