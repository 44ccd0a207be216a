import * as v from 'valibot'

/** The `typ` of the signature of a receipt (RFC 8725 §3.11), which no other signature of this host has. */
export const RECEIPT_TYPE = 'calling-card-receipt+jws'

/** One test of a check. No member has a text of the agent. */
export const ReceiptTest = v.object({
  /** The name is stable. */
  id: v.string(),
  title: v.string(),
  through: v.picklist(['gate', 'direct']),
  /** The binding and version of the call, such as `JSONRPC 1.0`. Absent for the card itself. */
  protocol: v.optional(v.string()),
  /** The claim of the card, or the requirement of A2A. */
  claimed: v.string(),
  /** The response. Absent if nothing was sent. */
  happened: v.optional(v.string()),
  result: v.picklist(['passed', 'failed', 'skipped']),
  /** The reason why the test failed or was skipped. */
  reason: v.optional(v.string()),
})
export type ReceiptTest = v.InferOutput<typeof ReceiptTest>

const count = v.pipe(v.number(), v.integer(), v.minValue(0))

/** The result of a check of an agent by the host at an origin. */
export const Receipt = v.object({
  /** The id of the agent. */
  agent: v.string(),
  /** The version and the entity tag of the card that was checked. */
  card: v.object({ version: v.string(), etag: v.string() }),
  /** The time, as ISO 8601. */
  checked: v.string(),
  host: v.string(),
  /** Whether a message was sent. */
  send: v.boolean(),
  summary: v.object({ passed: count, failed: count, skipped: count }),
  tests: v.array(ReceiptTest),
})
export type Receipt = v.InferOutput<typeof Receipt>

/** A receipt as it is stored: with its signature, or why it has none. */
export const StoredReceipt = v.object({
  receipt: Receipt,
  /** A compact JWS with a detached payload (RFC 7515, appendix F): the receipt in the canonical form of RFC 8785. */
  signature: v.optional(v.string()),
  unsigned: v.optional(v.string()),
})
export type StoredReceipt = v.InferOutput<typeof StoredReceipt>

/** A receipt as it is served. */
export const ServedReceipt = v.object({
  ...StoredReceipt.entries,
  /** Whether the card is still the one that was checked. */
  current: v.boolean(),
})
export type ServedReceipt = v.InferOutput<typeof ServedReceipt>

const DAY_MS = 86_400_000

/** Returns how long ago a check was made, in whole days, in words. */
export const describeAge = (checked: string, now: number): string => {
  const days = Math.max(0, Math.floor(now / DAY_MS) - Math.floor(Date.parse(checked) / DAY_MS))
  if (days === 0) return 'today'
  return days === 1 ? 'yesterday' : `${days} days ago`
}
