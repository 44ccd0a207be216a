import * as v from 'valibot'
import { type CardError, json, keyRoles } from '../../src/card/model/index.ts'
import type { JsonObject } from '../../src/json/index.ts'
import { keySecrets } from '../../src/variables.ts'

const Text = v.string()

/** A remark about a place of a document. */
export const Note = v.object({ pointer: Text, message: Text })

/** A registered agent: its manifest, and the entity tag that a replacement must name. */
export type RegisteredAgent = { manifest: JsonObject; etag: string }

/** The state of an upstream card, as the host reports it. */
export const SourceState = v.looseObject({
  state: Text,
  notes: v.optional(v.array(Note), []),
  failure: v.optional(v.looseObject({ message: Text })),
  pending: v.optional(v.looseObject({ etag: Text })),
})
export type SourceState = v.InferOutput<typeof SourceState>

/** The changes for clients, the most severe first, and the class of all together. */
const Changes = v.object({
  class: v.optional(Text),
  changes: v.optional(v.array(v.object({ ...Note.entries, rule: Text, class: Text, tier: v.optional(Text) })), []),
})

/** The values that the host filled in, and what it and the linter found. */
const Report = v.object({
  filled: v.array(Note),
  issues: v.array(v.object({ ...Note.entries, rule: Text, severity: v.picklist(['error', 'warning', 'info']) })),
})

const Written = v.object({ id: Text, seq: v.number(), changed: v.boolean(), published: v.boolean() })

/** The result of a registration that the host accepted. */
export const PutResult = v.object({
  ...Written.entries,
  etags: v.record(v.string(), v.string()),
  root: v.boolean(),
  urls: v.object({ card: Text }),
  source: v.optional(SourceState),
  report: v.optional(Report),
  ...Changes.entries,
})
export type PutResult = v.InferOutput<typeof PutResult>

/** The response to each line of a batch; the lines are counted from 1. */
export const BatchReply = v.array(
  v.object({ line: v.number(), status: v.number(), agent: v.optional(PutResult), error: v.optional(json) }),
)

/** The rejection of a request. `conflict`: the agent was changed concurrently. */
export type Rejection = { rejected: 'conflict' | 'forbidden' | 'invalid'; detail: string; errors: CardError[] }

/** A page of the list of agents. `etag` is of the manifest of an agent that the token may write. */
export const AgentPage = v.looseObject({
  agents: v.array(
    v.looseObject({
      ...{ id: Text, name: Text, version: Text, card: Text },
      ...{ visibility: v.optional(Text), set: v.optional(Text), etag: v.optional(Text) },
    }),
  ),
  cursor: v.optional(Text),
})
export type ListedAgent = v.InferOutput<typeof AgentPage>['agents'][number]

/** One change of an upstream card. With `op: 'more'`, `count` is how many more there are. */
const CardChange = v.object({
  ...{ op: Text, pointer: Text, before: v.optional(json), after: v.optional(json) },
  omitted: v.optional(v.array(Text)),
  count: v.optional(v.number()),
})
export type CardChange = v.InferOutput<typeof CardChange>

/** An argument for a shell, which the output shows in quotes. */
const EntityTag = v.pipe(v.string(), v.regex(/^"[\w-]*"$/))

const Verification = v.object({
  ...{ verified: v.boolean(), rule: v.optional(Text), reason: v.optional(Text) },
  key: v.optional(v.object({ kid: Text, thumbprint: Text, from: Text })),
  accepted: v.optional(v.boolean(), false),
})

/** The result of fetching an upstream card again. `pending`: it widens access or is not verified, so it waits. */
export const RefreshResult = v.object({
  outcome: v.picklist(['refreshed', 'unchanged', 'pending']),
  seq: v.optional(v.number()),
  drift: v.optional(v.array(CardChange), []),
  notes: v.optional(v.array(Note), []),
  pending: v.optional(v.object({ etag: EntityTag, widens: v.array(Note), drift: v.array(CardChange) })),
  source: v.optional(v.object({ verification: v.optional(Verification) })),
})
export type RefreshResult = v.InferOutput<typeof RefreshResult>

/** A change of a card that its agent's calls suggest. */
const Proposal = v.object({
  ...{ rule: Text, ...Note.entries, seen: v.record(v.string(), v.number()) },
  change: v.looseObject({ op: Text, path: Text }),
})
export type Proposal = v.InferOutput<typeof Proposal>

/** The observations from the calls of an agent. Without `proposals`, the agent has no card to compare with. */
export const Observed = v.object({
  ...{ calls: v.number(), since: v.optional(Text), lastSeen: v.optional(Text) },
  proposals: v.optional(v.array(Proposal)),
})
export type Observed = v.InferOutput<typeof Observed>

/** The changes from one revision of an agent to another: for clients, and in the manifest. */
export const RevisionDiff = v.object({
  ...{ id: Text, from: v.number(), to: v.number() },
  ...Changes.entries,
  manifest: v.array(CardChange),
})
export type RevisionChanges = v.InferOutput<typeof RevisionDiff>

/** The result of registering the manifest of a revision again. */
export const RolledBack = v.object({ ...Written.entries, ...Changes.entries, report: v.optional(Report) })

/** A page of the revisions of an agent; `class` is what a revision changed for clients. */
export const RevisionPage = v.object({
  revisions: v.array(v.object({ seq: v.number(), created: Text, by: Text, author: Text, class: v.optional(Text) })),
  cursor: v.optional(Text),
})

/** A token as the host lists it; never with its text. */
export const Token = v.object({
  ...{ id: Text, note: Text, scopes: v.array(Text), agents: v.array(Text), tiers: v.array(Text) },
  ...{ created: Text, expires: v.nullable(Text) },
})
export type Token = v.InferOutput<typeof Token>

/** The permissions of a token that is to be issued. `expires`: seconds from now, or a date. */
export type TokenRequest = Pick<Token, 'scopes'> &
  Partial<Pick<Token, 'agents' | 'tiers' | 'note'>> & { expires?: number | string }

/** The token of this client, as the host describes it. `id` is "admin" for the `ADMIN_TOKEN`. */
export const OwnToken = v.object({
  ...v.pick(Token, ['id', 'scopes', 'agents', 'tiers', 'expires']).entries,
  note: v.optional(Text),
})
export type OwnToken = v.InferOutput<typeof OwnToken>

/** A new token with its text, which the host returns only once. */
export const IssuedToken = v.object({
  ...Token.entries,
  token: v.pipe(v.string(), v.regex(/^\w+$/)),
  published: v.boolean(),
})

/** A page of the tokens of a host. */
export const TokenPage = v.object({ tokens: v.array(Token), cursor: v.optional(Text) })

/** A page of the audit, newest first, with the newest entry of all; entries are as the host sent them. */
export const AuditPage = v.object({
  entries: v.array(v.record(v.string(), json)),
  head: v.nullable(v.object({ number: v.number(), time: Text, hash: Text, signature: v.optional(Text) })),
  cursor: v.optional(Text),
})
export type AuditPage = v.InferOutput<typeof AuditPage>

/** The counts of an import. */
export const ImportResult = v.object({ agents: v.number(), revisions: v.number(), tokens: v.number() })

/** The public keys of a host; members that are not for verifying signatures are left out. */
export const KeySet = v.object({
  keys: v.array(v.object({ kty: v.literal('EC'), crv: v.literal('P-256'), x: Text, y: Text, kid: Text })),
})
export type PublicKey = v.InferOutput<typeof KeySet>['keys'][number]

const IsoTime = v.pipe(v.string(), v.isoTimestamp())

/** The keys of a host by their roles, how many agents wait to be signed again, and its cache time and clock. */
export const HostKeys = v.object({
  keys: v.array(
    v.object({
      // A thumbprint, which is shown as an argument of commands.
      kid: v.pipe(v.string(), v.regex(/^\w[\w-]*$/)),
      ...{ role: v.picklist(keyRoles), secret: v.picklist(keySecrets) },
      ...{ signsFrom: v.optional(IsoTime), retirable: v.optional(IsoTime) },
    }),
  ),
  problem: v.optional(Text),
  ...{ unsigned: v.number(), cacheSeconds: v.number(), time: IsoTime },
})
export type HostKeys = v.InferOutput<typeof HostKeys>
export type HostKey = HostKeys['keys'][number]
