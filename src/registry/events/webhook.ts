import type { StoredChange } from '../records.ts'
import { toEventData } from './changes.ts'

/** The sizes of a key that Standard Webhooks allows. */
const MIN_KEY_BYTES = 24
const MAX_KEY_BYTES = 64

/**
 * Reads the keys in `WEBHOOK_SECRET`, each `whsec_` and 24 to 64 bytes in base64. While a key is replaced there are two, and each signs.
 * Returns undefined if the secret is missing or has an invalid key.
 */
export const readWebhookKeys = (secret = ''): Uint8Array<ArrayBuffer>[] | undefined => {
  const keys = secret.split(/\s+/).filter(Boolean).map(readKey)
  return keys.length > 0 && keys.every(key => key !== undefined) ? keys : undefined
}

const readKey = (text: string): Uint8Array<ArrayBuffer> | undefined => {
  const [, base64] = /^whsec_((?:[\w+/]{4})*(?:[\w+/]{2}==|[\w+/]{3}=)?)$/.exec(text) ?? []
  if (base64 === undefined || base64.includes('_')) return undefined
  const key = Uint8Array.from(atob(base64), character => character.charCodeAt(0))
  return key.byteLength >= MIN_KEY_BYTES && key.byteLength <= MAX_KEY_BYTES ? key : undefined
}

/** A message of Standard Webhooks before it is signed. */
export type WebhookMessage = { id: string; body: string }

/** Writes a change as a message, whose id stays the same in each attempt. `feed` distinguishes this host from others. */
export const toWebhookMessage = (change: StoredChange, feed: string): WebhookMessage => {
  const { kind, publicKind, number, ...rest } = change
  const isPublic = publicKind === 'registered' || publicKind === 'changed'
  const { time, ...data } = toEventData({ ...rest, event: kind })
  return {
    id: `msg_${feed}_${number}`,
    body: JSON.stringify({
      type: `agent.${kind}`,
      timestamp: time,
      data: { ...data, public: isPublic },
    }),
  }
}

/** Returns the headers of an attempt at `now`, in ms since 1970: one signature for each key (Standard Webhooks, version 1). */
export const signWebhook = async (
  { id, body }: WebhookMessage,
  keys: readonly Uint8Array<ArrayBuffer>[],
  now: number,
): Promise<Record<string, string>> => {
  const timestamp = String(Math.floor(now / 1000))
  const content = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  const signatures = await Promise.all(keys.map(key => sign(key, content)))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.map(signature => `v1,${signature}`).join(' '),
  }
}

const sign = async (key: Uint8Array<ArrayBuffer>, content: Uint8Array): Promise<string> => {
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
