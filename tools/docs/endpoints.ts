import { type Access, tags } from '../../src/api/contract/description.ts'
import type { NamedDescription, Route } from '../../src/api/contract/start.ts'
import { listLimits, listProblems, toTemplate } from '../../src/api/openapi/index.ts'
import { type ProblemCode, problems } from '../../src/problems.ts'
import { formatLimit } from './limits.ts'
import { code, linkPages, type Page, table, wrap } from './page.ts'

/** An endpoint with its description and the codes of its errors. */
export type DocumentedEndpoint = {
  method: string
  path: string
  description: NamedDescription
  codes: readonly ProblemCode[]
}

/** Reads the descriptions of all endpoints. */
export const readEndpoints = (routes: readonly Route[]): Promise<DocumentedEndpoint[]> =>
  Promise.all(
    routes.map(async ([method, path, { describe }]) => {
      const description = await describe()
      const template = toTemplate(path)
      const codes = hasProblems(description) ? listProblems(template, description) : []
      return { method, path: template, description, codes }
    }),
  )

/** Returns whether an endpoint has the errors of this host, not those of A2A calls or of SuperX. */
const hasProblems = ({ access, errors }: NamedDescription): boolean => access !== 'card' && errors?.form !== 'superx'

/** How a table shows access that is no scope. */
const accessTexts: Partial<Record<Access, string>> = {
  public: '',
  optional: 'optional: `read`',
  reader: 'optional: `read`',
  token: 'any token',
  card: "the card's",
}

const isScope = (access: Access): boolean => accessTexts[access] === undefined

/** Kinds of endpoints, from which some of their problems follow. */
const kinds: readonly [text: string, includes: (description: NamedDescription, path: string) => boolean][] = [
  ['all', () => true],
  ['with an optional token', ({ access }) => access === 'optional'],
  ['with a token', ({ access }) => access === 'token' || isScope(access)],
  ['with a scope', ({ access }) => isScope(access)],
  ['with the scope `write` of one agent', ({ access }, path) => access === 'write' && path.startsWith('/agents/{id}')],
  ['with a rate limit', description => listOwnLimits(description).length > 0],
  ['with `WRITE_LIMIT`', ({ limits }) => limits?.includes('WRITE_LIMIT') === true],
  ['with a query, but those of cards', description => 'query' in description && !('openQuery' in description)],
  ['with the query `limit`', ({ query }) => query?.limit !== undefined],
  ['with `If-Match`', ({ conditional }) => conditional === true],
  ['with a body', ({ body }) => body !== undefined],
  ['with a body of JSON', ({ body }) => body !== undefined && typeof body.as === 'object'],
]

/** The failed attempts of a client are counted wherever credentials are. */
const listOwnLimits = (description: NamedDescription) => listLimits(description).filter(name => name !== 'AUTH_LIMIT')

/** Returns the problems that all endpoints of a kind have, and the others of each, as rows of two tables. */
const groupProblems = (endpoints: readonly DocumentedEndpoint[]): { implied: string[][]; own: string[][] } => {
  const explained = new Map(endpoints.map(each => [each, new Set<string>()]))
  const implied = kinds.flatMap(([text, includes]) => {
    const having = endpoints.filter(({ description, path }) => includes(description, path))
    if (having.length < 2) return []
    const codes = Object.keys(problems).filter(
      name =>
        having.every(({ codes }) => codes.some(each => each === name)) &&
        having.some(each => !explained.get(each)?.has(name)),
    )
    for (const each of having) for (const name of codes) explained.get(each)?.add(name)
    return codes.length > 0 ? [[text, codes.map(code).join(', ')]] : []
  })
  const own = endpoints.flatMap(each => {
    const codes = each.codes.filter(name => !explained.get(each)?.has(name))
    return codes.length > 0 ? [[toName(each), codes.map(code).join(', ')]] : []
  })
  return { implied, own }
}

/** The page of the endpoints, by their tags. */
export const createEndpoints = (endpoints: readonly DocumentedEndpoint[]): Page => {
  const withProblems = endpoints.filter(({ description }) => hasProblems(description))
  const { implied, own } = groupProblems(withProblems)
  return {
    name: 'endpoints',
    title: 'Endpoints',
    contents: 'who may use each endpoint, what it does, its limits and its problems',
    parts: [
      wrap(
        'The column "access" has what a caller needs: nothing, a token with a scope (docs/auth.md#scopes), or what the ' +
          'card of the agent asks for. With an optional token, a caller sees more. The column "limits" has the ' +
          '[rate limits](limits.md#rate-limits) that count a request, and the most that its body may have. `AUTH_LIMIT` ' +
          'counts wherever credentials are checked. The OpenAPI document of the host (docs/api.md#openapi) has the ' +
          'schemas of all bodies.',
      ),
      wrap(
        '`HEAD` works wherever `GET` does, and `OPTIONS` everywhere. A known path with another method is 405 with ' +
          '`Allow`; any other path is 404. Pages of any origin can read every response (CORS). Every response over ' +
          'https has `Strict-Transport-Security: max-age=31536000`, without `includeSubDomains`, because names below ' +
          'that of the host may belong to others.',
      ),
      ...Object.entries(tags).flatMap(([tag, about]) => {
        const rows = endpoints.filter(({ description }) => description.tag === tag).map(toRow)
        const heading = tag.charAt(0).toUpperCase() + tag.slice(1)
        return [`## ${heading}`, about, table(['endpoint', 'access', 'what it does', 'limits'], rows)]
      }),
      '## Problems of each endpoint',
      wrap(
        'An endpoint can answer the [problems](problems.md) of its kinds in the first table, and its own in the second. ' +
          'A2A calls have the [errors of calls](call-errors.md), and `POST /rpc` those of SuperX ' +
          '(docs/compat.md#superx).',
      ),
      table(['endpoints', 'problems'], implied),
      table(['endpoint', 'own problems'], own),
    ],
  }
}

const toName = ({ method, path }: Pick<DocumentedEndpoint, 'method' | 'path'>): string => code(`${method} ${path}`)

const toRow = (endpoint: DocumentedEndpoint): string[] => {
  const { summary, description, access, internal, query = {}, conditional, body, page } = endpoint.description
  const parameters = Object.keys(query).map(code).join(', ')
  const sentences = [
    summary,
    description,
    page && 'Browsers get a page (docs/pages.md)',
    parameters && `Query: ${parameters}`,
    conditional && 'Takes `If-Match` and `If-None-Match`',
  ]
  return [
    toName(endpoint),
    `${accessTexts[access] ?? code(access)}${internal ? ', required with `ROLE=internal`' : ''}`,
    linkPages(sentences.flatMap(text => (text ? [text.replace(/\.?$/, '.')] : [])).join(' ')),
    [
      ...listOwnLimits(endpoint.description).map(code),
      ...(body ? [`body: ${formatLimit('_BYTES', body.maxBytes)}`] : []),
    ].join(', '),
  ]
}
