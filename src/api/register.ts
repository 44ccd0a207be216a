import type { Principal } from '../auth/principal.ts'
import { hostOrigin } from '../card/compile/canonical-card.ts'
import { type Compiled, compile } from '../card/compile/index.ts'
import { readManifest } from '../card/manifest/manifest.ts'
import { getSource, type Source } from '../card/manifest/source.ts'
import type { CardError } from '../card/model/report.ts'
import type { Precondition } from '../http/conditional.ts'
import { HttpError } from '../http/errors.ts'
import type { Json, JsonObject } from '../json/json.ts'
import { prepareRegistration } from '../registry/prepare.ts'
import type { Registration } from '../registry/records.ts'
import type { SourceRecord } from '../registry/source-record.ts'
import { getRegistry } from '../registry/store/client.ts'
import { fetchSource } from '../sources/fetch-source.ts'
import { reconcile } from '../sources/reconcile.ts'
import { sourcedRegistration } from '../sources/registration.ts'
import { checkSourceAllowed } from '../sources/why-not-called.ts'
import { assertSameTargets, currentBindingUse, heldToSame } from './registration.ts'

/** A registration that is ready to be written, and what its owner is told of it. */
export type Prepared = {
  registration: Registration
  /** Absent where the card is to come from elsewhere and never has. */
  compiled: Compiled | undefined
  /** What is known of where the card comes from; absent where its manifest says it. */
  record?: SourceRecord
}

/** What a writer has sent. */
type Writing = { bearer: Principal; id: string; document: Json; asked: Precondition; request: Request }

/**
 * Makes a registration of what a writer has sent, beside what is kept when it is called; its card is fetched, where it comes from
 * elsewhere, but not again when it is called again.
 */
export const preparation = (writing: Writing, env: Env): (() => Promise<Prepared>) => {
  let fetched: ReturnType<typeof fetchSource> | undefined
  return () =>
    prepare(writing, env, (source, own) => {
      fetched ??= fetchSource(source, writing.id, undefined, env, own)
      return fetched
    })
}

const prepare = async (
  { bearer, id, document, asked, request }: Writing,
  env: Env,
  ask: (source: Source, own: string[]) => ReturnType<typeof fetchSource>,
): Promise<Prepared> => {
  const origins = { publicUrl: env.PUBLIC_URL, requestOrigin: new URL(request.url).origin }
  const read = readManifest(document, id)
  if ('errors' in read) throw invalid(read.errors)
  const { manifest } = read
  const source = getSource(manifest)
  // Before anything is fetched: what is sent along may be a secret.
  const use = await currentBindingUse(bearer, id, manifest, env)
  if (source === undefined) {
    const compiled = soundOrRefused(compile(document, { id, ...origins }))
    return {
      compiled,
      registration: await prepareRegistration(id, document, compiled, assertSameTargets(use, compiled, asked)),
    }
  }
  const blocked = checkSourceAllowed(source, env)
  if (blocked) throw invalid([blocked])
  const known = (await getRegistry(env).sourceRecord(id)) ?? undefined
  const fetched = await ask(source, [hostOrigin(manifest, origins), origins.requestOrigin])
  const agent = { document, registration: { id, ...origins }, source, known, by: 'manifest' } as const
  const settled = await reconcile(agent, fetched)
  if ('errors' in settled) throw invalid(settled.errors)
  const { record, compiled } = settled
  const served = servedBefore(known, source)
  const condition =
    compiled && served ? assertSameTargets(use, compiled, asked, served) : heldToSame(use, document, asked)
  const made = { id, document, manifest, origins, record, compiled, condition }
  const beside = { checked: known?.checked }
  return { compiled, record, registration: { ...(await sourcedRegistration(made)), beside } }
}

/** What is served of the same source now. */
const servedBefore = (known: SourceRecord | undefined, { kind, url }: Source): JsonObject | undefined =>
  known?.card !== undefined && known.source.kind === kind && known.source.url === url
    ? (JSON.parse(known.card) as JsonObject)
    : undefined

const soundOrRefused = (result: ReturnType<typeof compile>): Compiled => {
  if ('errors' in result) throw invalid(result.errors)
  return result.compiled
}

const invalid = (errors: CardError[]): HttpError => {
  const first = errors[0] ? ` ${errors[0].pointer || 'The document'} ${errors[0].message}.` : ''
  const more = errors.length > 1 ? ` And ${errors.length - 1} more.` : ''
  return new HttpError(422, 'invalid-card', `Nothing was registered.${first}${more}`, { errors: errors.slice(0, 100) })
}
