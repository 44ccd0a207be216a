import { config } from '../../config.ts'
import { log, safeFetch, within } from '../../http/index.ts'
import { WEBHOOK_RETRY_SECONDS, WEBHOOK_TIMEOUT_SECONDS } from '../../limits.ts'
import { createTable, defineTable, type Row, selectFirst, storeRow } from '../sql.ts'
import type { StoredChange } from '../tables/index.ts'
import { type ChangeFeed, toEventData } from './change-feed.ts'

/** Deliveries of one alarm, which is limited in time. */
const DELIVERIES_PER_ALARM = 20

/**
 * The only row of the queue. `feed` names it in the ids of messages, `delivered` is the last change that was delivered
 * or given up, `attempts` counts the failures since the last delivery, and `first_failure` is that of the change after
 * it.
 */
const webhook = defineTable(
  'webhook',
  {
    ...{ url: 'text', feed: 'text', delivered: 'integer', attempts: 'count' },
    ...{ failing_since: 'integer?', first_failure: 'integer?' },
  },
  {},
)

const WITHOUT_FAILURE = 'attempts = 0, failing_since = NULL, first_failure = NULL'

type WebhookRow = Row<typeof webhook>

/** The changes that wait for the webhook, null if unknown, and since when its receiver fails, in ms since 1970. */
export type WebhookHealth = { pending: number | null; failingSince: number | null }

type Failure = { reason: string; status?: number; retryAfter?: string | null }

/** Opens the queue that delivers the changes stored while `WEBHOOK_URL` is set, in order and at least once. */
export const openWebhookQueue = (sql: SqlStorage, changes: ChangeFeed, env: Env) => {
  createTable(sql, webhook)
  const selectQueue = (): WebhookRow | undefined => selectFirst(sql, 'SELECT * FROM webhook')

  /** Gives up the changes up to `number`. */
  const skip = (number: number, reason: string): void => {
    log('error', 'webhook-changes-lost', { 'calling_card.detail': reason })
    sql.exec('UPDATE webhook SET delivered = ?, first_failure = NULL', number)
  }

  const attempt = async (change: StoredChange, { url, feed }: WebhookRow): Promise<Failure | undefined> => {
    const keys = readWebhookKeys(env.WEBHOOK_SECRET)
    if (!keys) return { reason: 'WEBHOOK_SECRET is missing or not valid' }
    return within<Failure | undefined>(WEBHOOK_TIMEOUT_SECONDS, { reason: 'timeout' }, async signal => {
      try {
        const message = toWebhookMessage(change, feed)
        const headers = { 'Content-Type': 'application/json', ...(await signWebhook(message, keys, Date.now())) }
        const init = { method: 'POST', headers, body: message.body, signal }
        const response = await safeFetch(url, init, config(env).allowedOrigins)
        if ('blocked' in response) return { reason: `blocked: ${response.blocked}` }
        const { status } = response
        return response.ok ? undefined : { reason: 'status', status, retryAfter: response.headers.get('Retry-After') }
      } catch (error) {
        return { reason: String(error) }
      }
    })
  }

  const recordFailure = (change: StoredChange, row: WebhookRow, failure: Failure): number | undefined => {
    const { reason, status, retryAfter } = failure
    const now = Date.now()
    const firstFailure = row.first_failure ?? now
    const isGone = status === 410
    log(isGone ? 'error' : 'warn', 'webhook-failed', {
      'gen_ai.agent.id': change.id,
      'calling_card.detail': isGone ? 'gone: nothing is sent until WEBHOOK_URL changes' : reason,
      ...(status !== undefined && { 'http.response.status_code': status }),
    })
    const failed = 'attempts = attempts + 1, failing_since = COALESCE(failing_since, ?), first_failure = ?'
    sql.exec(`UPDATE webhook SET ${failed}`, now, firstFailure)
    // Standard Webhooks has the sender stop for good. A queue with failures waits for an alarm, or for another URL.
    if (isGone) return undefined
    if (now - firstFailure >= WEBHOOK_RETRY_SECONDS * 1000) skip(change.number, 'a change was refused for too long')
    return retryDelay(row.attempts + 1, retryAfter)
  }

  /**
   * Adapts the queue to `WEBHOOK_URL`, before new changes are stored; a new queue has none up to `imported`, which
   * another host has delivered. Returns whether a delivery may begin when they are.
   */
  const prepare = (imported = 0): boolean => {
    const { webhookUrl: url } = config(env)
    const row = selectQueue()
    if (!url) {
      if (row) sql.exec('DELETE FROM webhook')
      return false
    }
    const delivered = Math.max(imported, changes.newest())
    if (!row) storeRow(sql, webhook, { url, feed: crypto.randomUUID().slice(0, 8), delivered })
    else if (row.url !== url) sql.exec(`UPDATE webhook SET url = ?, ${WITHOUT_FAILURE}`, url)
    else return row.attempts === 0
    return true
  }

  /** Delivers the queue. Returns the pause before the rest, in ms; undefined if it is empty or its receiver gone. */
  const deliver = async (): Promise<number | undefined> => {
    prepare()
    for (let deliveries = 0; deliveries < DELIVERIES_PER_ALARM; deliveries++) {
      const row = selectQueue()
      if (!row) return undefined
      const lost = changes.floor() - row.delivered
      if (lost > 0) skip(row.delivered + lost, `${lost} changes were too many to store`)
      const [change] = changes.after(Math.max(row.delivered, changes.floor()), 1)
      if (!change) return undefined
      const failure = await attempt(change, row)
      if (failure) return recordFailure(change, row, failure)
      sql.exec(`UPDATE webhook SET delivered = ?, ${WITHOUT_FAILURE}`, change.number)
    }
    return 0
  }

  const health = (): WebhookHealth | null => {
    const row = selectQueue()
    const { webhookUrl: url } = config(env)
    if (!row || !url) return null
    const failingSince = row.url === url ? row.failing_since : null
    return { pending: Math.max(0, changes.newest() - row.delivered), failingSince }
  }

  return { prepare, deliver, health }
}

type WebhookKey = Uint8Array<ArrayBuffer>

/** The sizes of a key that Standard Webhooks allows. */
const MIN_KEY_BYTES = 24
const MAX_KEY_BYTES = 64

/**
 * Reads the keys in `WEBHOOK_SECRET`, each `whsec_` and 24 to 64 bytes in base64. While a key is replaced there are
 * two, and each signs. Returns undefined if the secret is missing or has an invalid key.
 */
export const readWebhookKeys = (secret = ''): WebhookKey[] | undefined => {
  const keys = secret.split(/\s+/).filter(Boolean).map(readKey)
  return keys.length > 0 && keys.every(key => key !== undefined) ? keys : undefined
}

const readKey = (text: string): WebhookKey | undefined => {
  const [, base64] = /^whsec_((?:[\w+/]{4})*(?:[\w+/]{2}==|[\w+/]{3}=)?)$/.exec(text) ?? []
  if (base64 === undefined || base64.includes('_')) return undefined
  const key = Uint8Array.from(atob(base64), character => character.charCodeAt(0))
  return key.byteLength >= MIN_KEY_BYTES && key.byteLength <= MAX_KEY_BYTES ? key : undefined
}

/** A message of Standard Webhooks before it is signed. */
type WebhookMessage = { id: string; body: string }

/** Writes a change as a message, with the same id in each attempt. `feed` distinguishes this host from others. */
export const toWebhookMessage = (change: StoredChange, feed: string): WebhookMessage => {
  const { kind, publicKind, number } = change
  const isPublic = publicKind === 'registered' || publicKind === 'changed'
  const { time, ...data } = toEventData(change)
  const body = { type: `agent.${kind}`, timestamp: time, data: { ...data, public: isPublic } }
  return { id: `msg_${feed}_${number}`, body: JSON.stringify(body) }
}

/** Signs an attempt at `now`, in ms since 1970, with each key (Standard Webhooks, version 1). Returns its headers. */
export const signWebhook = async ({ id, body }: WebhookMessage, keys: readonly WebhookKey[], now: number) => {
  const timestamp = String(Math.floor(now / 1000))
  const content = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  const signatures = await Promise.all(keys.map(key => sign(key, content)))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.map(signature => `v1,${signature}`).join(' '),
  }
}

const sign = async (key: WebhookKey, content: Uint8Array): Promise<string> => {
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const signature = new Uint8Array(await crypto.subtle.sign('HMAC', imported, content))
  return btoa(String.fromCharCode(...signature))
}

/** The pauses before the attempts that follow the first; the last one is repeated. */
const RETRY_SECONDS = [5, 30, 120, 300, 900, 1800, 3600] as const
const MAX_RETRY_SECONDS = 3600

/** Returns the pause after `attempts` failed ones, in ms. A receiver may ask for a longer one with `Retry-After`. */
export const retryDelay = (attempts: number, retryAfter: string | null = null): number => {
  const seconds = RETRY_SECONDS[Math.min(attempts, RETRY_SECONDS.length) - 1] ?? MAX_RETRY_SECONDS
  const requested = retryAfter !== null && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : 0
  return 1000 * Math.max(seconds, Math.min(requested, MAX_RETRY_SECONDS))
}
