import * as v from 'valibot'
import type { ChangeClass, Drift } from '../card/diff/index.ts'
import type { Source } from '../card/manifest/index.ts'
import type { CardError, Note, RepresentationName } from '../card/model/index.ts'
import type { PayloadRule, PublicKey } from '../card/signatures/index.ts'
import type { Precondition } from '../http/index.ts'
import type { Representation } from './kv-format.ts'
import type { SourceHealth } from './staleness.ts'

/** A manifest compiled and hashed, ready to be stored and published. */
export type Registration = {
  id: string
  /** The manifest as JSON text, and its entity tag. */
  manifest: string
  manifestEtag: string
  visibility: 'public' | 'internal'
  /** The set of agents that the manifest names; undefined for none. */
  set: string | undefined
  hosts: readonly string[]
  /** The origin that absolute URLs of this host start with. */
  origin: string
  summary: Summary
  search: SearchFields
  /** The canonical card as it is served, as JSON text: history compares it. Absent while a remote card has never been fetched. */
  card?: string
  /** Empty while a remote card has never been fetched. */
  representations: Partial<Record<RepresentationName, Representation>>
  /** How the documents are signed; absent while a remote card has never been fetched. */
  signing?: StoredSigning
  /** The CallProfile as JSON. It is published next to the representations and never served. */
  profile: Representation
  /** The extended cards, the lowest tier first. */
  extended: Extended[]
  /** The write is rejected unless this still describes what is stored. */
  expected: Expected
  /** Who writes: `admin`, the id of a token, or `host` for a refresh that nobody requested. */
  actor: string
  /** Absent for a registration that is just that. */
  cause?: WriteCause
  /** How what clients see differs from before; absent for a new agent, and where nothing can be compared. */
  changeClass?: ChangeClass
  /** Set for an agent with a remote card. */
  source?: SourceRecord
}

/**
 * The signatures of this host in an agent's documents, by the digest of what each signs, and the name of the keys with which it was decided
 * how they are signed: `nameSigners` of src/signing.
 */
export type StoredSigning = { signers: string; signatures: Readonly<Record<string, string>> }

/** How many agents wait for being signed again, and when other keys last began to sign an agent, in ms since 1970; 0 for never. */
export type SigningState = { unsigned: number; resigned: number }

/** What a write did besides replacing the agent: it accepted a pending card by its entity tag, or restored the revision `seq`. */
export type WriteCause = { accepted: string } | { restored: number }

/** What a change does to an agent. */
export type ChangeKind = 'registered' | 'changed' | 'removed'

/** A change as it is stored, at `at` in ms since 1970. `publicKind` is what it is for those who see public agents only; absent for nothing. */
export type StoredChange = {
  number: number
  id: string
  seq: number
  kind: ChangeKind
  publicKind?: ChangeKind
  class?: ChangeClass
  at: number
}

/**
 * The state of the webhook: how many changes wait for it, null if that is unknown; and since when its receiver fails, in ms since 1970,
 * null if it does not.
 */
export type WebhookHealth = { pending: number | null; failingSince: number | null }

/** Who makes a write, and what it expects to be stored. */
export type WriteTerms = Pick<Registration, 'actor' | 'expected' | 'cause' | 'changeClass'>

/**
 * What a write expects to be stored (optimistic concurrency): the client's precondition, and what the write was computed from.
 * `seq` is the agent's newest revision, null for no agent; `checked` is that of its source record, null where it has none.
 */
export type Expected = Precondition & { seq?: number | null; checked?: number | null }

const text = v.string()

/** What lists show of an agent. `url` is its preferred endpoint; `protocol` is `mcp` where the card is made from an MCP server. */
export const Summary = v.object({
  ...{ name: text, description: text, version: text, url: text, protocol: text },
  documentationUrl: v.exactOptional(text),
  /** The endpoint in the list for Shaman's clients. */
  shaman: v.object({ url: text, preferredTransport: text }),
})
export type Summary = v.InferOutput<typeof Summary>

/**
 * What agents are found and filtered by, besides their names and descriptions: from the public card, each value once. `capabilities`
 * are the flags that are true and the URIs of extensions; `examples` the first few of all skills.
 */
export const SearchFields = v.object({
  /** The organization; empty for none. */
  provider: text,
  ...{ skillIds: v.array(text), skillNames: v.array(text), tags: v.array(text), examples: v.array(text) },
  ...{ capabilities: v.array(text), inputModes: v.array(text), outputModes: v.array(text) },
  protocolVersions: v.array(text),
  /** Whether a document of the card has signatures of its author. A search adds those of this host. */
  signed: v.boolean(),
  /** The descriptions and examples of the skills, for the full-text index only. */
  text,
})
export type SearchFields = v.InferOutput<typeof SearchFields>

/** One agent in a list. Its set is only for callers who may read or write the agent. */
export type ListedAgent = Summary & {
  id: string
  origin: string
  visibility: string
  set?: string
  manifestEtag?: string
}

/**
 * A page of a list: agents whose ids follow `after`, in the order of their ids, at most `limit`. These are the agents whose ids match
 * one of the globs in `covered` and, unless the list is that of a `set` or `onlyCovered`, the public ones; with `ids`, only agents with one of these.
 * Agents that match one of the globs in `writable` have the entity tags of their manifests.
 */
export type ListQuery = {
  after: string
  limit: number
  covered: readonly string[]
  set?: string
  ids?: readonly string[]
  writable?: readonly string[]
  onlyCovered?: boolean
}

/** What agents can be filtered by, and counted. */
export type FilterName = 'tag' | 'skill' | 'capability' | 'inputMode' | 'outputMode' | 'provider' | 'protocolVersion'

/** Matches agents that have one of these values, in lower case, or one that begins with `prefix`. */
export type Filter = { name: FilterName; values: readonly string[]; prefix?: string }

/** An agent in a ranking, by the number of its document in the index. */
export type RankedAgent = { number: number; score: number }

/**
 * A page of a search: agents that match one of the FTS5 expressions in `matches` and every filter, as far as `covered` and `set` of a
 * list allow. The last expression includes the others; agents that match an earlier one rank first. Without expressions, those whose
 * numbers follow `after`. `order` is the rest of a ranking.
 */
export type SearchQuery = Omit<ListQuery, 'after'> & {
  after: number
  matches?: readonly string[]
  filters: readonly Filter[]
  facets: readonly FilterName[]
  order?: readonly RankedAgent[]
}

/** One agent that was found. The higher the score, the better it matches; a search without words has none. */
export type SearchHit = ListedAgent & Pick<SearchFields, ShownField> & { score?: number }

/** What a search shows of each agent, besides what every list does. */
type ShownField = 'skillIds' | 'tags' | 'provider' | 'capabilities' | 'protocolVersions' | 'signed'

/**
 * A page of a search. The next one has the agents of `rest`, or those after the number `after` if there is no ranking. `isApproximate`
 * where more agents match than the facets count.
 */
export type SearchResult = {
  agents: SearchHit[]
  isLast: boolean
  rest: RankedAgent[]
  after: number
  facets?: Partial<Record<FilterName, FacetValue[]>>
  isApproximate?: boolean
}

/** A value, and how many of the agents have it. */
export type FacetValue = { value: string; count: number }

/**
 * An agent in a catalog: what lists show of it, when it changed in ms since 1970, what it is found by, and whether its public card has
 * signatures of this host.
 */
export type CatalogAgent = Summary &
  Pick<SearchFields, 'skillIds' | 'tags' | 'examples'> & {
    id: string
    origin: string
    modified: number
    isSignedByHost: boolean
  }

/**
 * A page of a catalog: public agents with a card whose ids follow `after`, in the order of their ids, at most `limit`. With an
 * `owner`, only that agent and those whose URLs begin with `origin`.
 */
export type CatalogQuery = { after: string; limit: number; origin: string; owner?: string }

/** A page of a catalog, and whether the URLs of any public agent begin with the origin of the query. */
export type CatalogPage = { agents: CatalogAgent[]; isKnownOrigin: boolean }

/**
 * A sitemap of the public agents with a card whose URLs begin with `origin`, at most `size` in a document; or one `page` of it, from 1.
 */
export type SitemapQuery = { origin: string; page?: number | undefined; size: number }

/** The agents of a document, `modified` in ms since 1970; or into how many pages a sitemap is divided that is too large for one. */
export type Sitemap = { agents: { id: string; modified: number }[] } | { pages: number }

/** The agents of a name or an id: the public one, and the internal ones that take precedence over it. */
export type NamedAgents = { public: string | null; internal: string[] }

/** The secrets and service bindings that manifests name, each combination once. */
export type UpstreamBindings = { secret?: string; service?: string }[]

/**
 * The state of the Registry: how many keys could not be published so far, and when the oldest card that is stale because its upstream
 * fails was last confirmed, in ms since 1970; for a card that was never fetched, since when its upstream fails. Null for none.
 */
export type RegistryHealth = { unpublished: number; oldestStaleCard: number | null }

/**
 * The manifest of an agent as it was registered with the revision `seq`, its entity tag, and the origin of absolute
 * URLs at that time.
 */
export type StoredManifest = { seq: number; manifest: string; etag: string; modified: number; origin: string }

/** A document of an agent; without `etag` and `bytes` while its remote card has never been fetched. */
export type StoredDocument =
  | (Representation & { modified: number; source?: SourceHealth })
  | { etag?: never; source: SourceHealth }

/** One revision in an agent's history; `created` is in ms since 1970. */
export type RevisionRow = {
  seq: number
  created: number
  by: 'manifest' | 'fetch' | 'removal'
  /** `admin`, the id of a token, or `host` for a refresh by the host itself. */
  author: string
  /** How it differs for clients from the one before. */
  class?: ChangeClass
  /** How the fetched document differs from the one before. */
  drift?: Drift
}

/**
 * One revision with what was registered and what was served, as JSON texts: the canonical card and those of the tiers, the base tier first.
 * A removal has neither, and no card is stored while a remote one has never been fetched.
 */
export type StoredRevision = RevisionRow & {
  origin?: string
  manifest?: string
  card?: string
  tiers: { tier: string; card: string }[]
  /** Signatures of this host in the documents of the newest revision, by their digests. */
  signatures?: Readonly<Record<string, string>>
}

/** The extended card of one tier, hashed; `card` is the canonical one as JSON text. */
export type Extended = { tier: string; card: string; representations: Record<RepresentationName, Representation> }

/** The host names that are an agent's after a write, and those that changed hands. */
export type HostChanges = { hosts: string[]; changed: HostChange[]; becameRoot: boolean }

/** The new owner of a host name; null for none. `seq` orders the changes of one name. */
export type HostChange = { hostname: string; id: string | null; seq: number }

/** Result of a registration that was stored. */
export type Registered = {
  outcome: 'registered'
  seq: number
  /** Orders what is published of the agent: `seq`, or the later number of its health or its signatures. */
  publishedSeq: number
  /** In ms since 1970. */
  modified: number
  created: boolean
  /** False where the registration equals what was stored: no new revision was made. */
  revised: boolean
  /** False while KV has not been written; the Registry keeps retrying. */
  published: boolean
  /** Tiers that no longer have an extended card. */
  removedTiers: string[]
  /** Set for an agent with a remote card. */
  publishedHealth?: PublishedHealth
} & HostChanges

/** Result of a removal. */
export type Removed = {
  outcome: 'removed'
  seq: number
  published: boolean
  changed: HostChange[]
  removedTiers: string[]
}

/** Why a write was rejected; nothing was changed. */
export type WriteRejection =
  | { outcome: 'precondition-failed'; exists: boolean }
  | { outcome: 'host-taken'; hostname: string; owner: string }
  | { outcome: 'host-not-owned'; hostname: string }
  | { outcome: 'unknown-agent' }
  /** The agent or its source record changed since the write was computed. */
  | { outcome: 'conflict' }

/** Result of one registration of several; `withdrawn` because another of them was rejected, and all or none were to be stored. */
export type BatchResult = Registered | WriteRejection | { outcome: 'withdrawn' }

/**
 * Result of a write to the Registry's tables. `staleKeys` changed and stay in the outbox until they are published; `publishKeys`
 * are published now, which also repairs earlier failures.
 */
export type WriteResult<Value, Failure> =
  | { error: Failure }
  | { value: Value; staleKeys: readonly string[]; publishKeys: readonly string[] }

/** Why a remote card could not be fetched or served. */
export const SourceFailure = v.object({
  /** The status that clients get when no card is left to serve. */
  status: v.picklist([502, 503, 504], 'must be 502, 503 or 504'),
  /** For the owner. An address that this host refuses to call is `unreachable` too, so that nobody can probe networks with it. */
  code: v.picklist(['unreachable', 'timeout', 'invalid-card', 'not-ready', 'unverified']),
  /** For the owner. */
  message: text,
  /** Errors in the card, with pointers into it. */
  errors: v.exactOptional(v.array(v.object({ pointer: text, message: text }))),
})
export type SourceFailure = v.InferOutput<typeof SourceFailure>

const headerValue = v.pipe(text, v.regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be the value of a header'))

/** What a conditional request for a card is made with (RFC 9110 §13.1). */
export const Validators = v.object({ etag: v.exactOptional(headerValue), lastModified: v.exactOptional(headerValue) })
export type Validators = v.InferOutput<typeof Validators>

/** What the signatures of a fetched card have shown at `at`, in ms since 1970. */
export type CardVerification = {
  at: number
  /** The keys that signed the first card, by their thumbprints: with `keys: first-use`, no others are trusted. */
  pinned?: string[]
} & (
  | { verified: true; rule: PayloadRule; key: Pick<PublicKey, 'kid' | 'thumbprint' | 'from'> }
  /** `accepted`: an owner has accepted the card as it is. The reason is a sentence. */
  | { verified: false; reason: string; accepted?: true }
)

/** What is stored about the upstream of a remote card. */
export type SourceRecord = {
  source: Source
  /** What the signatures of that document have shown; absent where they are not verified. */
  verification?: CardVerification
  /** The document that the served card is made from, as JSON text; absent while none was ever fetched. */
  card?: string
  validators?: Validators
  /** When the upstream last confirmed that document, in ms since 1970. */
  checked?: number
  /** Why the last attempt failed. */
  failure?: SourceFailure
  pending?: PendingCard
  /** What the card leaves out of the source; reported, not stored. */
  notes?: Note[]
  /** How the document differs from the one before; stored with the revision. */
  drift?: Drift
  /** What made the newest revision: a registration of the manifest, or a refresh. */
  by: 'manifest' | 'fetch'
}

/**
 * A fetched card that waits for an owner to accept it by its entity tag, because it widens access or is not verified: `widens` has the
 * reasons. `card` is its JSON text, `drift` how it differs from the document that is served.
 */
export type PendingCard = {
  etag: string
  card: string
  validators: Validators
  widens: CardError[]
  drift: Drift
  verification?: CardVerification
}

/** What a refresh of a remote card is computed from. */
export type RefreshBase = {
  /** The manifest as JSON text. */
  manifest: string
  origin: string
  /** The agent's newest revision. */
  seq: number
  /** When the card is to be fetched again, in ms since 1970. */
  due: number
  record: SourceRecord
}

/**
 * Result of a refresh that brings no new card to serve. `unchanged`: the upstream confirmed the served card, and a pending one is
 * obsolete. `pending`: the upstream has another card, which waits for the owner.
 */
export type RefreshWithoutCard =
  | { unchanged: true; validators?: Validators; verification?: CardVerification }
  | { failure: SourceFailure }
  | { pending: PendingCard }

/** Result of a refresh that was recorded. */
export type RefreshRecorded = { outcome: 'recorded'; state: SourceState }

/** The state of a remote card as its owner sees it. Times are in ms since 1970. */
export type SourceState = Pick<Source, 'kind' | 'url' | 'ttl' | 'staleIfError' | 'pin'> & {
  /** When the upstream last confirmed the card; absent while none was ever fetched. */
  checked?: number
  /** When the card is to be fetched again. */
  due: number
  failing?: SourceFailure & { since: number }
  pending?: Omit<PendingCard, 'card'>
  /** How the card is verified, and what its signatures have shown. */
  verify?: 'warn' | 'require'
  verification?: CardVerification
  /** The agent's newest revision. */
  seq: number
  publishedHealth: PublishedHealth
}

/** The health that was last published to the edge, and its `seq`: that of the newest revision, or a later one. */
export type PublishedHealth = { seq: number; health: SourceHealth }
