import { missingCardProfile } from '../card/call-profile.ts'
import { hostOrigin } from '../card/compile/canonical-card.ts'
import { type CompileContext, type Compiled, compile } from '../card/compile/index.ts'
import { diffCards } from '../card/diff/drift.ts'
import { findWidenings } from '../card/diff/widening.ts'
import type { Manifest } from '../card/manifest/manifest.ts'
import type { Source } from '../card/manifest/upstream.ts'
import type { CardError } from '../card/model/report.ts'
import { type Precondition, strongEtag } from '../http/conditional.ts'
import { isJsonObject, type Json, type JsonObject, omit } from '../json/json.ts'
import { fitsInRow, prepareRegistration } from '../registry/prepare.ts'
import type { Registration, SourceFailure, SourceRecord } from '../registry/records.ts'
import type { FetchResult } from './upstream-card.ts'

/** What an owner is told of a card that was had, but that cannot be served. */
export const invalidCard = (errors: CardError[]): SourceFailure => {
  const [first] = errors
  const why = first ? ` ${first.pointer || 'The document'} ${first.message}.` : ''
  return { status: 502, code: 'invalid-card', message: `The card that came cannot be served.${why}`, errors }
}

/** An agent whose card comes from a source, as its manifest says it now, and what was known of the source before. */
export type Sourced = {
  document: Json
  registration: Omit<CompileContext, 'fetched'>
  source: Source
  known?: SourceRecord | undefined
  by: SourceRecord['by']
  /** Whether its owner has said that a card that widens access may take the place of the other. */
  accepted?: boolean
}

/**
 * What is to be kept of a source, and the card to be served: undefined where none was ever had; or what is wrong with the
 * manifest itself.
 */
type Settled = { record: SourceRecord; compiled: Compiled | undefined } | { errors: CardError[] }

/** Decides what becomes of what a source has answered. While that cannot be used, what was had before stays. */
export const reconcile = async (agent: Sourced, fetched: FetchResult): Promise<Settled> => {
  const { source, by, accepted = false } = agent
  const last = lastOf(agent)
  if ('failure' in fetched) return withLast(agent, { ...last, ...heldOf(agent, last), failure: fetched.failure })
  if ('unchanged' in fetched) return withLast(agent, { ...last, checked: Date.now() })
  const { card, validators, notes = [] } = fetched
  const made = compiledWith(agent, card)
  if ('errors' in made)
    return isOwners(agent, card) ? made : withLast(agent, { ...last, failure: invalidCard(made.errors) })
  const text = JSON.stringify(card)
  if (!fitsInRow([text, ...textsOf(made.compiled)]))
    return withLast(agent, { ...last, failure: invalidCard([tooLarge]) })
  const before = last.card === undefined ? undefined : (JSON.parse(last.card) as JsonObject)
  const changes = before === undefined || text === last.card ? [] : diffCards(before, card)
  const widens = source.pin && !accepted && before !== undefined ? widened(agent, before, made.compiled) : []
  if (widens.length > 0) {
    const held = { etag: await etagOf(text), card: text, validators, widens, drift: changes }
    return withHeld(agent, { ...last, checked: Date.now(), held })
  }
  const told = { drift: changes, ...(notes.length > 0 && { notes }) }
  const record = { source, by, card: text, validators, checked: Date.now(), ...told }
  return { record, compiled: made.compiled }
}

/** What is served can be some times as large as what it is made of. */
const textsOf = ({ documents, extended }: Compiled): string[] =>
  [documents, ...extended.map(({ documents }) => documents)].flatMap(each =>
    Object.values(each).map(document => JSON.stringify(document)),
  )

const tooLarge: CardError = { pointer: '', message: 'is larger than this host can keep' }

/** What was had of this source, if it is still the same one; what is settled anew is left out. */
const lastOf = ({ source, known, by }: Sourced): SourceRecord => {
  const isSame = known?.source.kind === source.kind && known.source.url === source.url
  if (!isSame || known.card === undefined) return { source, by }
  const { card, validators, checked } = known
  return { source, by, card, ...(validators && { validators }), ...(checked !== undefined && { checked }) }
}

/** What waits for its owner goes on waiting while nobody knows better. */
const heldOf = ({ known }: Sourced, { card }: SourceRecord): Pick<SourceRecord, 'held'> =>
  card !== undefined && known?.held ? { held: known.held } : {}

const withLast = (agent: Sourced, record: SourceRecord): Settled => {
  if (record.card === undefined) return { record, compiled: undefined }
  const made = compiledWith(agent, JSON.parse(record.card) as JsonObject)
  return 'errors' in made ? made : { record, compiled: made.compiled }
}

/** What is served stays as it is, even if it could be made no more; but no new manifest is taken for which it cannot be. */
const withHeld = (agent: Sourced, record: SourceRecord): Settled => {
  const kept = withLast(agent, record)
  if ('record' in kept) return kept
  return agent.by === 'fetch' ? { record, compiled: undefined } : { errors: [unmade, ...kept.errors] }
}

const unmade: CardError = {
  pointer: '/upstream',
  message:
    'answers a card that is held back (`pin`), and the one before it cannot be served by this manifest: have it refreshed and accept the new one first',
}

const compiledWith = ({ document, registration }: Sourced, fetched: JsonObject) =>
  compile(document, { ...registration, fetched })

/** Whether a card that cannot be served would be one without what the manifest lays over it. */
const isOwners = (agent: Sourced, card: JsonObject): boolean => {
  const { document } = agent
  const bare = isJsonObject(document) ? omit(document, 'card', 'extended', 'tiers') : document
  return 'compiled' in compiledWith({ ...agent, document: bare }, card)
}

const widened = (agent: Sourced, before: JsonObject, now: Compiled): CardError[] => {
  const was = compiledWith(agent, before)
  return 'compiled' in was ? findWidenings(was.compiled.direct, now.direct) : [incomparable]
}

const incomparable: CardError = {
  pointer: '',
  message:
    'cannot be compared with the card before it, which this host can make no more: see for yourself what it changes',
}

/** The entity tag of a card as its source answered it: by it an owner says which card is accepted. */
const etagOf = (text: string): Promise<string> => strongEtag(new TextEncoder().encode(text))

/** An agent whose card comes from a source, as it is to be registered. */
type Settling = {
  id: string
  document: Json
  manifest: Manifest
  /** As the compiler takes them: `PUBLIC_URL`, and where the registration was sent to. */
  origins: { publicUrl?: string | undefined; requestOrigin: string }
  record: SourceRecord
  compiled: Compiled | undefined
  condition: Precondition
}

/** Makes ready what is to be registered of an agent whose card comes from a source: without a card, where none was ever had. */
export const sourcedRegistration = async (settling: Settling): Promise<Registration> => {
  const { id, document, compiled, condition, record } = settling
  return {
    ...(compiled ? await prepareRegistration(id, document, compiled, condition) : await uncarded(settling)),
    source: record,
  }
}

const uncarded = async ({ id, document, manifest, origins, condition }: Settling): Promise<Registration> => {
  const text = JSON.stringify(document)
  const { name } = manifest.card
  return {
    id,
    manifest: text,
    manifestEtag: (await represented(text)).etag,
    visibility: manifest.visibility,
    hosts: manifest.hosts,
    origin: hostOrigin(manifest, origins),
    summary: { name: typeof name === 'string' ? name : id, description: '', version: '', url: '' },
    representations: {},
    profile: await represented(JSON.stringify(missingCardProfile(manifest))),
    extended: [],
    condition,
  }
}

const represented = async (text: string) => {
  const bytes = new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>
  return { etag: await strongEtag(bytes), bytes }
}
