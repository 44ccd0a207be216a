import { config } from '../../config.ts'
import { log, safeFetch } from '../../http/index.ts'
import { WEBHOOK_RETRY_SECONDS, WEBHOOK_TIMEOUT_SECONDS } from '../../limits.ts'
import type { StoredChange, WebhookHealth } from '../records.ts'
import type { ChangeTable } from './change-table.ts'
import { readWebhookKeys, retryDelay, signWebhook, toWebhookMessage } from './webhook.ts'

/** Deliveries of one alarm, which is limited in time. */
const DELIVERIES_PER_ALARM = 20

type WebhookRow = {
  url: string
  /** Names this feed in the ids of messages. */
  feed: string
  /** The last change that was delivered or given up. */
  delivered: number
  /** Failed attempts since the last delivery. */
  attempts: number
  failingSince: number | null
  /** When the change after `delivered` was first attempted without success. */
  firstFailure: number | null
}

type Failure = { reason: string; status?: number; retryAfter?: string | null }

/**
 * Delivers every change to `WEBHOOK_URL`, in order and at least once. The queue is the table of changes, which is bounded, from the first
 * change that is stored while `WEBHOOK_URL` is set.
 */
export class WebhookQueue {
  readonly #sql: SqlStorage
  readonly #changes: ChangeTable
  readonly #env: Env

  constructor(sql: SqlStorage, changes: ChangeTable, env: Env) {
    this.#sql = sql
    this.#changes = changes
    this.#env = env
    sql.exec(`CREATE TABLE IF NOT EXISTS webhook (
      url TEXT NOT NULL,
      feed TEXT NOT NULL,
      delivered INTEGER NOT NULL,
      attempts INTEGER NOT NULL DEFAULT 0,
      failing_since INTEGER,
      first_failure INTEGER
    )`)
  }

  /**
   * Adapts the queue to `WEBHOOK_URL`, before new changes are stored; a new queue has none up to `imported`, which another host has
   * delivered. Returns whether a delivery may begin when they are.
   */
  prepare(imported = 0): boolean {
    const { webhookUrl: url } = config(this.#env)
    const row = this.#row()
    if (!url) {
      if (row) this.#sql.exec('DELETE FROM webhook')
      return false
    }
    if (!row)
      this.#sql.exec(
        'INSERT INTO webhook (url, feed, delivered) VALUES (?, ?, ?)',
        ...[url, crypto.randomUUID().slice(0, 8), Math.max(imported, this.#changes.newest())],
      )
    else if (row.url !== url)
      this.#sql.exec('UPDATE webhook SET url = ?, attempts = 0, failing_since = NULL, first_failure = NULL', url)
    else return row.attempts === 0
    return true
  }

  /** Delivers what is in the queue. Returns after how many ms to go on; undefined if the queue is empty or its receiver gone. Never rejects. */
  async deliver(): Promise<number | undefined> {
    this.prepare()
    for (let deliveries = 0; deliveries < DELIVERIES_PER_ALARM; deliveries++) {
      const row = this.#row()
      if (!row) return undefined
      const lost = this.#changes.floor() - row.delivered
      if (lost > 0) this.#skip(row.delivered + lost, `${lost} changes were too many to store`)
      const [change] = this.#changes.after(Math.max(row.delivered, this.#changes.floor()), 1)
      if (!change) return undefined
      const failure = await this.#attempt(change, row)
      if (failure) return this.#recordFailure(change, row, failure)
      this.#sql.exec(
        'UPDATE webhook SET delivered = ?, attempts = 0, failing_since = NULL, first_failure = NULL',
        change.number,
      )
    }
    return 0
  }

  /** Returns the state of the webhook for monitors; null without one. */
  health(): WebhookHealth | null {
    const row = this.#row()
    const { webhookUrl: url } = config(this.#env)
    if (!row || !url) return null
    const failingSince = row.url === url ? row.failingSince : null
    return { pending: Math.max(0, this.#changes.newest() - row.delivered), failingSince }
  }

  async #attempt(change: StoredChange, { url, feed }: WebhookRow): Promise<Failure | undefined> {
    const keys = readWebhookKeys(this.#env.WEBHOOK_SECRET)
    if (!keys) return { reason: 'WEBHOOK_SECRET is missing or not valid' }
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(), WEBHOOK_TIMEOUT_SECONDS * 1000)
    try {
      const message = toWebhookMessage(change, feed)
      const headers = { 'Content-Type': 'application/json', ...(await signWebhook(message, keys, Date.now())) }
      const init = { method: 'POST', headers, body: message.body, signal: controller.signal }
      const response = await safeFetch(url, init, config(this.#env).allowedOrigins)
      if ('blocked' in response) return { reason: `blocked: ${response.blocked}` }
      // Nothing of the body is read, and it would keep the connection open.
      response.body?.cancel().catch(() => undefined)
      const { status } = response
      return response.ok ? undefined : { reason: 'status', status, retryAfter: response.headers.get('Retry-After') }
    } catch (error) {
      return { reason: controller.signal.aborted ? 'timeout' : String(error) }
    } finally {
      clearTimeout(timer)
    }
  }

  #recordFailure(change: StoredChange, row: WebhookRow, failure: Failure): number | undefined {
    const { reason, status, retryAfter } = failure
    const now = Date.now()
    const firstFailure = row.firstFailure ?? now
    const isGone = status === 410
    log(isGone ? 'error' : 'warn', 'webhook-failed', {
      'gen_ai.agent.id': change.id,
      'calling_card.detail': isGone ? 'gone: nothing is sent until WEBHOOK_URL changes' : reason,
      ...(status !== undefined && { 'http.response.status_code': status }),
    })
    this.#sql.exec(
      'UPDATE webhook SET attempts = attempts + 1, failing_since = COALESCE(failing_since, ?), first_failure = ?',
      ...[now, firstFailure],
    )
    // Standard Webhooks has the sender stop for good. A queue with failed attempts waits for an alarm, or for another URL.
    if (isGone) return undefined
    if (now - firstFailure >= WEBHOOK_RETRY_SECONDS * 1000)
      this.#skip(change.number, 'a change was refused for too long')
    return retryDelay(row.attempts + 1, retryAfter)
  }

  /** Gives up the changes up to `number`. */
  #skip(number: number, reason: string): void {
    log('error', 'webhook-changes-lost', { 'calling_card.detail': reason })
    this.#sql.exec('UPDATE webhook SET delivered = ?, first_failure = NULL', number)
  }

  #row(): WebhookRow | undefined {
    return this.#sql
      .exec<WebhookRow>(
        `SELECT url, feed, delivered, attempts, failing_since AS failingSince, first_failure AS firstFailure FROM webhook`,
      )
      .toArray()[0]
  }
}
