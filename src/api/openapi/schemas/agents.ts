import * as v from 'valibot'
import { changeClasses } from '../../../card/diff/index.ts'
import { json, ServedReceipt } from '../../../card/model/index.ts'
import { payloadRules } from '../../../card/signatures/index.ts'
import {
  anyObject,
  count,
  cursor,
  described,
  FieldError,
  flag,
  id,
  oneOf,
  Pointer,
  Problem,
  seq,
  text,
  texts,
  time,
  url,
} from './parts.ts'

const listedAgent = {
  id,
  name: text('The name in the card.'),
  description: text('The description in the card.'),
  version: text('The version in the card.'),
  card: url('The URL of the card.'),
  url: text('The preferred endpoint. Empty for none.'),
}

const hosting = {
  visibility: v.optional(oneOf(['public', 'internal'], 'Only in lists for callers with a token.')),
  set: v.optional(text('The set of the agent. Only in lists for callers with a token.')),
  etag: v.optional(text('The entity tag of the manifest. Only with `set`, `writable` or `id`, and not in searches.')),
}

const AgentList = v.object({
  agents: v.array(
    v.object({
      ...listedAgent,
      skills: v.optional(texts('The ids of the skills. Only in searches.')),
      tags: v.optional(texts('The tags of the skills. Only in searches.')),
      capabilities: v.optional(texts('The capabilities, and the URIs of extensions. Only in searches.')),
      protocolVersions: v.optional(texts('The versions of A2A. Only in searches.')),
      signed: v.optional(
        flag('Whether a document of the card has signatures, of this host or of its author. Only in searches.'),
      ),
      provider: v.optional(text('The organization of the provider. Only in searches.')),
      score: v.optional(described(v.number(), 'How well the agent matches, compared with others of this response.')),
      ...hosting,
    }),
  ),
  cursor,
  facets: v.optional(
    described(
      v.record(v.string(), v.array(v.object({ value: v.string(), count: v.number() }))),
      'The most frequent values of each requested filter.',
    ),
  ),
  approximate: v.optional(flag('Whether more agents match than are counted.')),
})

const ShamanList = v.object({
  protocolVersion: v.literal('0.3.0'),
  agents: v.array(
    v.object({
      name: v.string(),
      description: v.string(),
      version: v.string(),
      url: v.string(),
      preferredTransport: v.string(),
    }),
  ),
  cursor,
})

// Registrations

const Note = v.object({ pointer: Pointer, message: v.string() })

const Issue = v.object({
  rule: text('The stable name of the rule.'),
  severity: v.picklist(['error', 'warning', 'info']),
  pointer: Pointer,
  message: text('What to do about it.'),
})

const report = {
  dialect: text('The dialect of the authored card.'),
  filled: described(v.array(Note), 'Defaults that were added.'),
  converted: described(v.array(Note), 'Values that were read in another form.'),
  dropped: described(
    v.record(v.string(), v.array(v.string())),
    'By dialect, pointers to the fields that it cannot express.',
  ),
  lossy: described(
    v.array(Note),
    'What is lost where this host translates calls, and interfaces to which it forwards none.',
  ),
  signatures: described(v.array(Note), 'What became of the signatures of the author, and what this host signs.'),
  issues: described(v.array(Issue), 'What the linter found.'),
}

/** What the linter found, and what a registration does to a card. */
const Report = v.object(report)

const LintResult = v.object({
  valid: flag('Whether a registration would be accepted.'),
  errors: v.array(FieldError),
  ...v.partial(Report).entries,
  representations: v.optional(
    described(
      v.record(v.string(), anyObject('A card.')),
      'The card in each representation, by name. Only with `representations=true`, for a card that is valid.',
    ),
  ),
})

const ChangeClass = oneOf(changeClasses, 'What a change means for clients.')

const Change = v.object({
  class: ChangeClass,
  rule: text('The stable name of the kind of change.'),
  pointer: Pointer,
  message: v.string(),
  tier: v.optional(text('The tier of the extended card that has the change.')),
})

const Drift = described(
  v.array(
    v.object({
      op: v.picklist(['add', 'remove', 'replace', 'more']),
      pointer: Pointer,
      before: v.optional(json),
      after: v.optional(json),
      omitted: v.optional(described(v.array(v.picklist(['before', 'after'])), 'Values that are not shown.')),
      count: v.optional(count('With `more`, how many differences are left out.')),
    }),
  ),
  'The differences of two documents.',
)

const Pending = v.object({
  etag: text('What `accept` of a refresh names.'),
  widens: described(
    v.array(FieldError),
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
  pinned: v.optional(
    described(v.array(v.string()), 'With `keys: first-use`, the thumbprints of the keys that may sign the card.'),
  ),
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

const SourceState = v.object({
  ...source,
  ttl: count('Seconds for which the card is fresh.'),
  staleIfError: count('Seconds for which it is served after that, while its upstream fails.'),
  pin: flag('Whether a card that widens access waits until it is accepted.'),
  due: time('When the card is fetched again.'),
  failure: v.optional(v.object({ ...failure, since: time('Since when the upstream fails.') })),
})

const Receipt = v.object({
  id,
  seq,
  changed: flag('Whether a new revision was made.'),
  published: flag('Whether every location serves it. If not, the host retries.'),
  class: v.optional(ChangeClass),
  changes: v.optional(v.array(Change)),
  root: flag('Whether the agent answers on host names that no agent claims.'),
  urls: v.object({ card: url('The card.'), agent: url('The agent.') }),
  etags: described(
    v.record(v.string(), v.string()),
    'The entity tags of the manifest and of each representation of the card, by name.',
  ),
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

const BatchResult = v.object({
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

const RevisionList = v.object({ id, revisions: v.array(v.object(revision)), cursor })

const Revision = v.object({
  id,
  ...revision,
  origin: v.optional(text('The origin of the absolute URLs at that time.')),
  manifest: v.optional(anyObject('The manifest as it was registered.')),
  card: v.optional(anyObject('The canonical card that was served.')),
  tiers: v.optional(described(v.record(v.string(), anyObject('A card.')), 'The extended cards that were served.')),
})

const RevisionDiff = v.object({
  id,
  from: seq,
  to: seq,
  class: ChangeClass,
  changes: v.array(Change),
  manifest: Drift,
})

const RefreshResult = v.object({
  id,
  outcome: v.picklist(['refreshed', 'unchanged', 'pending']),
  seq: v.optional(seq),
  published: v.optional(flag('Whether every location serves it. If not, the host retries.')),
  drift: v.optional(Drift),
  notes: v.optional(v.array(Note)),
  pending: v.optional(Pending),
  source: SourceState,
})

const Source = v.object({ id, source: SourceState })

const counts = v.record(v.string(), v.number())
const outcomes = { answered: v.number(), refused: v.number(), failed: v.number() }
const Outcomes = v.object(outcomes)

const Observed = v.object({
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
    described(
      v.array(
        v.object({
          rule: v.string(),
          pointer: Pointer,
          message: v.string(),
          seen: counts,
          change: v.object({ op: v.picklist(['add', 'remove']), path: Pointer, value: v.optional(json) }),
        }),
      ),
      'Changes that would make the card true. Absent without a valid card.',
    ),
  ),
})

const ChangeEvent = v.object({
  agent: id,
  seq,
  class: v.optional(ChangeClass),
  time: time('When the change was made.'),
})

/** What responses about agents consist of. */
export const agentSchemas = {
  AgentList,
  BatchResult,
  Change,
  ChangeEvent,
  ConformanceReceipt: ServedReceipt,
  Issue,
  LintResult,
  Note,
  Observed,
  Pending,
  Receipt,
  RefreshResult,
  Report,
  Revision,
  RevisionDiff,
  RevisionList,
  ShamanList,
  Source,
  SourceState,
}
