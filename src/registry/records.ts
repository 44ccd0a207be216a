import type { Drift } from '../card/diff/drift.ts'
import type { Source } from '../card/manifest/upstream.ts'
import type { RepresentationName, Scope } from '../card/model/constants.ts'
import type { CardError, Note } from '../card/model/report.ts'
import type { Precondition } from '../http/conditional.ts'
import type { Representation, SourceHealth } from './kv-format.ts'

/** Why a card could not be had. */
export type SourceFailure = {
  /** What a client is told that asks for a card of which none is left. */
  status: 502 | 503 | 504
  /** One word for each kind, for the owner. What this host does not call is `unreachable` too: nobody can probe with it. */
  code: 'unreachable' | 'timeout' | 'invalid-card' | 'not-ready'
  /** What the owner is told. */
  message: string
  /** Where the card is wrong: pointers into it. */
  errors?: CardError[]
}

/** By what an upstream is asked whether its card has changed (RFC 9110 §13.1). */
export type Validators = { etag?: string; lastModified?: string }

/** What is kept of the source of an agent's card. */
export type SourceRecord = {
  source: Source
  /** The document as it was fetched, as JSON text; absent where there never was one. */
  card?: string
  validators?: Validators
  /** When that was last known to be what the source says, in ms since 1970. */
  checked?: number
  /** Why it could not be read the last time. */
  failure?: SourceFailure
  held?: PendingCard
  /** What of the source the card leaves out: told, and not kept. */
  notes?: Note[]
  /** What differs from what was fetched before. It is kept with the revision. */
  drift?: Drift
  /** Who made the newest revision: a registration of the manifest, or a refresh. */
  by: 'manifest' | 'fetch'
}

/**
 * A fetched card that widens access, kept until an owner accepts it. `card` is its JSON text, `drift` what differs from what is
 * served.
 */
export type PendingCard = { etag: string; card: string; validators: Validators; widens: CardError[]; drift: Drift }

/** The right to refresh a card, for a while, and all that it takes. */
export type Leased = {
  outcome: 'leased'
  /** By what the lease is given back. */
  lease: string
  /** The manifest as it was registered, as JSON text, and its entity tag. */
  manifest: string
  manifestEtag: string
  origin: string
  /** The agent's newest revision: the refresh is of that, and of no later one. */
  seq: number
  record: SourceRecord
}

/** Why there is nothing to refresh: not before `due` (ms since 1970), somebody is at it, or there is no agent with a source. */
export type NotLeased = { outcome: 'fresh'; due: number } | { outcome: 'busy' } | { outcome: 'none' }

/** What the edge is told of a source, and the number of that: of the newest revision, or a later one. */
export type PublishedHealth = { seq: number; health: SourceHealth }

/** What of a source the edge is to know. */
export const healthOf = ({
  source: { ttl, staleIfError },
  checked = 0,
  failure,
}: Pick<SourceRecord, 'source' | 'checked' | 'failure'>): SourceHealth => ({
  checked,
  ttl,
  staleIfError,
  ...(failure && { failing: failure.status }),
})

/**
 * What a list of agents tells of one. `url` is the agent's preferred endpoint. Agents that an older host registered lack what
 * lists of SuperX and Shaman tell besides: the protocol, and the endpoint that Shaman's readers are sent to.
 */
export type Summary = {
  name: string
  description: string
  version: string
  url: string
  /** `a2a`, or `mcp` where the card is made of an MCP server. */
  protocol?: string
  shaman?: { url: string; preferredTransport: string }
}

/** A registration, compiled and hashed: all that is left is to keep and publish it. */
export type Registration = {
  id: string
  /** The manifest as JSON text, and its entity tag. */
  manifest: string
  manifestEtag: string
  visibility: 'public' | 'internal'
  hosts: readonly string[]
  origin: string
  summary: Summary
  /** None where the card is to come from elsewhere and never has. */
  representations: Partial<Record<RepresentationName, Representation>>
  /** The CallProfile as JSON. It is published beside the representations, and served to nobody. */
  profile: Representation
  /** The extended cards, the lowest tier first. */
  extended: Extended[]
  condition: Precondition
  /** Where the card comes from, if it is from elsewhere. */
  source?: SourceRecord
  /** When the source's answer was kept that this was made beside, if one was: where another has come since, it is too late. */
  beside?: { checked: number | undefined }
  /** What a refresh was made of, and under which lease: of another newest revision, or lease, it is too late. */
  refreshed?: { seq: number; lease: string }
}

/** What a write did to host names: those that are the agent's now, and every change of holder, to be published. */
export type HostChanges = { hosts: string[]; changed: HostChange[]; becameRoot: boolean }

/** Whose a host name is now, or null. `seq` orders the changes of one name. */
export type HostChange = { hostname: string; id: string | null; seq: number }

/** What came of a registration. */
export type Registered = {
  outcome: 'registered'
  seq: number
  /** In ms since 1970. */
  modified: number
  created: boolean
  /** False where the registration said what is registered already: then there is no new revision. */
  revised: boolean
  /** False where KV could not be written yet; the Registry goes on trying. */
  published: boolean
  /** The tiers of which there is an extended card no more. */
  tiersGone: string[]
  /** What the edge is told of the card's source. */
  told?: PublishedHealth
} & HostChanges

/** What came of a removal. */
export type Removed = {
  outcome: 'removed'
  seq: number
  published: boolean
  changed: HostChange[]
  tiersGone: string[]
}

/** Why a write was not made: nothing was changed. */
export type Rejection =
  | { outcome: 'precondition-failed'; exists: boolean }
  | { outcome: 'host-taken'; hostname: string; holder: string }
  | { outcome: 'host-not-held'; hostname: string }
  | { outcome: 'unknown-agent' }
  /** The source of the card was read by somebody else meanwhile. */
  | { outcome: 'overtaken' }

/**
 * What came of a write in the Registry's tables: nothing but why not, or what was made and the keys of KV to be published now.
 * Of those, KV is `owed` what the write changed; that the others are published too heals what failed before.
 */
export type Written<Made, Refused> =
  | { refused: Refused }
  | { made: Made; owed: readonly string[]; publish: readonly string[] }

/**
 * What came of a refresh that brought no new card to serve. `unchanged`: the card that is served is the source's (one that is
 * held is so no more). `held`: the source has another, which waits for its owner.
 */
export type RefreshResult =
  | { unchanged: true; validators?: Validators }
  | { failure: SourceFailure }
  | { held: PendingCard }

/** How the source of an agent's card stands, as its owner is told. Times are in ms since 1970. */
export type SourceState = Pick<Source, 'kind' | 'url' | 'ttl' | 'staleIfError' | 'pin'> & {
  /** When the card was last known to be the source's; absent where there never was one. */
  checked?: number
  /** From when it is asked again by itself. */
  due: number
  failing?: SourceFailure & { since: number }
  held?: Omit<PendingCard, 'card'>
  /** The `seq` of the agent's newest revision. */
  seq: number
  told: PublishedHealth
}

/** A token as the Registry and KV know it: never the token itself. `expires` and `created` in ms since 1970. */
export type TokenRecord = {
  id: string
  /** For people: whose it is, what it is for. */
  note: string
  scopes: Scope[]
  /** Globs of agents' ids. */
  agents: string[]
  tiers: string[]
  created: number
  expires: number | null
}

/** Whether a card's source fails, and the card is older than it counts as fresh. Nobody is told how old a card is that is well. */
export const isStale = ({ failing, checked, ttl }: SourceHealth): boolean =>
  failing !== undefined && ageOf(checked) > ttl

/** Whether a card's source has failed for so long that the card counts as gone. */
export const isExpired = ({ failing, checked, ttl, staleIfError }: SourceHealth): boolean =>
  failing !== undefined && ageOf(checked) > ttl + staleIfError

/** What is said of a card that is stale (RFC 9111 §5.1, RFC 7234 §5.5). */
export const staleHeaders = ({ checked }: SourceHealth): Record<string, string> => ({
  Age: String(ageOf(checked)),
  Warning: '110 - "Response is Stale", 111 - "Revalidation Failed"',
})

/** In whole seconds. */
const ageOf = (checked: number): number => Math.floor((Date.now() - checked) / 1000)

/** The extended card of one tier, hashed. */
export type Extended = { tier: string; representations: Record<RepresentationName, Representation> }
