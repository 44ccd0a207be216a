import { anyText, endpoint } from './api/contract/index.ts'
import { agentNotFound, CATALOG_LINKS } from './api/index.ts'
import { type Handler, problem } from './http/index.ts'

/** Any path without an endpoint, such as the root of the host: it leads to the catalogs. */
export const notFound: Handler = () => {
  const detail =
    'No such endpoint. GET /agents lists agents; their cards are at /agents/{id}/.well-known/agent-card.json. ' +
    'PUT /agents/{id} registers one. GET /openapi.json describes all endpoints.'
  throw problem('not-found', detail, { headers: { Link: CATALOG_LINKS } })
}

/** `GET /agents/.well-known/…`: a client has dropped the last segment of its base URL. */
export const getCardWithoutAgent = endpoint(
  {
    tag: 'cards',
    summary: 'Explain that the base URL lacks the id of the agent',
    access: 'public',
    params: { file: anyText('The name of the card.') },
    responses: {},
    problems: ['agent-not-found'],
  },
  () => agentNotFound('.well-known'),
)

/** Rejects a method that the path of a request does not support. */
export const rejectMethod = ({ method, url }: Request, allowed: readonly string[]): never => {
  const isWrite = /^P/.test(method) && /agent|^\/$/.test(new URL(url).pathname)
  const hint = isWrite ? ' To register an agent, send its card with PUT /agents/{id}.' : ''
  throw problem('method-not-allowed', `This path supports ${allowed.join(', ')}, not ${method}.${hint}`, {
    headers: { Allow: allowed.join(', ') },
  })
}
