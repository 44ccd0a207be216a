import { countUnrecognized, findAgentByName, readableBy, tooManyAttempts } from '../../auth/index.ts'
import { decodeSegment, problem } from '../../http/index.ts'
import { agentPage, readShamanList, respondWithList } from '../agents/index.ts'
import { card } from '../card-descriptions.ts'
import { cardResponseFor } from '../card-endpoints.ts'
import { anyText, endpoint, json, version } from '../contract/index.ts'
import { ShamanList } from '../schemas/index.ts'

/** `GET /.well-known/a2a/agents`: Shaman's list of agents. */
export const listForShaman = endpoint(
  {
    tag: 'compatibility',
    summary: "Get Shaman's list of agents",
    description: 'With `ROLE` set to `internal`, only for callers with a token.',
    access: 'reader',
    internal: 'read',
    query: agentPage,
    responses: { 200: json('A page of agents.', ShamanList, { headers: ['Link'] }) },
    validated: true,
    raw: true,
    limits: ['CALL_LIMIT'],
  },
  ({ query, caller, ...context }) =>
    respondWithList('/.well-known/a2a/agents', caller, context, () => readShamanList(query, context.env, caller)),
)

/** `GET /a2a/v1/agents/{name}`: the card of an agent by its name or id, in any case; by default in Shaman's dialect. */
export const getNamedCard = endpoint(
  {
    ...card("Get a card by the agent's name or id, by default in Shaman's dialect", 'agent-not-found'),
    tag: 'compatibility',
    internal: 'read',
    params: { name: anyText('The name or the id of the agent, in any case.') },
    headers: { 'A2A-Version': version('the card should have the form of') },
    raw: true,
    limits: ['CALL_LIMIT'],
  },
  async ({ params, caller, request, env, ctx }) => {
    const name = decodeSegment(params.name)
    const id = name === undefined ? '' : await findAgentByName(name, readableBy(caller, request, env, ctx), env, ctx)
    const response = id === '' ? undefined : await cardResponseFor(id, 'shaman', { request, env, ctx }, { caller })
    if (response !== undefined) return response
    if (await countUnrecognized(caller, request, env)) throw tooManyAttempts()
    const hint = 'GET /.well-known/a2a/agents lists agents.'
    return problem('agent-not-found', `No agent "${(name ?? '').slice(0, 80)}" exists here, by name or id. ${hint}`)
  },
)
