import * as v from 'valibot'
import type { Drift } from '../card/diff/index.ts'
import type { Source } from '../card/manifest/index.ts'
import { Finding, type PayloadRule } from '../card/model/index.ts'
import type { PublicKey } from '../card/signatures/index.ts'

const text = v.string()

/** The reason why a remote card could not be fetched or served. */
export const SourceFailure = v.object({
  /** The status that clients get when no card is left to serve. */
  status: v.picklist([502, 503, 504], 'must be 502, 503 or 504'),
  /** For the owner. A blocked address is `unreachable` too, so that nobody can probe networks with it. */
  code: v.picklist(['unreachable', 'timeout', 'invalid-card', 'not-ready', 'unverified']),
  /** For the owner. */
  message: text,
  /** Errors in the card, with pointers into it. */
  errors: v.exactOptional(v.array(Finding)),
})
export type SourceFailure = v.InferOutput<typeof SourceFailure>

const headerValue = v.pipe(text, v.regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be the value of a header'))

/** The validators for a conditional request for a card (RFC 9110 §13.1). */
export const Validators = v.object({ etag: v.exactOptional(headerValue), lastModified: v.exactOptional(headerValue) })
export type Validators = v.InferOutput<typeof Validators>

/** The result of verifying the signatures of a fetched card at `at`, in ms since 1970. */
export type CardVerification = {
  at: number
  /** The keys that signed the first card, by their thumbprints: with `keys: first-use`, no others are trusted. */
  pinned?: string[]
} & (
  | { verified: true; rule: PayloadRule; key: Pick<PublicKey, 'kid' | 'thumbprint' | 'from'> }
  /** `accepted`: an owner has accepted the card as it is. The reason is a sentence. */
  | { verified: false; reason: string; accepted?: true }
)

/** The stored state of the upstream of a remote card. */
export type SourceRecord = {
  source: Source
  /** Absent where signatures are not verified. */
  verification?: CardVerification
  /** The document that the served card is made from, as JSON text; absent while none was ever fetched. */
  card?: string
  validators?: Validators
  /** When the upstream last confirmed that document, in ms since 1970. */
  checked?: number
  /** Set where the last attempt failed. */
  failure?: SourceFailure
  pending?: PendingCard
  /** The parts of the source that the card leaves out; reported, not stored. */
  notes?: Finding[]
  /** The differences from the document before; stored with the revision. */
  drift?: Drift
  /** The cause of the newest revision: a registration of the manifest, or a refresh. */
  by: 'manifest' | 'fetch'
}

/**
 * A fetched card that waits for an owner to accept it by its entity tag, because it widens access or is not verified:
 * `widens` has the reasons. `card` is its JSON text, `drift` has the differences from the document that is served.
 */
export type PendingCard = {
  etag: string
  card: string
  validators: Validators
  widens: Finding[]
  drift: Drift
  verification?: CardVerification
}

/**
 * Result of a refresh that brings no new card to serve. `unchanged`: the upstream confirmed the served card, and a
 * pending one is obsolete. `pending`: the upstream has another card, which waits for the owner.
 */
export type RefreshWithoutCard =
  | { unchanged: true; validators?: Validators; verification?: CardVerification }
  | { failure: SourceFailure }
  | { pending: PendingCard }

/**
 * The health of a remote card's upstream, as the edge knows it. `checked` is when the card was last confirmed, in ms
 * since 1970; 0 for never. Successful checks are not republished, so it may be old while `failing` is unset. `failing`
 * is the status that clients get once the card has expired.
 */
export type SourceHealth = {
  checked: number
  /** In seconds. */
  ttl: number
  staleIfError: number
  failing?: 502 | 503 | 504
}

/** The health that was last published to the edge, and its `seq`: that of the newest revision, or a later one. */
export type PublishedHealth = { seq: number; health: SourceHealth }

/** The state of a remote card as its owner sees it. `seq` is the newest revision. Times are in ms since 1970. */
export type SourceState = Pick<Source, 'kind' | 'url' | 'ttl' | 'staleIfError' | 'pin'> &
  Pick<SourceRecord, 'checked' | 'verification'> & {
    seq: number
    publishedHealth: PublishedHealth
    due: number
    verify?: NonNullable<Source['verification']>['policy']
    failing?: SourceFailure & { since: number }
    pending?: Omit<PendingCard, 'card'>
  }
