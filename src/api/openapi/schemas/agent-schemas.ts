import * as v from 'valibot'
import { changeClasses } from '../../../card/diff/index.ts'
import { json } from '../../../card/model/index.ts'
import { payloadRules } from '../../../card/signatures/index.ts'
import {
  anyObject,
  count,
  cursor,
  described,
  FieldError,
  flag,
  id,
  list,
  mapOf,
  oneOf,
  Pointer,
  Problem,
  seq,
  text,
  texts,
  time,
  url,
} from './schema-parts.ts'

export { ServedReceipt as ConformanceReceipt } from '../../../card/model/index.ts'

// The schemas of responses about agents, by their names in the document.

const ListedAgent = v.object({
  id,
  name: text('The name in the card.'),
  description: text('The description in the card.'),
  version: text('The version in the card.'),
  card: url('The URL of the card.'),
  url: text('The preferred endpoint. Empty for none.'),
  visibility: v.optional(oneOf(['public', 'internal'], 'Only in lists for callers with a token.')),
  set: v.optional(text('The set of the agent. Only in lists for callers with a token.')),
  etag: v.optional(text('The entity tag of the manifest. Only with `set`, `writable` or `id`, and not in searches.')),
  skills: v.optional(texts('The ids of the skills. Only in searches.')),
  tags: v.optional(texts('The tags of the skills. Only in searches.')),
  capabilities: v.optional(texts('The capabilities, and the URIs of extensions. Only in searches.')),
  protocolVersions: v.optional(texts('The versions of A2A. Only in searches.')),
  signed: v.optional(flag('Whether the card is signed, by this host or by its author. Only in searches.')),
  provider: v.optional(text('The organization of the provider. Only in searches.')),
  score: v.optional(described(v.number(), 'How well the agent matches, compared with others of this response.')),
})

const Facet = v.object({ value: v.string(), count: v.number() })

export const AgentList = v.object({
  agents: v.array(ListedAgent),
  cursor,
  facets: v.optional(mapOf(v.array(Facet), 'The most frequent values of each requested filter.')),
  approximate: v.optional(flag('Whether more agents match than are counted.')),
})

export const ShamanList = v.object({
  protocolVersion: v.literal('0.3.0'),
  agents: v.array(
    v.object({
      ...{ name: v.string(), description: v.string(), version: v.string() },
      ...{ url: v.string(), preferredTransport: v.string() },
    }),
  ),
  cursor,
})

// Registrations

export const Note = v.object({ pointer: Pointer, message: v.string() })

export const Issue = v.object({
  rule: text('The stable name of the rule.'),
  severity: v.picklist(['error', 'warning', 'info']),
  pointer: Pointer,
  message: text('What to do about it.'),
})

export const Report = v.object({
  dialect: text('The dialect of the authored card.'),
  filled: list(Note, 'Defaults that were added.'),
  converted: list(Note, 'Values that were read in another form.'),
  dropped: mapOf(v.array(v.string()), 'By dialect, pointers to the fields that it cannot express.'),
  lossy: list(Note, 'What is lost where this host translates calls, and interfaces to which it forwards none.'),
  signatures: list(Note, 'The result for each signature of the author, and the documents that this host signs.'),
  issues: list(Issue, 'What the linter found.'),
})

export const LintResult = v.object({
  valid: flag('Whether a registration would be accepted.'),
  errors: v.array(FieldError),
  ...v.partial(Report).entries,
  representations: v.optional(
    mapOf(anyObject('A card.'), 'The card in each representation, by name. Only on request, if the card is valid.'),
  ),
})

const ChangeClass = oneOf(changeClasses, 'What a change means for clients.')

export const Change = v.object({
  class: ChangeClass,
  rule: text('The stable name of the kind of change.'),
  pointer: Pointer,
  message: v.string(),
  tier: v.optional(text('The tier of the extended card that has the change.')),
})

const Drift = list(
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
  etag: text('What `accept` of a refresh names.'),
  widens: list(
    FieldError,
    'Why it waits: what it would allow that the served card does not, or why it is not verified.',
  ),
  drift: Drift,
})

const failure = {
  status: v.picklist([502, 503, 504]),
  code: v.picklist(['unreachable', 'timeout', 'invalid-card', 'not-ready', 'unverified']),
  message: v.string(),
  errors: v.optional(v.array(FieldError)),
}

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
  pinned: v.optional(texts('With `keys: first-use`, the thumbprints of the keys that may sign the card.')),
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

export const SourceState = v.object({
  ...source,
  ttl: count('Seconds for which the card is fresh.'),
  staleIfError: count('Seconds for which it is served after that, while its upstream fails.'),
  pin: flag('Whether a card that widens access waits until it is accepted.'),
  due: time('When the card is fetched again.'),
  failure: v.optional(v.object({ ...failure, since: time('Since when the upstream fails.') })),
})

export const Receipt = v.object({
  id,
  seq,
  changed: flag('Whether a new revision was made.'),
  published: flag('Whether every location serves it. If not, the host retries.'),
  class: v.optional(ChangeClass),
  changes: v.optional(v.array(Change)),
  root: flag('Whether the agent answers on host names that no agent claims.'),
  urls: v.object({ card: url('The card.'), agent: url('The agent.') }),
  etags: mapOf(v.string(), 'The entity tags of the manifest and of each representation of the card, by name.'),
  source: v.optional(
    v.object({
      ...source,
      failure: v.optional(v.object(failure)),
      drift: v.optional(Drift),
      notes: v.optional(v.array(Note)),
    }),
  ),
  report: v.optional(Report),
})

export const BatchResult = v.object({
  line: count('The number of the line in the request.'),
  id: v.optional(id),
  status: v.pipe(v.number(), v.integer(), v.description('The status that the registration would have had.')),
  agent: v.optional(Receipt),
  error: v.optional(Problem),
})

const revision = {
  seq,
  created: time('When it was made.'),
  by: v.picklist(['manifest', 'fetch', 'removal']),
  author: text('`admin`, the id of a token, or `host` for a refresh that nobody requested.'),
  class: v.optional(ChangeClass),
  drift: v.optional(Drift),
}

export const RevisionList = v.object({ id, revisions: v.array(v.object(revision)), cursor })

export const Revision = v.object({
  id,
  ...revision,
  origin: v.optional(text('The origin of the absolute URLs at that time.')),
  manifest: v.optional(anyObject('The manifest as it was registered.')),
  card: v.optional(anyObject('The canonical card that was served.')),
  tiers: v.optional(mapOf(anyObject('A card.'), 'The extended cards that were served.')),
})

export const RevisionDiff = v.object({
  ...{ id, from: seq, to: seq },
  ...{ class: ChangeClass, changes: v.array(Change), manifest: Drift },
})

export const RefreshResult = v.object({
  id,
  outcome: v.picklist(['refreshed', 'unchanged', 'pending']),
  seq: v.optional(seq),
  published: v.optional(flag('Whether every location serves it. If not, the host retries.')),
  drift: v.optional(Drift),
  notes: v.optional(v.array(Note)),
  pending: v.optional(Pending),
  source: SourceState,
})

export const Source = v.object({ id, source: SourceState })

const counts = v.record(v.string(), v.number())
const outcomes = { answered: v.number(), refused: v.number(), failed: v.number() }
const Outcomes = v.object(outcomes)

export const Observed = v.object({
  id,
  calls: count('How many calls were observed.'),
  since: v.optional(time('The first of them.')),
  lastSeen: v.optional(time('The last of them.')),
  errorRate: described(v.number(), 'The part of the calls that failed, from 0 to 1.'),
  failures: described(counts, 'Failed calls by reason.'),
  streaming: Outcomes,
  pushNotifications: Outcomes,
  interfaces: v.array(v.object({ protocolBinding: v.string(), protocolVersion: v.string(), ...outcomes })),
  operations: v.record(v.string(), Outcomes),
  mediaTypes: counts,
  proposals: v.optional(
    list(
      v.object({
        ...{ rule: v.string(), pointer: Pointer, message: v.string() },
        seen: counts,
        change: v.object({ op: v.picklist(['add', 'remove']), path: Pointer, value: v.optional(json) }),
      }),
      'Changes that would make the card true. Absent without a valid card.',
    ),
  ),
})

export const ChangeEvent = v.object({
  agent: id,
  seq,
  class: v.optional(ChangeClass),
  time: time('When the change was made.'),
})
