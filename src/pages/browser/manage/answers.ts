import type { InferOutput } from 'valibot'
import type { schemas } from '../../../api/openapi/schemas/index.ts'

// The responses of the API that the page reads, as the OpenAPI document describes them.

type Schemas = typeof schemas

/** One thing that is wrong with a document, at a JSON Pointer into it. */
export type FieldError = InferOutput<Schemas['FieldError']>

/** A remark about a card, at a JSON Pointer into it. */
export type Note = InferOutput<Schemas['Note']>

/** The response to `GET /tokens/self`: what a token allows. */
export type Grant = InferOutput<Schemas['OwnToken']>

/** A token in `GET /tokens`. */
export type ListedToken = InferOutput<Schemas['Token']>

/** The response to `POST /tokens`, the only one with the text of the token. */
export type IssuedToken = InferOutput<Schemas['IssuedToken']>

/** The response to `GET /tokens`. */
export type TokenPage = InferOutput<Schemas['TokenList']>

/** The response to `GET /agents`. */
export type AgentPage = InferOutput<Schemas['AgentList']>

/** An agent in a list. */
export type ListedAgent = AgentPage['agents'][number]

/** What changed from one revision to another. */
export type Comparison = InferOutput<Schemas['RevisionDiff']>

/** A difference of two documents; `more` counts those that are left out. */
export type Difference = Comparison['manifest'][number]

/** The response to `GET /agents/{id}/revisions`. */
export type RevisionPage = InferOutput<Schemas['RevisionList']>

/** A revision in the history of an agent. */
export type RevisionRow = RevisionPage['revisions'][number]

/** The response to `GET /agents/{id}/revisions/{seq}`. A removal has no card, nor has a revision without a fetched one. */
export type StoredRevision = InferOutput<Schemas['Revision']>

/** A fetched card that waits until it is accepted by its entity tag. */
export type PendingCard = InferOutput<Schemas['Pending']>

/** The state of a remote card. */
export type SourceState = InferOutput<Schemas['SourceState']>

/** The response to `POST /agents/{id}/refresh`. */
export type Refreshed = InferOutput<Schemas['RefreshResult']>

/** The response to a registration, of which a rollback is one. */
export type Receipt = InferOutput<Schemas['Receipt']>

/** The response to `POST /lint`. */
export type Report = InferOutput<Schemas['LintResult']>

/** The response to `GET /agents/{id}/observed`. */
export type Observed = InferOutput<Schemas['Observed']>

/** How many calls had which outcome. */
export type Outcomes = Observed['streaming']

/** The response to `GET /audit`. */
export type AuditPage = InferOutput<Schemas['AuditPage']>

/** An entry of the audit. */
export type AuditEntry = AuditPage['entries'][number]
