import type { Compiled } from '../card/compile/index.ts'
import { readManifest } from '../card/manifest/manifest.ts'
import type { Note } from '../card/model/report.ts'
import type { Json } from '../json/json.ts'
import { forgetLists } from '../registry/edge/forget-lists.ts'
import { rememberRegistered } from '../registry/edge/write-through.ts'
import type { SourceFailure } from '../registry/source-failure.ts'
import type { Held, Leased } from '../registry/source-record.ts'
import { truth } from '../registry/store/client.ts'
import type { Fetched } from './fetched.ts'
import { settle } from './reconcile.ts'
import type { RefreshContext, Refreshed } from './refreshed.ts'
import { sourcedRegistration } from './registration.ts'
import { unsound } from './unsound.ts'

/** Registers an agent as its manifest says, with the card that its source answers now; or says why that is not done. */
export const registerAgain = async (
  id: string,
  { lease, manifest: text, origin, seq, record: known }: Leased,
  fetched: Fetched,
  accepted: boolean,
  env: Env,
  ctx: RefreshContext,
): Promise<Refreshed | { held: Held } | { failure: SourceFailure }> => {
  const document = JSON.parse(text) as Json
  const read = readManifest(document, id)
  if ('errors' in read) return { failure: unsound(read.errors) }
  const origins = { publicUrl: origin, requestOrigin: origin }
  const agent = {
    document,
    registration: { id, ...origins },
    source: known.source,
    known,
    by: 'fetch',
    accepted,
  } as const
  const settled = await settle(agent, fetched)
  if ('errors' in settled) return { failure: unsound(settled.errors) }
  const { record, compiled } = settled
  if (record.failure) return { failure: record.failure }
  if (record.held) return { held: record.held }
  const { manifest } = read
  const made = { id, document, manifest, origins, record, compiled, condition: {} }
  const registration = { ...(await sourcedRegistration(made)), refreshed: { seq, lease } }
  const registered = await truth(env).register(registration, false)
  if (registered.outcome !== 'registered') return { outcome: 'overtaken' }
  rememberRegistered(registration, registered)
  forgetLists(ctx)
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
