/** One thing that is wrong with a document, at a JSON Pointer into it. */
export type FieldError = { pointer: string; message: string }

/** A scope of a token. */
export type Scope = 'read' | 'write' | 'admin'

/** The response to `GET /tokens/self`: what a token allows. */
export type Grant = {
  id: string
  scopes: readonly Scope[]
  agents: readonly string[]
  tiers: readonly string[]
  expires: string | null
  note?: string
}

/** A token in `GET /tokens`. */
export type ListedToken = Grant & { note: string; created: string }

/** The response to `POST /tokens`, the only one with the text of the token. */
export type IssuedToken = ListedToken & { token: string; published: boolean }

/** One page of a list; there are more after `cursor`. */
export type Page<Name extends string, Item> = { [name in Name]: Item[] } & { cursor?: string }

/** An agent in a list for its writers. */
export type ListedAgent = {
  id: string
  name: string
  description: string
  version: string
  visibility: 'public' | 'internal'
  set?: string
  /** The entity tag of the manifest. */
  etag?: string
}

/** How much a change matters to clients. */
export type ChangeClass = 'breaking' | 'additive' | 'cosmetic'

/** A change that clients see, in prose. */
export type Change = { class: ChangeClass; rule: string; pointer: string; message: string; tier?: string }

/** A difference of two documents; `more` counts those that are left out. */
export type Difference = {
  op: 'add' | 'remove' | 'replace' | 'more'
  pointer: string
  before?: unknown
  after?: unknown
  omitted?: readonly ('before' | 'after')[]
  count?: number
}

/** A revision in the history of an agent. */
export type RevisionRow = {
  seq: number
  created: string
  by: 'manifest' | 'fetch' | 'removal'
  author: string
  class?: ChangeClass
  drift?: readonly Difference[]
}

/** The response to `GET /agents/{id}/revisions/{seq}`. A removal has no card, nor has a revision without a fetched one. */
export type StoredRevision = RevisionRow & { card?: unknown }

/** What changed from one revision to another. */
export type Comparison = {
  from: number
  to: number
  class: ChangeClass
  changes: readonly Change[]
  manifest: readonly Difference[]
}

/** A fetched card that waits until it is accepted by its entity tag. */
export type PendingCard = { etag: string; widens: readonly FieldError[]; drift: readonly Difference[] }

/** The state of a remote card. */
export type SourceState = {
  kind: 'card' | 'mcp'
  url: string
  state: 'fresh' | 'stale' | 'no-card' | 'pending'
  ttl: number
  staleIfError: number
  pin: boolean
  due: string
  checked?: string
  failure?: { status: number; code: string; message: string; errors?: readonly FieldError[]; since: string }
  pending?: PendingCard
}

/** The response to `POST /agents/{id}/refresh`. */
export type Refreshed = { outcome: 'refreshed' | 'unchanged' | 'pending' }

/** The response to a registration, of which a rollback is one. */
export type Receipt = { seq: number; changed: boolean; class?: ChangeClass }

/** A remark about a card, at a JSON Pointer into it. */
export type Note = FieldError

/** The response to `POST /lint`. */
export type Report = {
  valid: boolean
  errors: readonly Note[]
  dialect?: string
  filled?: readonly Note[]
  converted?: readonly Note[]
  lossy?: readonly Note[]
  dropped?: Readonly<Record<string, readonly string[]>>
  issues?: readonly (Note & { rule: string; severity: 'error' | 'warning' | 'info' })[]
}

/** How many calls had which outcome. */
export type Outcomes = { answered: number; refused: number; failed: number }

/** The response to `GET /agents/{id}/observed`. */
export type Observed = {
  calls: number
  since?: string
  lastSeen?: string
  errorRate: number
  failures: Readonly<Record<string, number>>
  streaming: Outcomes
  pushNotifications: Outcomes
  interfaces: readonly (Outcomes & { protocolBinding: string; protocolVersion: string })[]
  operations: Readonly<Record<string, Outcomes>>
  mediaTypes: Readonly<Record<string, number>>
  /** Absent while the host has no valid card of the agent. */
  proposals?: readonly {
    rule: string
    pointer: string
    message: string
    change: { op: string; path: string; value?: unknown }
  }[]
}

/** An entry of the audit. */
export type AuditEntry = {
  number: number
  time: string
  actor: string
  what: string
  agent?: string
  seq?: number
  details?: Readonly<Record<string, unknown>>
  hash: string
}

/** The response to `GET /audit`. */
export type AuditPage = Page<'entries', AuditEntry> & {
  head: { number: number; time: string; hash: string; signature?: string } | null
}
