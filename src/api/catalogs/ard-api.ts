import * as v from 'valibot'
import { ANONYMOUS } from '../../auth/index.ts'
import { agentIdPattern, validate, wholeNumber } from '../../card/model/index.ts'
import { config } from '../../config.ts'
import {
  type Handler,
  type HttpError,
  jsonResponse,
  problem,
  readJson,
  respondWithDocument,
  statusOf,
  toHttpError,
} from '../../http/index.ts'
import type { Json } from '../../json/index.ts'
import { MAX_PAGE_SIZE, MAX_QUERY_WORDS } from '../../limits.ts'
import { type FilterName, splitWords, toAnyWordExpressions, toTerm } from '../../registry/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import type { Filter, RankedAgent, SearchQuery } from '../../registry/tables/index.ts'
import { countList, decodeCursor, digestSearch, encodeCursor, rankingCursor } from '../agents/index.ts'
import { decodeSegment, paginate, rejectUnknownQuery } from '../parse-request.ts'
import { ArdSearchRequest } from '../schemas/index.ts'
import { A2A_CARD_TYPE, agentEntry, registryUrl } from './entries.ts'

const DEFAULT_LIST_SIZE = 20

/** `POST /ard/search` and `POST /search`: the search of ARD (§5.3.2) over the public agents, in natural language. */
export const postSearch: Handler = (request, env) =>
  withArdErrors(async () => {
    await countList(ANONYMOUS, request, env)
    const { words, filters, isOtherType, pageSize, pageToken } = parseBody(await readJson(request))
    const digest = await digestSearch([words, filters, isOtherType])
    const token = pageToken === '' ? undefined : readPageToken(pageToken, digest)
    if (isOtherType) return jsonResponse({ results: [], referrals: [] })
    const matches = toAnyWordExpressions(words)
    const query: SearchQuery = { after: 0, limit: pageSize, covered: [], matches, filters, facets: [] }
    const found = await getRegistry(env).search({ ...query, ...(token && { order: token.order }) })
    const best = token?.best ?? found.agents[0]?.score ?? 0
    const results = found.agents.map(agent => ({
      ...agentEntry(agent),
      score: toPercentage(agent.score ?? 0, best),
      // The registry that has the agent, at the address that its URLs have: never that of the request.
      source: registryUrl(agent.origin),
    }))
    return jsonResponse({
      ...{ results, referrals: [] },
      ...(!found.isLast && { pageToken: `${best.toPrecision(6)}~${encodeCursor(digest, found.rest)}` }),
    })
  })

/** `GET /ard/agents`: the entries of the public agents, a page at a time (§5.3.5). */
export const listEntries: Handler = (request, env) =>
  withArdErrors(async () => {
    await countList(ANONYMOUS, request, env)
    const url = new URL(request.url)
    rejectUnknownQuery(url, ['pageSize', 'pageToken'])
    const pageSize = Number(url.searchParams.get('pageSize') ?? DEFAULT_LIST_SIZE)
    if (!v.is(wholeNumber(1, MAX_PAGE_SIZE), pageSize))
      throw invalid(`pageSize must be a whole number from 1 to ${MAX_PAGE_SIZE}.`)
    const after = url.searchParams.get('pageToken') ?? ''
    if (after !== '' && !agentIdPattern.test(after)) throw invalid('pageToken must be that of the previous page.')
    const { agents } = await getRegistry(env).catalog({ after, limit: pageSize + 1, origin: '' })
    const { page, cursor } = paginate(agents, pageSize, 'id')
    const list = { items: page.map(agentEntry), ...(cursor !== undefined && { pageToken: cursor }) }
    return respondWithDocument(list, request.headers, cacheHeaders(env))
  })

/** `GET /ard/agents/{identifier}`: one entry of ARD by its identifier (§5.3.4). */
export const getEntry: Handler = (request, env, _, { identifier: segment = '' }) =>
  withArdErrors(async () => {
    await countList(ANONYMOUS, request, env)
    const identifier = parseIdentifier(segment)
    const id = /^urn:air:[a-zA-Z0-9.-]+:agent:([a-z0-9-]+)$/.exec(identifier)?.[1]
    const { agents } = id === undefined ? { agents: [] } : await getRegistry(env).catalog(onlyAgent(id))
    const entry = agents.map(agentEntry).find(entry => entry.identifier === identifier)
    if (!entry) throw problem('not-found', 'This host has no public agent with this identifier.')
    return respondWithDocument(entry, request.headers, cacheHeaders(env))
  })

const cacheHeaders = (env: Env) => ({
  'Cache-Control': config(env).publicCacheControl,
  'Content-Type': 'application/json',
})

/** No URL begins with an empty origin. */
const onlyAgent = (id: string) => ({ after: '', limit: 1, origin: '', owner: id })

const parseIdentifier = (segment: string): string => {
  const identifier = decodeSegment(segment) ?? ''
  if (/^urn:air:[a-zA-Z0-9.-]+(?::[a-zA-Z0-9._-]+)+$/.test(identifier)) return identifier
  throw invalid('The identifier must have the form urn:air:<publisher>:<namespace>:<name>.')
}

/** Answers errors in the form of ARD (Appendix B), as clients of its API expect. */
const withArdErrors = async (answer: () => Promise<Response>): Promise<Response> => {
  try {
    return await answer()
  } catch (error) {
    const httpError = toHttpError(error)
    if (!httpError) throw error
    const { message, headers } = httpError
    const status = statusOf(httpError)
    return jsonResponse({ errorCode: errorCodeOf(status), message }, status, headers)
  }
}

const errorCodeOf = (status: number): string => {
  if (status === 404) return 'NOT_FOUND'
  if (status === 429) return 'RATE_LIMIT_EXCEEDED'
  return status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL_ERROR'
}

/** Parses a search. It `isOtherType` if it excludes cards: no entry is anything else. */
const parseBody = (body: Json) => {
  const result = validate(ArdSearchRequest, body)
  if ('errors' in result) {
    const [{ pointer, message } = { pointer: '', message: 'is invalid' }] = result.errors
    throw invalid(`${pointer.slice(1, 80).toWellFormed().replaceAll('/', '.') || 'The body'} ${message}.`)
  }
  const { query, pageSize, pageToken = '' } = result.output
  const { type = A2A_CARD_TYPE, tags, capabilities } = query.filter ?? {}
  const filters = [...toFilters('tag', tags), ...toFilters('skill', capabilities)]
  const isOtherType = ![type].flat().includes(A2A_CARD_TYPE)
  return { words: parseText(query.text), filters, isOtherType, pageSize, pageToken }
}

const toFilters = (name: FilterName, values: string | string[] | undefined): Filter[] =>
  values === undefined ? [] : [{ name, values: [values].flat().map(value => toTerm(name, value)) }]

const parseText = (text: string): string[] => {
  const words = splitWords(text)
  if (words.length === 0) throw invalid('query.text must have at least one letter or digit.')
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

const toPercentage = (score: number, best: number): number =>
  best > 0 ? Math.min(100, Math.max(0, Math.round((100 * score) / best))) : 0

const invalid = (message: string): HttpError => problem('bad-query', message)
