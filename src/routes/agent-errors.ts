import { HttpError } from '../http/problem.ts'

/** There is no public agent of that id here; an internal one looks the same to who has no token. */
export const agentNotFound = (id: string): HttpError =>
  new HttpError(
    404,
    'agent-not-found',
    `There is no agent "${id.slice(0, 80)}" here. GET /agents lists those that are.${hint(id)}`,
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

/** The id of a write is not of the form that ids have. */
export const badAgentId = (id: string): HttpError =>
  new HttpError(
    400,
    'bad-agent-id',
    `"${id.slice(0, 80)}" cannot be an agent's id: use 1 to 63 lower-case letters, digits and hyphens, beginning with a letter or digit.`,
  )
