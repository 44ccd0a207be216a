import type { Bearer } from '../auth/caller.ts'
import { isAdmin } from '../auth/may.ts'
import { scopeChallenge } from '../auth/require.ts'
import { type Compiled, compile } from '../card/compile.ts'
import type { Manifest } from '../card/manifest.ts'
import type { Condition } from '../http/condition.ts'
import { HttpError } from '../http/problem.ts'
import { truth } from '../registry/truth.ts'

/**
 * Lets a manifest pass that makes this host use none of its secrets and bindings, or whose writer may hand them out; or that
 * sends what is sent already to where it goes already. Else who may write one agent could have another's secret sent to
 * himself. The condition returned holds the write to what it was compared with.
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
  const registered = await truth(env).manifest(id)
  const before = registered && compile(JSON.parse(registered.manifest), { id, requestOrigin: 'https://host.invalid' })
  if (!before || !('compiled' in before) || !isSame(before.compiled.manifest, manifest))
    throw forbidden(secret === undefined ? 'service' : 'secret', 'is not what is registered now')
  const known = new Set(before.compiled.profile.targets.map(({ url }) => url))
  if (!profile.targets.every(({ url }) => known.has(url)))
    throw forbidden(secret === undefined ? 'service' : 'secret', 'would go to another address than now')
  const named = condition.ifMatch?.some(tag => tag !== '*' && tag !== registered.etag) ?? false
  return named ? condition : { ...condition, ifMatch: [registered.etag] }
}

const isSame = ({ upstream: before }: Manifest, { upstream: after }: Manifest): boolean =>
  (['url', 'card', 'mcp', 'service', 'secret'] as const).every(name => before[name] === after[name])

const forbidden = (field: 'secret' | 'service', why: string): HttpError =>
  new HttpError(
    403,
    'forbidden',
    `upstream.${field} ${why}. Secrets and bindings are the host's: changing where they go needs a token with the scope \`admin\`.`,
    { headers: { 'WWW-Authenticate': scopeChallenge('admin') } },
  )
