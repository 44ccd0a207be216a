import { authenticate, authenticateForAgent } from '../auth/authenticate.ts'
import { hasPermission } from '../auth/permissions.ts'
import { unauthorized } from '../auth/require.ts'
import type { CallProfile } from '../card/call-profile.ts'
import { checkRateLimit } from '../gateway/access.ts'
import { HttpError } from '../http/errors.ts'
import type { Handler } from '../http/handler.ts'
import { CORS_HEADERS } from '../http/headers.ts'
import { log } from '../http/log.ts'
import { tooManyRequests } from '../http/too-many.ts'
import { serviceUnavailable } from '../http/unavailable.ts'
import { isCardHost } from '../http/user-agent.ts'
import { lookUpProfile } from '../registry/edge/edge-profiles.ts'
import { agentNotFound } from './errors.ts'
import { fetchLink, type LinkName } from './linked.ts'

const safety = {
  'Content-Security-Policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

/**
 * `GET /agents/{id}/documentation` and `/icon`: what the card of an agent behind the gateway names on the agent's own host, whose
 * address nobody is told. Of a card that names it elsewhere, there is nothing here.
 */
export const agentLink =
  (name: LinkName): Handler =>
  async (request, env, ctx) => {
    if (isCardHost(request.headers)) throw loop(name)
    const id = request.params.id ?? ''
    const profile = await readableProfile(id, request, env, ctx)
    const url = profile.links?.[name]
    if (url === undefined) throw new HttpError(404, 'not-found', `The card of agent "${id}" names no ${name} here.`)
    // Who may write a card would else read all that is behind a binding: it is for calls, and for the card itself.
    if (profile.service !== undefined) {
      log('warn', 'link-unread', { agent: id, name, why: 'the agent is called through a service binding' })
      throw new HttpError(404, 'not-found', `The ${name} of agent "${id}" is not shown here.`)
    }
    const linked = await fetchLink(name, url, { id, profile, origin: new URL(request.url).origin }, env)
    if ('failed' in linked) throw unreachable(id, name, linked.failed)
    const caching = profile.visibility === 'public' ? 'public, max-age=3600' : 'private, no-store'
    return new Response(linked.content, {
      headers: { ...CORS_HEADERS, ...safety, 'Content-Type': linked.type, 'Cache-Control': caching },
    })
  }

/** `GET /agents/{id}/documentation`. */
export const agentDocumentation = agentLink('documentation')

/** `GET /agents/{id}/icon`. */
export const agentIcon = agentLink('icon')

/** What is known of an agent that a request's sender may read; to all others, it looks like none. */
const readableProfile = async (id: string, ...[request, env, ctx]: Parameters<Handler>): Promise<CallProfile> => {
  const bearer = await authenticate(request, env, ctx)
  if (await checkRateLimit(bearer, request, env)) throw tooManyRequests('That is asked for too often.')
  const profile = await lookUpProfile(id, env, ctx)
  if (profile === undefined) throw serviceUnavailable()
  const caller = profile ? await authenticateForAgent(bearer, request, id, profile, env, ctx) : bearer
  if (!caller.known && caller.given === 'throttled') throw unauthorized(caller, request, env)
  if (profile === null || (profile.visibility === 'internal' && !hasPermission(caller, 'read', id)))
    throw agentNotFound(id)
  return profile
}

/** Hosts like this one show what is behind them, not what others show: else one request could go around for ever. */
const loop = (name: LinkName): HttpError =>
  new HttpError(
    508,
    'loop',
    `A host like this one asks for this ${name}: it is for people, and fetched for no other host.`,
  )

const unreachable = (agent: string, name: LinkName, why: string): HttpError => {
  log('error', 'link-unread', { agent, name, why })
  return new HttpError(
    502,
    'link-unreachable',
    `The ${name} of agent "${agent}" could not be fetched. Try again later.`,
  )
}
