import { DurableObject } from 'cloudflare:workers'
import type { Observations, RepresentationName, StoredReceipt } from '../../card/model/index.ts'
import type { Precondition } from '../../http/index.ts'
import type { AuditPage, AuditQuery, Refusal } from '../audit/index.ts'
import { EVENTS_KEY } from '../kv-format.ts'
import type { ExportCursor, ExportPage } from '../move/index.ts'
import type {
  BatchResult,
  CatalogPage,
  CatalogQuery,
  Expected,
  ListedAgent,
  ListQuery,
  NamedAgents,
  RefreshBase,
  RefreshRecorded,
  RefreshWithoutCard,
  Registered,
  Registration,
  RegistryHealth,
  Removed,
  RevisionRow,
  SearchQuery,
  SearchResult,
  SigningState,
  Sitemap,
  SitemapQuery,
  SourceRecord,
  SourceState,
  StoredDocument,
  StoredManifest,
  StoredRevision,
  UpstreamBindings,
  WriteRejection,
  WriteResult,
} from '../records.ts'
import type { TokenIssued, TokenRecord, TokenRevoked } from '../token-record.ts'
import type { ImportReply, ImportStep } from './imports.ts'
import type { Publisher } from './publisher.ts'

const CONFLICT = { error: { outcome: 'conflict' } } as const

/**
 * The record of truth about what is registered. The edge reads KV instead, so each method loads its code when it is first
 * called.
 */
export class Registry extends DurableObject<Env> {
  readonly #sql: SqlStorage
  readonly #publisher: Promise<Publisher>

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#sql = ctx.storage.sql
    // Every isolate evaluates this module, but few have a Registry.
    this.#publisher = import('./publisher.ts').then(({ Publisher }) => Publisher.create(ctx.storage, env))
    void ctx.blockConcurrencyWhile(async () => {
      const { createTables } = await import('../tables/create.ts')
      createTables(this.#sql)
      await this.#checkSignatures()
    })
  }

  /** Registers or replaces an agent. Without `mayClaim`, only with host names that are its own already. */
  async register(registration: Registration, mayClaim: boolean): Promise<Registered | WriteRejection> {
    const [{ register }, { taskOwnersKey }] = await Promise.all([import('./register.ts'), import('./kv-entries.ts')])
    // Tasks of a removed agent must not have owners in the next agent with its id, nor its tasks lose theirs.
    const isCleared = await (await this.#publisher).publish([taskOwnersKey(registration.id)])
    if (!isCleared) return { outcome: 'conflict' }
    return this.#write(() => register(this.#sql, registration, mayClaim))
  }

  /**
   * Registers several agents in their order, or all or none of them if the batch `isAtomic`. Otherwise each is
   * registered by itself, and the results end with the first `conflict`, or before a failure: later agents must not get
   * the host names that this one claims.
   */
  async registerAll(
    registrations: readonly Registration[],
    mayClaim: boolean,
    isAtomic: boolean,
  ): Promise<BatchResult[]> {
    const [{ register, registerAll }, { taskOwnersKey }] = await Promise.all([
      import('./register.ts'),
      import('./kv-entries.ts'),
    ])
    const publisher = await this.#publisher
    const areCleared = await Promise.all(registrations.map(({ id }) => publisher.publish([taskOwnersKey(id)])))
    if (isAtomic)
      return areCleared.includes(false)
        ? registrations.map(() => ({ outcome: 'conflict' }))
        : registerAll(this.ctx.storage, publisher, registrations, mayClaim)
    const results: Promise<Registered | WriteRejection>[] = []
    // Nothing is awaited between two of them: each is committed before the next one, and published meanwhile.
    for (const [index, registration] of registrations.entries()) {
      try {
        const result = areCleared[index]
          ? this.#commit(publisher, () => register(this.#sql, registration, mayClaim))
          : CONFLICT
        results.push(this.#publish(publisher, result))
        if ('error' in result && result.error.outcome === 'conflict') break
      } catch (error) {
        if (index === 0) throw error
        break
      }
    }
    return Promise.all(results)
  }

  /** Removes an agent; its revisions stay. */
  async remove(id: string, precondition: Precondition, actor: string): Promise<Removed | WriteRejection> {
    const { remove } = await import('./register.ts')
    return this.#write(() => remove(this.#sql, id, precondition, actor))
  }

  /** Forgets which callers started which tasks of an agent. */
  async clearTasks(id: string, actor: string): Promise<{ outcome: 'cleared'; published: boolean } | WriteRejection> {
    const { clearTasks } = await import('./register.ts')
    return this.#write(() => clearTasks(this.#sql, id, actor))
  }

  /** Returns the manifest of an agent; null for no agent. */
  async manifest(id: string): Promise<StoredManifest | null> {
    const { selectManifest } = await import('./agents.ts')
    return selectManifest(this.#sql, id)
  }

  /** Returns a document of an agent, internal agents included; null for no agent. */
  async document(id: string, name: RepresentationName): Promise<StoredDocument | null> {
    const { selectDocument } = await import('./agents.ts')
    return selectDocument(this.#sql, id, name)
  }

  /** Returns a page of a list of agents. */
  async list(query: ListQuery): Promise<ListedAgent[]> {
    const { selectAgents } = await import('./agents.ts')
    return selectAgents(this.#sql, query)
  }

  /** Returns a page of the agents that match a query. */
  async search(query: SearchQuery): Promise<SearchResult> {
    const { search } = await import('./search.ts')
    return search(this.#sql, query)
  }

  /** Returns a page of a catalog, and whether the URLs of a public agent begin with its origin. */
  async catalog(query: CatalogQuery): Promise<CatalogPage> {
    const { selectCatalog } = await import('./agents.ts')
    return selectCatalog(this.#sql, query)
  }

  /** Returns a sitemap, or one page of it. */
  async sitemap(query: SitemapQuery): Promise<Sitemap> {
    const { selectSitemap } = await import('./agents.ts')
    return selectSitemap(this.#sql, query)
  }

  /** Returns the agents of an id, else of a name, in lower case; internal agents included. */
  async namedAgents(name: string): Promise<NamedAgents> {
    const { selectAgentsByName } = await import('./agents.ts')
    return selectAgentsByName(this.#sql, name)
  }

  /** Returns a page of an agent's revisions before a `seq`, newest first. */
  async revisions(id: string, before: number, limit: number): Promise<RevisionRow[]> {
    const { selectRevisions } = await import('./revisions.ts')
    return selectRevisions(this.#sql, id, before, limit)
  }

  /** Returns one revision of an agent, which may have been removed since; null for none. */
  async revision(id: string, seq: number): Promise<StoredRevision | null> {
    const { selectRevision } = await import('./revisions.ts')
    return selectRevision(this.#sql, id, seq)
  }

  /** Returns the newest revision of an agent; null for no agent. */
  async latestRevision(id: string): Promise<StoredRevision | null> {
    const { selectLatestRevision } = await import('./revisions.ts')
    return selectLatestRevision(this.#sql, id)
  }

  /** Returns all that is stored about the source of an agent's card, fetched documents included; null for none. */
  async sourceRecord(id: string): Promise<SourceRecord | null> {
    const { sourceRecord } = await import('./refresh.ts')
    return sourceRecord(this.#sql, id)
  }

  /** Returns the state of an agent's remote card; null for none. */
  async sourceState(id: string): Promise<SourceState | null> {
    const { sourceState } = await import('./refresh.ts')
    return sourceState(this.#sql, id)
  }

  /** Returns what a refresh of an agent's card is computed from; null for an agent without a remote card. */
  async refreshBase(id: string): Promise<RefreshBase | null> {
    const { refreshBase } = await import('./refresh.ts')
    return refreshBase(this.#sql, id)
  }

  /** Records a refresh that brought no new card to serve. */
  async recordRefresh(
    id: string,
    expected: Expected,
    result: RefreshWithoutCard,
  ): Promise<RefreshRecorded | WriteRejection> {
    const { recordRefresh } = await import('./refresh.ts')
    return this.#write(() => recordRefresh(this.#sql, id, expected, result))
  }

  /** Returns the secrets and service bindings that the manifests of agents name. */
  async upstreamBindings(): Promise<UpstreamBindings> {
    const { selectUpstreamBindings } = await import('./agents.ts')
    return selectUpstreamBindings(this.#sql)
  }

  /** Returns the state of the Registry for monitors. */
  async health(): Promise<RegistryHealth> {
    const { selectHealth } = await import('./health.ts')
    return selectHealth(this.#sql)
  }

  /** Returns how far the agents are signed with the keys that `signers` names. */
  async signingState(signers: string): Promise<SigningState> {
    const { selectSigningState } = await import('./signatures.ts')
    return selectSigningState(this.#sql, signers)
  }

  /** Adds what an isolate has observed of an agent's calls. */
  async recordObservations(id: string, observed: Observations): Promise<void> {
    const { recordObservations } = await import('../tables/observations.ts')
    recordObservations(this.#sql, id, observed)
  }

  /** Returns what the calls of an agent have shown lately; null for nothing. */
  async observations(id: string): Promise<Observations | null> {
    const { selectObservations } = await import('../tables/observations.ts')
    return selectObservations(this.#sql, id)
  }

  /** Begins a check of an agent. Returns false while another one runs. */
  async beginCheck(id: string): Promise<boolean> {
    const { beginCheck } = await import('../tables/receipts.ts')
    return beginCheck(this.#sql, id)
  }

  /** Ends the check of an agent, and stores its receipt; null if it brought none. */
  async endCheck(id: string, stored: StoredReceipt | null): Promise<void> {
    const { endCheck } = await import('../tables/receipts.ts')
    await this.#write(() => endCheck(this.#sql, id, stored))
  }

  /** Stores a token under the SHA-256 of its text in hexadecimal. */
  async issueToken(record: TokenRecord, hash: string, actor: string): Promise<TokenIssued> {
    const { issueToken } = await import('../tables/tokens.ts')
    return this.#write(() => issueToken(this.#sql, record, hash, actor))
  }

  /** Returns a page of tokens ordered by id, those after `after`; never the tokens themselves. */
  async tokens(after: string, limit: number): Promise<TokenRecord[]> {
    const { selectTokens } = await import('../tables/tokens.ts')
    return selectTokens(this.#sql, after, limit)
  }

  /** Revokes a token: at once in the isolate that calls, and everywhere within the cache time. */
  async revokeToken(id: string, actor: string): Promise<TokenRevoked> {
    const { revokeToken } = await import('../tables/tokens.ts')
    return this.#write(() => revokeToken(this.#sql, id, actor))
  }

  /** Returns a page of the audit, newest first, and the newest entry of all. */
  async audit(query: AuditQuery): Promise<AuditPage> {
    const { selectPage } = await import('../audit/log.ts')
    return selectPage(this.#sql, query)
  }

  /** Records a refused write in the audit. */
  async recordRefusal(refusal: Refusal): Promise<void> {
    const { recordRefusal } = await import('../audit/log.ts')
    recordRefusal(this.#sql, refusal)
  }

  /** Returns the first page of an export, or the one at a cursor. */
  async exportPage(cursor?: ExportCursor): Promise<ExportPage> {
    const { exportPage } = await import('../move/export.ts')
    return exportPage(this.#sql, cursor)
  }

  /** Runs one step of an import into an empty host. */
  async importStep(step: ImportStep): Promise<ImportReply> {
    const { runImportStep } = await import('./imports.ts')
    const object = { storage: this.ctx.storage, publisher: await this.#publisher }
    return runImportStep(step, { ...object, write: work => this.#write(work) })
  }

  /** Publishes what is left in the outbox, and signs the cards again if other keys sign now. */
  override async alarm(): Promise<void> {
    const publisher = await this.#publisher
    publisher.clearAlarm()
    await this.#checkSignatures()
    await publisher.retry()
  }

  /** Enqueues the agents whose cards are not signed with the current keys, and sets the alarm for when these change. */
  async #checkSignatures(): Promise<void> {
    const { enqueueStaleSignatures } = await import('./signatures.ts')
    await enqueueStaleSignatures(await this.#publisher, this.env)
  }

  /** Runs a write, conditions included, in one transaction with its outbox entries, then publishes. */
  async #write<Value, Failure>(
    write: () => WriteResult<Value, Failure>,
  ): Promise<(Value & { published: boolean }) | Failure> {
    const publisher = await this.#publisher
    return this.#publish(publisher, this.#commit(publisher, write))
  }

  #commit<Value, Failure>(publisher: Publisher, write: () => WriteResult<Value, Failure>): WriteResult<Value, Failure> {
    return this.ctx.storage.transactionSync(() => {
      const result = write()
      if ('value' in result) publisher.enqueue(result.staleKeys)
      return result
    })
  }

  async #publish<Value, Failure>(
    publisher: Publisher,
    result: WriteResult<Value, Failure>,
  ): Promise<(Value & { published: boolean }) | Failure> {
    if ('error' in result) return result.error
    // Not awaited: no write waits for those who follow it.
    void publisher.publish([EVENTS_KEY])
    return { ...result.value, published: await publisher.publish(result.publishKeys) }
  }
}
