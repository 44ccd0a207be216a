import { problem } from '../http/start.ts'
import type { SourceHealth } from '../registry/index.ts'

/** The error for an agent that does not exist; an internal one looks the same to callers that may not read it. */
export const agentNotFound = (id: string) =>
  problem('agent-not-found', `No agent "${id.slice(0, 80)}" exists here. GET /agents lists agents.${hint(id)}`)

const hint = (id: string): string => {
  if (id === '.well-known')
    return ' Your client dropped the last segment of its base URL: use one that ends in a slash, such as /agents/{id}/.'
  return id === id.toLowerCase() ? '' : ' Ids are lower case.'
}

/** The error for a write that is based on an outdated state of the agent. */
export const agentConflict = (id: string, reason: string) =>
  problem('conflict', `Agent "${id}" ${reason}. Retry.`, { headers: { 'Retry-After': '1' } })

/** The error for a hostname without an agent, on a host without a root agent. */
export const noRootAgent = () => {
  const hint = 'GET /agents lists agents; each card is at /agents/{id}/.well-known/agent-card.json.'
  return problem('no-root-agent', `No agent is configured for this hostname. ${hint}`)
}

/** One code and text for each status: the reason is for the owner only. */
const upstreamErrors = {
  502: ['upstream-unreachable', 'an upstream that is unreachable or returned an invalid card'],
  503: ['upstream-not-ready', 'an upstream that is not ready'],
  504: ['upstream-timeout', 'an upstream that did not respond in time'],
} as const

/** The problems of a remote card without a usable copy. */
export const UPSTREAM_PROBLEMS = ['upstream-unreachable', 'upstream-not-ready', 'upstream-timeout'] as const

/** A failing upstream is fetched about once a minute, so an earlier retry has no effect. */
const MIN_RETRY_SECONDS = 60

/** The error for a remote card of which there is no usable copy. */
export const upstreamCardUnavailable = ({ failing = 502, ttl }: SourceHealth) => {
  const [code, upstream] = upstreamErrors[failing]
  return problem(code, `This agent's card is fetched from ${upstream}. Try again later.`, {
    headers: { 'Retry-After': String(Math.min(ttl, MIN_RETRY_SECONDS)) },
  })
}
