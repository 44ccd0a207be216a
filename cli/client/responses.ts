import * as v from 'valibot'
import { json, keyRoles } from '../../src/card/model/index.ts'
import type { JsonObject } from '../../src/json/index.ts'
import { keySecrets } from '../../src/variables.ts'

const Text = v.string()

export const Note = v.object({ pointer: Text, message: Text })
export type Note = v.InferOutput<typeof Note>

/** What is registered as an agent: its manifest, and the entity tag that a replacement must name. */
export type RegisteredAgent = { manifest: JsonObject; etag: string }

export const SourceState = v.looseObject({
  state: Text,
  notes: v.optional(v.array(Note), []),
  failure: v.optional(v.looseObject({ message: Text })),
  pending: v.optional(v.looseObject({ etag: Text })),
})
/** The state of an upstream card, as the host reports it. */
export type SourceState = v.InferOutput<typeof SourceState>

/** What changed for clients, the most severe first, and the class of all together. */
const Changes = v.object({
  class: v.optional(Text),
  changes: v.optional(
    v.array(v.object({ rule: Text, class: Text, pointer: Text, message: Text, tier: v.optional(Text) })),
    [],
  ),
})

/** What the host filled in, and what it and the linter found. */
const Report = v.object({
  filled: v.array(Note),
  issues: v.array(
    v.object({ rule: Text, severity: v.picklist(['error', 'warning', 'info']), pointer: Text, message: Text }),
  ),
})

export const PutResult = v.object({
  id: Text,
  ...{ seq: v.number(), changed: v.boolean(), published: v.boolean() },
  etags: v.record(v.string(), v.string()),
  root: v.boolean(),
  urls: v.object({ card: Text }),
  source: v.optional(SourceState),
  report: v.optional(Report),
  ...Changes.entries,
})
/** What the host reports about a registration that it accepted. */
export type PutResult = v.InferOutput<typeof PutResult>

/** The response to each line of a batch; the lines are counted from 1. */
export const BatchReply = v.array(
  v.object({ line: v.number(), status: v.number(), agent: v.optional(PutResult), error: v.optional(json) }),
)

/** A manifest to register. `etag` is of what it replaces; without one, the agent must be new. */
export type PutRequest = { id: string; manifest: JsonObject; etag?: string | undefined }

/** Why the host rejected a request. `conflict`: somebody else wrote in the meantime. */
export type Rejection = { rejected: 'conflict' | 'forbidden' | 'invalid'; detail: string; errors: Note[] }

export const AgentPage = v.looseObject({
  agents: v.array(
    v.looseObject({
      id: Text,
      ...{ name: Text, version: Text, card: Text },
      visibility: v.optional(Text),
      set: v.optional(Text),
      etag: v.optional(v.string()),
    }),
  ),
  cursor: v.optional(v.string()),
})
/** An agent as the host lists it. `etag` is of the manifest of an agent that the token may write. */
export type ListedAgent = v.InferOutput<typeof AgentPage>['agents'][number]

/** The card that an anonymous client gets. `isPending`: the agent's upstream card has not been fetched yet. */
export type LiveCard = { etag?: string; card?: JsonObject; isPending: boolean }

const CardChange = v.object({
  op: Text,
  pointer: Text,
  before: v.optional(json),
  after: v.optional(json),
  omitted: v.optional(v.array(Text)),
  count: v.optional(v.number()),
})
/** One change of an upstream card. With `op: 'more'`, `count` is how many more there are. */
export type CardChange = v.InferOutput<typeof CardChange>

/** An argument for a shell, which the output shows in quotes. */
const EntityTag = v.pipe(v.string(), v.regex(/^"[\w-]*"$/))

const Verification = v.object({
  verified: v.boolean(),
  rule: v.optional(Text),
  key: v.optional(v.object({ kid: Text, thumbprint: Text, from: Text })),
  reason: v.optional(Text),
  accepted: v.optional(v.boolean(), false),
})

export const RefreshResult = v.object({
  outcome: v.picklist(['refreshed', 'unchanged', 'pending']),
  seq: v.optional(v.number()),
  drift: v.optional(v.array(CardChange), []),
  notes: v.optional(v.array(Note), []),
  pending: v.optional(v.object({ etag: EntityTag, widens: v.array(Note), drift: v.array(CardChange) })),
  source: v.optional(v.object({ verification: v.optional(Verification) })),
})
/**
 * The result of fetching an upstream card again. `pending`: it widens access or is not verified, and waits for
 * approval.
 */
export type RefreshResult = v.InferOutput<typeof RefreshResult>

const Proposal = v.object({
  rule: Text,
  pointer: Text,
  message: Text,
  seen: v.record(v.string(), v.number()),
  change: v.looseObject({ op: Text, path: Text }),
})
/** A change of a card that its agent's calls suggest. */
export type Proposal = v.InferOutput<typeof Proposal>

export const Observed = v.object({
  calls: v.number(),
  since: v.optional(Text),
  lastSeen: v.optional(Text),
  proposals: v.optional(v.array(Proposal)),
})
/** What the calls of an agent have shown. Without `proposals`, the agent has no card to compare with. */
export type Observed = v.InferOutput<typeof Observed>

export const RevisionDiff = v.object({
  ...{ id: v.string(), from: v.number(), to: v.number() },
  ...Changes.entries,
  manifest: v.array(CardChange),
})
/** What changed from one revision of an agent to another: for clients, and in the manifest. */
export type RevisionChanges = v.InferOutput<typeof RevisionDiff>

export const RolledBack = v.object({
  ...{ id: v.string(), seq: v.number(), changed: v.boolean(), published: v.boolean() },
  ...Changes.entries,
  report: v.optional(Report),
})

export const RevisionPage = v.object({
  revisions: v.array(
    v.object({
      ...{ seq: v.number(), created: v.string(), by: v.string(), author: v.string() },
      class: v.optional(v.string()),
    }),
  ),
  cursor: v.optional(v.string()),
})
/** One revision of an agent; `class` is what it changed for clients. */
export type ListedRevision = v.InferOutput<typeof RevisionPage>['revisions'][number]

export const Token = v.object({
  id: Text,
  note: Text,
  scopes: v.array(Text),
  agents: v.array(Text),
  tiers: v.array(Text),
  created: Text,
  expires: v.nullable(Text),
})
/** What the host knows about a token; never its text. */
export type Token = v.InferOutput<typeof Token>

export const OwnToken = v.object({
  ...v.pick(Token, ['id', 'scopes', 'agents', 'tiers', 'expires']).entries,
  note: v.optional(Text),
})
/** What the host knows about the token of this client. `id` is "admin" for the `ADMIN_TOKEN`. */
export type OwnToken = v.InferOutput<typeof OwnToken>

export const IssuedToken = v.object({
  ...Token.entries,
  token: v.pipe(v.string(), v.regex(/^\w+$/)),
  published: v.boolean(),
})
/** A new token with its text, which the host returns only once. */
export type IssuedToken = v.InferOutput<typeof IssuedToken>

export const TokenPage = v.object({ tokens: v.array(Token), cursor: v.optional(v.string()) })

export const AuditPage = v.object({
  entries: v.array(v.record(v.string(), json)),
  head: v.nullable(
    v.object({ number: v.number(), time: v.string(), hash: v.string(), signature: v.optional(v.string()) }),
  ),
  cursor: v.optional(v.string()),
})
/** A page of the audit, newest first, with the newest entry of all; entries are as the host sent them. */
export type AuditPage = v.InferOutput<typeof AuditPage>

export const ImportResult = v.object({ agents: v.number(), revisions: v.number(), tokens: v.number() })
/** What an import brought. */
export type ImportResult = v.InferOutput<typeof ImportResult>

/** The public keys of a host; members that are not for verifying signatures are left out. */
export const KeySet = v.object({
  keys: v.array(
    v.object({ kty: v.literal('EC'), crv: v.literal('P-256'), x: v.string(), y: v.string(), kid: v.string() }),
  ),
})
export type PublicKey = v.InferOutput<typeof KeySet>['keys'][number]

const IsoTime = v.pipe(v.string(), v.isoTimestamp())

export const HostKeys = v.object({
  keys: v.array(
    v.object({
      // A thumbprint, which is shown as an argument of commands.
      kid: v.pipe(v.string(), v.regex(/^\w[\w-]*$/)),
      role: v.picklist(keyRoles),
      secret: v.picklist(keySecrets),
      signsFrom: v.optional(IsoTime),
      retirable: v.optional(IsoTime),
    }),
  ),
  problem: v.optional(Text),
  unsigned: v.number(),
  cacheSeconds: v.number(),
  time: IsoTime,
})
/** The keys of a host by their roles, how many agents wait to be signed again, and its cache time and clock. */
export type HostKeys = v.InferOutput<typeof HostKeys>
export type HostKey = HostKeys['keys'][number]

/** The permissions of a token that is to be issued. `expires`: seconds from now, or a date. */
export type TokenRequest = {
  scopes: string[]
  agents?: string[]
  tiers?: string[]
  note?: string
  expires?: number | string
}
