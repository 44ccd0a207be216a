import { callerOf } from '../auth/callers.ts'
import { may } from '../auth/may.ts'
import type { CallProfile } from '../card/call-profile.ts'
import { agentId } from '../card/limits.ts'
import { cors } from '../http/cors.ts'
import { guardedBytes } from '../http/guarded-bytes.ts'
import { mediaTypeName } from '../http/json-type.ts'
import { log } from '../http/log.ts'
import { HttpError } from '../http/problem.ts'
import { readerOf } from '../http/source-fetch.ts'
import { readProfile } from '../registry/edge-profiles.ts'
import { agentNotFound } from './agent-errors.ts'
import { limitRefusal } from './calls/admission.ts'
import type { Handler } from './handler.ts'

type LinkName = keyof NonNullable<CallProfile['links']>

/** What each may be: nothing that a browser would run. HTML is shown without its scripts, and as of no origin. */
const types: Record<LinkName, RegExp> = {
  documentation: /^(?:text\/(?:html|plain|markdown)|application\/(?:json|yaml|pdf))$/,
  icon: /^image\/(?:png|jpeg|gif|webp|avif|svg\+xml|x-icon|vnd\.microsoft\.icon)$/,
}

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
    const id = request.params.id ?? ''
    const caller = await callerOf(request, env, ctx)
    const limited = await limitRefusal(caller, request, env)
    if (limited) throw tooMany()
    const profile = agentId.test(id) ? await readProfile(id, env, ctx) : null
    if (profile === null || (profile.visibility === 'internal' && !may(caller, 'read', id))) throw agentNotFound(id)
    const url = profile.links?.[name]
    if (url === undefined) throw new HttpError(404, 'not-found', `The card of agent "${id}" names no ${name} here.`)
    return fetchLink(id, name, url, profile, env)
  }

const fetchLink = async (
  id: string,
  name: LinkName,
  url: string,
  { service, visibility }: CallProfile,
  env: Env,
): Promise<Response> => {
  const reader = readerOf({ url, ...(service !== undefined && { service }) }, env)
  if ('misconfigured' in reader) throw unreachable(id, name, reader.misconfigured)
  const accepts = (type: string | null) => types[name].test(mediaTypeName(type))
  const fetched = await guardedBytes(url, { accepts, ask: reader.ask })
  if ('failed' in fetched) throw unreachable(id, name, `${fetched.failed}: ${fetched.detail}`)
  return new Response(fetched.content as Uint8Array<ArrayBuffer>, {
    headers: {
      ...cors,
      ...safety,
      'Content-Type': fetched.headers.get('Content-Type') ?? 'application/octet-stream',
      'Cache-Control': visibility === 'public' ? 'public, max-age=3600' : 'private, no-store',
    },
  })
}

const unreachable = (agent: string, name: LinkName, why: string): HttpError => {
  log('error', 'link-unread', { agent, name, why })
  return new HttpError(
    502,
    'link-unreachable',
    `The ${name} of agent "${agent}" could not be fetched. Try again later.`,
  )
}

const tooMany = (): HttpError =>
  new HttpError(429, 'too-many-requests', 'That is asked for too often. Try again in a minute.', {
    headers: { 'Retry-After': '60' },
  })
