import type { Compiled } from '../card/compile/index.ts'
import { readManifest } from '../card/manifest/manifest.ts'
import type { Note } from '../card/model/report.ts'
import type { Json } from '../json/json.ts'
import { purgeLists } from '../registry/edge/forget-lists.ts'
import { cacheRegistered } from '../registry/edge/write-through.ts'
import type { SourceFailure } from '../registry/source-failure.ts'
import type { Leased, PendingCard } from '../registry/source-record.ts'
import { getRegistry } from '../registry/store/client.ts'
import type { FetchResult } from './fetched.ts'
import { reconcile } from './reconcile.ts'
import type { RefreshContext, RefreshOutcome } from './refreshed.ts'
import { sourcedRegistration } from './registration.ts'
import { invalidCard } from './unsound.ts'

/** Registers an agent as its manifest says, with the card that its source answers now; or says why that is not done. */
export const reregister = async (
  id: string,
  { lease, manifest: text, origin, seq, record: known }: Leased,
  fetched: FetchResult,
  accepted: boolean,
  env: Env,
  ctx: RefreshContext,
): Promise<RefreshOutcome | { held: PendingCard } | { failure: SourceFailure }> => {
  const document = JSON.parse(text) as Json
  const read = readManifest(document, id)
  if ('errors' in read) return { failure: invalidCard(read.errors) }
  const origins = { publicUrl: origin, requestOrigin: origin }
  const agent = {
    document,
    registration: { id, ...origins },
    source: known.source,
    known,
    by: 'fetch',
    accepted,
  } as const
  const settled = await reconcile(agent, fetched)
  if ('errors' in settled) return { failure: invalidCard(settled.errors) }
  const { record, compiled } = settled
  if (record.failure) return { failure: record.failure }
  if (record.held) return { held: record.held }
  const { manifest } = read
  const made = { id, document, manifest, origins, record, compiled, condition: {} }
  const registration = { ...(await sourcedRegistration(made)), refreshed: { seq, lease } }
  const registered = await getRegistry(env).register(registration, false)
  if (registered.outcome !== 'registered') return { outcome: 'overtaken' }
  cacheRegistered(registration, registered)
  purgeLists(ctx)
  return {
    outcome: 'refreshed',
    seq: registered.seq,
    published: registered.published,
    drift: record.drift ?? [],
    notes: [...(record.notes ?? []), ...unsigned(compiled)],
  }
}

/** Signatures are over what the source says: they hold no more for what is served in its place. */
const unsigned = (compiled: Compiled | undefined): Note[] =>
  Object.values(compiled?.report.dropped ?? {}).some(places => places.includes('/signatures'))
    ? [{ pointer: '/signatures', message: 'are left out where they do not hold for what is served' }]
    : []
