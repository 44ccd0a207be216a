import { DurableObject } from 'cloudflare:workers'
import type { RepresentationName } from '../../card/model/constants.ts'
import type { Precondition } from '../../http/conditional.ts'
import type {
  Leased,
  NotLeased,
  RefreshResult,
  Registered,
  Registration,
  Rejection,
  Removed,
  SourceRecord,
  SourceState,
  TokenRecord,
  Written,
} from '../records.ts'
import type { Listed, NamedAgents, StoredDocument, StoredManifest } from './agents.ts'
import { Publisher } from './publisher.ts'
import type { RevisionRow } from './revisions.ts'
import { createTables } from './schema.ts'
import type { Issued, Revoked } from './tokens.ts'

export type { Listed } from './agents.ts'

/**
 * The record of truth about what is registered. Reads of the edge never come here: they are KV's, and what is
 * done here is loaded when it is first asked for.
 */
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
  async register(registration: Registration, mayClaim: boolean): Promise<Registered | Rejection> {
    const { register } = await import('./register.ts')
    return this.#write(() => register(this.#sql, registration, mayClaim))
  }

  /** Removes an agent; its revisions stay. */
  async remove(id: string, condition: Precondition): Promise<Removed | Rejection> {
    const { remove } = await import('./register.ts')
    return this.#write(() => remove(this.#sql, id, condition))
  }

  /** The manifest of an agent as it was registered, with its entity tag, and where absolute URLs of this host started then. */
  async manifest(id: string): Promise<StoredManifest | null> {
    const { getManifest } = await import('./agents.ts')
    return getManifest(this.#sql, id)
  }

  /** One document of an agent, internal ones included: for readers with a token. */
  async document(id: string, name: RepresentationName): Promise<StoredDocument | null> {
    const { getDocument } = await import('./agents.ts')
    return getDocument(this.#sql, id, name)
  }

  /** A page of agents in the order of their ids, beginning after `after`. */
  async list(after: string, limit: number, internal: boolean): Promise<Listed[]> {
    const { listAgents } = await import('./agents.ts')
    return listAgents(this.#sql, after, limit, internal)
  }

  /** A page of an agent's revisions, the newest first, of those before a `seq`. */
  async revisions(id: string, before: number, limit: number): Promise<RevisionRow[]> {
    const { revisionRows } = await import('./revisions.ts')
    return revisionRows(this.#sql, id, before, limit)
  }

  /** The agents of an id, else of a name, in lower case: internal ones included, for who may read them. */
  async namedAgents(name: string): Promise<NamedAgents> {
    const { findNamed } = await import('./agents.ts')
    return findNamed(this.#sql, name)
  }

  /** All that is kept of the source of an agent's card, what was fetched of it included; null where there is none. */
  async sourceRecord(id: string): Promise<SourceRecord | null> {
    const { sourceRecord } = await import('./refresh.ts')
    return sourceRecord(this.#sql, id)
  }

  /** How the source of an agent's card stands; null where there is none. */
  async sourceState(id: string): Promise<SourceState | null> {
    const { sourceState } = await import('./refresh.ts')
    return sourceState(this.#sql, id)
  }

  /** The agents whose cards were to be read again before a time, in ms: those first that were longest not read. */
  async dueSources(before: number, limit: number): Promise<string[]> {
    const { dueSources } = await import('./refresh.ts')
    return dueSources(this.#sql, before, limit)
  }

  /** Gives somebody the right to refresh an agent's card for a while: unless `force`, only when it is time. */
  async leaseSource(id: string, { force }: { force: boolean }): Promise<Leased | NotLeased> {
    const { leaseSource } = await import('./refresh.ts')
    return leaseSource(this.#sql, id, force)
  }

  /** Ends a refresh that brought no new card to serve; how the source stands now. */
  async sourceChecked(id: string, seq: number, check: RefreshResult, lease: string): Promise<SourceState | null> {
    const { recordResult } = await import('./refresh.ts')
    await this.#write(() => recordResult(this.#sql, id, seq, check, lease))
    return this.sourceState(id)
  }

  /** Gives a lease back of which nothing was learned. */
  async releaseSource(id: string, lease: string): Promise<void> {
    const { releaseSource } = await import('./refresh.ts')
    releaseSource(this.#sql, id, lease)
  }

  /** Keeps a token, known by the SHA-256 of its whole text in hexadecimal. */
  async issueToken(record: TokenRecord, hash: string): Promise<Issued> {
    const { storeToken } = await import('./tokens.ts')
    return this.#write(() => storeToken(this.#sql, record, hash))
  }

  /** A page of tokens in the order of their ids, beginning after `after`; never the tokens themselves. */
  async tokens(after: string, limit: number): Promise<TokenRecord[]> {
    const { listTokens } = await import('./tokens.ts')
    return listTokens(this.#sql, after, limit)
  }

  /** Ends a token: at once in the isolate that asks, and everywhere within the cache time. */
  async revokeToken(id: string): Promise<Revoked> {
    const { deleteToken } = await import('./tokens.ts')
    return this.#write(() => deleteToken(this.#sql, id))
  }

  /** Tries again what KV did not take. */
  override async alarm(): Promise<void> {
    await this.#publisher.retry()
  }

  /** Conditions are compared, all is written, and what KV lacks is noted, in one transaction; then it is published. */
  async #write<Made, Refused>(write: () => Written<Made, Refused>): Promise<(Made & { published: boolean }) | Refused> {
    const written = this.ctx.storage.transactionSync(() => {
      const written = write()
      if ('made' in written) this.#publisher.enqueue(written.owed)
      return written
    })
    if ('refused' in written) return written.refused
    return { ...written.made, published: await this.#publisher.publish(written.publish) }
  }
}
