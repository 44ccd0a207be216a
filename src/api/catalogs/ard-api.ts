import type * as v from 'valibot'
import { agentIdPattern } from '../../card/model/index.ts'
import { config } from '../../config.ts'
import { decodeSegment, type HttpError, jsonResponse, problem, statusOf } from '../../http/index.ts'
import { MAX_PAGE_SIZE, MAX_QUERY_WORDS } from '../../limits.ts'
import { type FilterName, type SearchHit, splitWords, toAnyWordExpressions, toTerm } from '../../registry/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import type { Filter, RankedAgent, SearchQuery } from '../../registry/tables/index.ts'
import { decodeCursor, digestSearch, encodeCursor, rankingCursor } from '../agents/index.ts'
import { anyText, endpoint, integer, json, jsonBody, paginate, text } from '../contract/index.ts'
import { ArdEntry, type ArdError, ArdList, ArdSearchRequest, ArdSearchResult } from '../schemas/index.ts'
import { A2A_CARD_TYPE, agentEntry, entriesOf, MCP_SERVER_CARD_TYPE, mcpEntries, registryUrl } from './entries.ts'

/** Returns an error in the form of ARD (Appendix B), as clients of its API expect. */
const toResponse = (error: HttpError): Response => {
  const status = statusOf(error)
  const named = ({ 404: 'NOT_FOUND', 429: 'RATE_LIMIT_EXCEEDED' } as const)[status]
  const errorCode = named ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL_ERROR')
  const body: v.InferOutput<typeof ArdError> = { errorCode, message: error.message }
  return jsonResponse(body, status, error.headers)
}

const ard = { tag: 'catalogs', access: 'public', limits: ['CALL_LIMIT'], errors: { form: 'ard', toResponse } } as const

/** Describes the search of ARD (§5.3.2) over the public agents, in natural language. */
const searchEndpoint = (summary: string) =>
  endpoint(
    {
      ...{ ...ard, summary },
      body: jsonBody(ArdSearchRequest, { problem: 'bad-query' }),
      responses: { 200: json('The best agents first.', ArdSearchResult) },
      problems: ['bad-cursor'],
    },
    async ({ body: { query, pageSize, pageToken = '' }, env }) => {
      const { type = A2A_CARD_TYPE, tags, capabilities } = query.filter ?? {}
      const words = toWords(query.text)
      if (words.length === 0) return invalid('/query/text must have at least one letter or digit.')
      const filters = [...toFilters('tag', tags), ...toFilters('skill', capabilities)]
      const types = [type].flat()
      const toEntries = selectEntries(types, env)
      const digest = await digestSearch([words, filters, types])
      const token = pageToken === '' ? undefined : readPageToken(pageToken, digest)
      if (!toEntries) return { body: { results: [], referrals: [] } }
      const matches = toAnyWordExpressions(words)
      const search: SearchQuery = { after: 0, limit: pageSize, covered: [], matches, filters, facets: [] }
      const found = await getRegistry(env).search({ ...search, ...(token && { order: token.order }) })
      const best = token?.best ?? found.agents[0]?.score ?? 0
      const results = found.agents.flatMap(agent => {
        const score = best > 0 ? Math.min(100, Math.max(0, Math.round((100 * (agent.score ?? 0)) / best))) : 0
        // The registry that has the agent, at the address that its URLs have: never that of the request.
        const source = registryUrl(agent.origin)
        return toEntries(agent).map(entry => ({ ...entry, score, source }))
      })
      const next = !found.isLast && { pageToken: `${best.toPrecision(6)}~${encodeCursor(digest, found.rest)}` }
      return { body: { results, referrals: [], ...next } }
    },
  )

/** Returns what a search returns of an agent: its card, or its server card if only that is requested. */
const selectEntries = (types: readonly string[], env: Env) => {
  if (types.includes(A2A_CARD_TYPE)) return (agent: SearchHit) => [agentEntry(agent)]
  return types.includes(MCP_SERVER_CARD_TYPE) && config(env).offersMcp ? mcpEntries : undefined
}

/** `POST /search`: the search of ARD where its clients expect it. */
export const search = searchEndpoint('Search agents in natural language, at the root of the host')

/** `POST /ard/search`: the search of ARD. */
export const searchArd = searchEndpoint('Search agents in natural language (ARD)')

/** `GET /ard/agents`: the entries of the public agents, a page at a time (§5.3.5). */
export const listArdEntries = endpoint(
  {
    ...{ ...ard, summary: 'List the entries of the ARD manifest' },
    query: {
      pageSize: integer('The maximum number of entries.', { max: MAX_PAGE_SIZE, fallback: 20 }),
      pageToken: text('The `pageToken` of the previous page.', {
        ...{ pattern: new RegExp(`^$|${agentIdPattern.source}`), expected: 'that of the previous page' },
      }),
    },
    responses: { 200: json('A page of entries, by id.', ArdList) },
    validated: true,
  },
  async ({ query: { pageSize, pageToken = '' }, env }) => {
    const { agents } = await getRegistry(env).catalog({ after: pageToken, limit: pageSize + 1, origin: '' })
    const { page, cursor } = paginate(agents, pageSize, 'id')
    return { body: { items: page.map(agentEntry), ...(cursor !== undefined && { pageToken: cursor }) } }
  },
)

/** `GET /ard/agents/{identifier}`: one entry of ARD by its identifier (§5.3.4). */
export const getArdEntry = endpoint(
  {
    ...{ ...ard, summary: 'Get one entry of the ARD manifest' },
    params: {
      identifier: anyText('The identifier of the entry: `urn:air:`, the publisher, `:agent:` or `:mcp:`, and the id.'),
    },
    responses: { 200: json('The entry of the agent.', ArdEntry) },
    validated: true,
    problems: ['not-found', 'bad-query'],
  },
  async ({ params, env }) => {
    const identifier = decodeSegment(params.identifier) ?? ''
    if (!/^urn:air:[a-zA-Z0-9.-]+(?::[a-zA-Z0-9._-]+)+$/.test(identifier))
      return invalid('The identifier must have the form urn:air:<publisher>:<namespace>:<name>.')
    const id = /^urn:air:[a-zA-Z0-9.-]+:(?:agent|mcp):([a-z0-9-]+)$/.exec(identifier)?.[1]
    // No URL begins with an empty origin.
    const only = { after: '', limit: 1, origin: '' }
    const { agents } = id === undefined ? { agents: [] } : await getRegistry(env).catalog({ ...only, owner: id })
    const entry = entriesOf(agents, config(env).offersMcp).find(entry => entry.identifier === identifier)
    return entry ? { body: entry } : problem('not-found', 'This host has no public agent with this identifier.')
  },
)

const toFilters = (name: FilterName, values: string | string[] | undefined): Filter[] =>
  values === undefined ? [] : [{ name, values: [values].flat().map(value => toTerm(name, value)) }]

/** Returns the words that agents are found by; none if the text has no letter or digit. */
const toWords = (text: string): string[] => {
  const words = splitWords(text)
  // A short word of a sentence says little, and would match every word that begins with it.
  const telling = words.filter(word => !/^[a-z]{1,2}$/.test(word) && !FUNCTION_WORDS.has(word))
  return (telling.length > 0 ? telling : words).slice(0, MAX_QUERY_WORDS)
}

/** Words of a request in English that no agent is found by. */
const FUNCTION_WORDS = new Set(
  (
    'agent agents and any are but can could find for from get help how into need please show some that the this want ' +
    'what when where which who will with would you your'
  ).split(' '),
)

/** Returns the best score of a search, to which all others are in proportion, and the rest of its ranking. */
const readPageToken = (token: string, digest: string): { best: number; order: RankedAgent[] } => {
  const [, best, cursor = ''] = /^([\d.e+-]{1,20})~(.*)$/s.exec(token) ?? []
  if (!rankingCursor.test(cursor)) throw invalid('pageToken must be that of the previous page.')
  return { best: Number(best), order: decodeCursor(cursor, digest) }
}

const invalid = (message: string) => problem('bad-query', message)
