import { HttpError } from '../http/errors.ts'
import type { SourceHealth } from '../registry/kv-format.ts'

/** There is no public agent of that id here; an internal one looks the same to who has no token. */
export const agentNotFound = (id: string): HttpError =>
  new HttpError(
    404,
    'agent-not-found',
    `There is no agent "${id.slice(0, 80)}" here. GET /agents lists those that are.${hint(id)}`,
  )

/** The same of an agent that was asked for by its name. */
export const agentNotNamed = (name: string): HttpError =>
  new HttpError(
    404,
    'agent-not-found',
    `There is no agent of the name or id "${name.slice(0, 80)}" here. GET /.well-known/a2a/agents lists those that are.`,
  )

const hint = (id: string): string => {
  if (id === '.well-known')
    return ' A client dropped the last segment of its base URL: give it one that ends in a slash, such as /agents/{id}/.'
  return id !== id.toLowerCase() ? ' Ids are lower case.' : ''
}

/** No agent stands for this host name, and there is no root agent. */
export const noRootAgent = (): HttpError =>
  new HttpError(
    404,
    'no-root-agent',
    'No agent stands for this host name. GET /agents lists the agents here; each card is at /agents/{id}/.well-known/agent-card.json.',
  )

/** Of each status one text and one code, whatever the reason: what it is, is for the owner alone. */
const unavailable = {
  502: ['upstream-unreachable', 'cannot be had from there, or is none that can be served.'],
  503: ['upstream-not-ready', 'is not ready there.'],
  504: ['upstream-timeout', 'did not come from there in time.'],
} as const

/** How soon it is worth asking again, at the least: about as often as a source that fails is asked. In seconds. */
const retryAfter = 60

/** There is an agent, but its card comes from elsewhere, and there is none now. */
export const upstreamCardUnavailable = ({ failing = 502, ttl }: SourceHealth): HttpError => {
  const [code, why] = unavailable[failing]
  return new HttpError(failing, code, `The card of this agent comes from elsewhere, and ${why} Ask again later.`, {
    headers: { 'Retry-After': String(Math.min(ttl, retryAfter)) },
  })
}
