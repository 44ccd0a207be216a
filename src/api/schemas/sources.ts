import * as v from 'valibot'
import { json, payloadRules, strictObject } from '../../card/model/index.ts'
import type { PendingCard, SourceRecord, SourceState as StoredState } from '../../registry/shared.ts'
import { SourceFailure } from '../../registry/shared.ts'
import { count, Finding, flag, id, list, oneOf, Pointer, seq, text, time, toTime, url } from './parts.ts'

export const Drift = list(
  v.object({
    op: v.picklist(['add', 'remove', 'replace', 'more']),
    pointer: Pointer,
    ...{ before: v.optional(json), after: v.optional(json) },
    omitted: v.optional(list(v.picklist(['before', 'after']), 'Values that are not shown.')),
    count: v.optional(count('With `more`, how many differences are left out.')),
  }),
  'The differences of two documents.',
)

export const Pending = v.object({
  etag: v.pipe(v.string(), v.regex(/^"[\w-]*"$/), v.description('What `accept` of a refresh names.')),
  widens: list(Finding, 'Why it waits: what it would allow that the served card does not, or why it is not verified.'),
  drift: Drift,
})

const verification = v.object({
  at: time('When the signatures were verified.'),
  verified: flag('Whether one of them is valid, by a key of `upstream.keys`.'),
  rule: v.optional(oneOf(payloadRules, 'What the signature covers.')),
  key: v.optional(
    v.object({
      kid: text('The name of the key in the signature.'),
      thumbprint: text('The key itself (RFC 7638).'),
      from: text('Where it is from: `manifest`, a URL or a DID.'),
    }),
  ),
  reason: v.optional(text('Why none is valid.')),
  accepted: v.optional(flag('Whether an owner has accepted the card as it is.')),
  pinned: v.optional(list(v.string(), 'With `keys: first-use`, the thumbprints of the keys that may sign the card.')),
})

const source = {
  kind: oneOf(['card', 'mcp'], 'What is fetched: a card, or the lists of an MCP server.'),
  url: url('Where it is fetched from.'),
  state: v.picklist(['fresh', 'stale', 'no-card', 'pending']),
  checked: v.optional(time('When the upstream last confirmed the card.')),
  verify: v.optional(oneOf(['warn', 'require'], 'What happens to a card that is not verified.')),
  verification: v.optional(verification),
  pending: v.optional(Pending),
}

/** The source of a card in the receipt of its registration. */
export const registeredSource = v.object({
  ...source,
  failure: v.optional(SourceFailure),
  drift: v.optional(Drift),
  notes: v.optional(v.array(Finding)),
})

export const SourceState = v.object({
  ...source,
  ttl: count('Seconds for which the card is fresh.'),
  staleIfError: count('Seconds for which it is served after that, while its upstream fails.'),
  pin: flag('Whether a card that widens access waits until it is accepted.'),
  due: time('When the card is fetched again.'),
  failure: v.optional(v.object({ ...SourceFailure.entries, since: time('Since when the upstream fails.') })),
})

type SourceState = v.InferOutput<typeof SourceState>

export const Source = v.object({ id, source: SourceState })

/** The body of `POST /agents/{id}/refresh`, if there is one: the entity tag of the pending card to accept. */
export const RefreshRequest = strictObject({ accept: v.optional(v.string()) })

export const RefreshResult = v.object({
  id,
  outcome: v.picklist(['refreshed', 'unchanged', 'pending']),
  seq: v.optional(seq),
  published: v.optional(flag('Whether every location serves it. If not, the host retries.')),
  drift: v.optional(Drift),
  notes: v.optional(v.array(Finding)),
  pending: v.optional(Pending),
  source: SourceState,
})

/** Returns the source of a card for the receipt of its registration. */
export const toRegisteredSource = (record: SourceRecord): v.InferOutput<typeof registeredSource> => {
  const { source, card, failure, drift = [], notes = [] } = record
  const { kind, url, verification } = source
  return {
    ...{ kind, url },
    ...toStatus(record, failure !== undefined, card !== undefined),
    ...(verification && { verify: verification.policy }),
    ...(failure && { failure }),
    ...(drift.length > 0 && { drift }),
    ...(notes.length > 0 && { notes: notes.slice(0, 100) }),
  }
}

/** Returns the state of a source. */
export const toSourceState = ({ due, failing, ...stored }: StoredState): SourceState => {
  const { kind, url, ttl, staleIfError, pin, verify } = stored
  return {
    ...{ kind, url, ttl, staleIfError, pin, due: toTime(due) },
    ...toStatus(stored, failing !== undefined, stored.checked !== undefined),
    ...(verify && { verify }),
    ...(failing && { failure: { ...failing, since: toTime(failing.since) } }),
  }
}

const toStatus = (
  { checked, verification, pending }: Pick<StoredState, 'checked' | 'verification' | 'pending'>,
  isFailing: boolean,
  hasCard: boolean,
): Pick<SourceState, 'state' | 'checked' | 'verification' | 'pending'> => ({
  state: isFailing ? (hasCard ? 'stale' : 'no-card') : pending ? 'pending' : 'fresh',
  ...(checked !== undefined && { checked: toTime(checked) }),
  ...(verification && { verification: { ...verification, at: toTime(verification.at) } }),
  ...(pending && { pending: toPending(pending) }),
})

/** Returns a card that waits for its owner, without the card itself. */
export const toPending = ({ etag, widens, drift }: Omit<PendingCard, 'card'>) => ({ etag, widens, drift })
