import { isAdmin } from '../auth/permissions.ts'
import type { Principal } from '../auth/principal.ts'
import { adminRequired } from '../auth/require.ts'
import type { CallProfile } from '../card/call-profile.ts'
import { hostOrigin } from '../card/compile/canonical-card.ts'
import { type Compiled, compile } from '../card/compile/index.ts'
import { type Manifest, readManifest } from '../card/manifest/manifest.ts'
import { getSource, type Source } from '../card/manifest/upstream.ts'
import type { CardError } from '../card/model/report.ts'
import type { Precondition } from '../http/conditional.ts'
import { HttpError } from '../http/errors.ts'
import { type Json, type JsonObject, jsonEquals } from '../json/json.ts'
import { prepareRegistration } from '../registry/prepare.ts'
import type { Registration, SourceRecord } from '../registry/records.ts'
import { getRegistry } from '../registry/store/client.ts'
import { checkSourceAllowed, fetchSource } from '../sources/fetch.ts'
import { prepareRemote, reconcile } from '../sources/reconcile.ts'

/** Who may have a call sent with what the Worker keeps, and what else is asked: for the profile's field, what says so. */
const opening: readonly (readonly [field: keyof CallProfile, name: string])[] = [
  ['visibility', 'visibility'],
  ['route', 'route'],
  ['gate', 'gate'],
  ['requiresAuthentication', 'card.security'],
  ['apiKeyHeaders', 'card.securitySchemes'],
  ['openIdConnectUrls', 'card.securitySchemes'],
  ['jwt', 'jwt'],
]

/** A registered agent that uses a secret or a binding of this Worker; `name` is what of its manifest says so. */
type RegisteredUse = { id: string; etag: string; name: 'secret' | 'service'; document: Json; origin: string }

/**
 * Lets a manifest pass that makes this host use none of its secrets and bindings, or whose writer may hand them out; of any other
 * that uses what is used already, what is registered. Else who may write one agent could have another's secret sent to himself.
 */
const currentBindingUse = async (
  bearer: Principal,
  id: string,
  manifest: Manifest,
  env: Env,
): Promise<RegisteredUse | undefined> => {
  const { secret, service } = manifest.upstream
  if ((secret === undefined && service === undefined) || isAdmin(bearer)) return undefined
  const name = secret === undefined ? 'service' : 'secret'
  const registered = await getRegistry(env).manifest(id)
  const document: Json = registered && JSON.parse(registered.manifest)
  const before = readManifest(document)
  if (!registered || !('manifest' in before) || !isSame(before.manifest, manifest))
    throw forbidden(name, 'is not what is registered now')
  return { id, etag: registered.etag, name, document, origin: registered.origin }
}

/**
 * Lets a card pass that has what is used sent to where it goes already, for whom it goes there already: else its writer could let
 * anybody use it. `served` is what its source had answered when that was registered: what it says since is nobody's leave. The
 * condition returned holds the write to what it was compared with.
 */
export const assertSameTargets = (
  use: RegisteredUse | undefined,
  { profile }: Compiled,
  condition: Precondition,
  served?: JsonObject,
): Precondition => {
  if (use === undefined) return condition
  const { id, etag, name, document, origin } = use
  const before = compile(document, { id, publicUrl: origin, requestOrigin: origin, fetched: served })
  if (!('compiled' in before)) throw forbidden(name, 'is not what is registered now')
  const { profile: was } = before.compiled
  const known = new Set(was.targets.map(addressOf))
  if (!profile.targets.every(target => known.has(addressOf(target))))
    throw forbidden(name, 'would go to another address than now')
  const opened = opening.find(([field]) => JSON.stringify(was[field]) !== JSON.stringify(profile[field]))
  if (opened) throw forbidden(name, `would go there for others than now: ${opened[1]} is not what is registered`)
  return heldToTag(condition, etag)
}

/** The same where no card was there to compare with: then the manifest must say what it says already. */
const heldToSame = (use: RegisteredUse | undefined, document: Json, condition: Precondition): Precondition => {
  if (use === undefined) return condition
  if (!jsonEquals(document, use.document))
    throw forbidden(use.name, 'is of an agent whose card has not come yet, so that nobody can tell who could use it')
  return heldToTag(condition, use.etag)
}

/** A condition that holds a write to what has an entity tag, unless it names another, which fails by itself. */
const heldToTag = (condition: Precondition, etag: string): Precondition => {
  const named = condition.ifMatch?.some(tag => tag !== '*' && tag !== etag) ?? false
  return named ? condition : { ...condition, ifMatch: [etag] }
}

const forbidden = (name: RegisteredUse['name'], why: string): HttpError =>
  adminRequired(`upstream.${name} ${why}. Secrets and bindings are the host's: changing where they go, or for whom,`)

const addressOf = ({ url, tenant, agentName }: CallProfile['targets'][number]): string =>
  JSON.stringify([url, tenant, agentName])

const isSame = ({ upstream: before }: Manifest, { upstream: after }: Manifest): boolean =>
  jsonEquals(before as JsonObject, after as JsonObject)

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
  const source = getSource(manifest.upstream)
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
  const agent = { id, document, manifest, origins, source, known, by: 'manifest' } as const
  const reconciled = await reconcile(agent, fetched)
  if ('errors' in reconciled) throw invalid(reconciled.errors)
  const { record, compiled } = reconciled
  const served = servedBefore(known, source)
  const condition =
    compiled && served ? assertSameTargets(use, compiled, asked, served) : heldToSame(use, document, asked)
  const expected = { ...condition, checked: known?.checked ?? null }
  return { compiled, record, registration: await prepareRemote(agent, reconciled, expected) }
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
