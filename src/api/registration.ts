import { isAdmin } from '../auth/permissions.ts'
import type { Principal } from '../auth/principal.ts'
import type { CallProfile } from '../card/call-profile.ts'
import { type Compiled, compile } from '../card/compile/index.ts'
import { type Manifest, readManifest } from '../card/manifest/manifest.ts'
import type { Precondition } from '../http/conditional.ts'
import type { HttpError } from '../http/errors.ts'
import { type Json, type JsonObject, jsonEquals } from '../json/json.ts'
import { getRegistry } from '../registry/store/client.ts'
import { adminRequired } from './needs-admin.ts'

/** Who may have a call sent with what the Worker keeps, and what else is asked: for the profile's field, what says so. */
const opening: readonly (readonly [field: keyof CallProfile, name: string])[] = [
  ['visibility', 'visibility'],
  ['route', 'route'],
  ['gate', 'gate'],
  ['requiresAuthentication', 'card.security'],
  ['apiKeyHeaders', 'card.securitySchemes'],
  ['openIdConnectUrls', 'card.securitySchemes'],
  ['jwt', 'jwt'],
  ['links', 'card.documentationUrl or card.iconUrl'],
]

/** A registered agent that uses a secret or a binding of this Worker; `name` is what of its manifest says so. */
export type RegisteredUse = { id: string; etag: string; name: 'secret' | 'service'; document: Json; origin: string }

/**
 * Lets a manifest pass that makes this host use none of its secrets and bindings, or whose writer may hand them out; of any other
 * that uses what is used already, what is registered. Else who may write one agent could have another's secret sent to himself.
 */
export const currentBindingUse = async (
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
export const heldToSame = (use: RegisteredUse | undefined, document: Json, condition: Precondition): Precondition => {
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
