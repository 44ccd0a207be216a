import type { Bearer } from '../auth/caller.ts'
import { isAdmin } from '../auth/may.ts'
import { scopeChallenge } from '../auth/require.ts'
import type { CallProfile } from '../card/call-profile.ts'
import { type Compiled, compile } from '../card/compile.ts'
import type { Manifest } from '../card/manifest.ts'
import type { Condition } from '../http/condition.ts'
import { HttpError } from '../http/problem.ts'
import { truth } from '../registry/truth.ts'

/** Who may have a call sent with what the Worker keeps: for the profile's field, what of the manifest says so. */
const opening: readonly (readonly [field: keyof CallProfile, name: string])[] = [
  ['visibility', 'visibility'],
  ['route', 'route'],
  ['gate', 'gate'],
  ['secured', 'card.security'],
  ['apiKeyHeaders', 'card.securitySchemes'],
  ['openIdConnectUrls', 'card.securitySchemes'],
  ['jwt', 'jwt'],
]

/**
 * Lets a manifest pass that makes this host use none of its secrets and bindings, or whose writer may hand them out; or that
 * sends what is sent already to where it goes already, for whom it goes there already. Else who may write one agent could have
 * another's secret sent to himself, or let anybody use it. The condition returned holds the write to what it was compared with.
 */
export const upstreamCondition = async (
  bearer: Bearer,
  id: string,
  { manifest, profile }: Compiled,
  condition: Condition,
  env: Env,
): Promise<Condition> => {
  const { secret, service } = manifest.upstream
  if ((secret === undefined && service === undefined) || isAdmin(bearer)) return condition
  const forbidden = (why: string) =>
    needsAdmin(
      `upstream.${secret === undefined ? 'service' : 'secret'} ${why}. Secrets and bindings are the host's: changing where they go, or for whom,`,
    )
  const registered = await truth(env).manifest(id)
  const requestOrigin = registered?.origin ?? ''
  const before = registered && compile(JSON.parse(registered.manifest), { id, publicUrl: requestOrigin, requestOrigin })
  if (!before || !('compiled' in before) || !isSame(before.compiled.manifest, manifest))
    throw forbidden('is not what is registered now')
  const was = before.compiled.profile
  const known = new Set(was.targets.map(addressOf))
  if (!profile.targets.every(target => known.has(addressOf(target))))
    throw forbidden('would go to another address than now')
  const opened = opening.find(([field]) => JSON.stringify(was[field]) !== JSON.stringify(profile[field]))
  if (opened) throw forbidden(`would go there for others than now: ${opened[1]} is not what is registered`)
  const named = condition.ifMatch?.some(tag => tag !== '*' && tag !== registered.etag) ?? false
  return named ? condition : { ...condition, ifMatch: [registered.etag] }
}

const addressOf = ({ url, tenant }: CallProfile['targets'][number]): string => JSON.stringify([url, tenant])

const isSame = ({ upstream: before }: Manifest, { upstream: after }: Manifest): boolean =>
  (['url', 'card', 'mcp', 'service', 'secret'] as const).every(name => before[name] === after[name])

/** What a writer is told of what is not a writer's to change; `what` is the beginning of a sentence. */
export const needsAdmin = (what: string): HttpError =>
  new HttpError(403, 'forbidden', `${what} needs a token with the scope \`admin\`.`, {
    headers: { 'WWW-Authenticate': scopeChallenge('admin') },
  })
