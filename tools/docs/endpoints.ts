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
const kinds: readonly [
  text: string,
  includes: (description: NamedDescription, endpoint: Pick<DocumentedEndpoint, 'method' | 'path'>) => boolean,
][] = [
  ['all', () => true],
  ['with an optional token, which is ignored if it is not valid', ({ access }) => access === 'optional'],
  ['with a token', ({ access }) => access === 'token' || isScope(access)],
  ['with a scope', ({ access }) => isScope(access)],
  ['with the scope `write` of one agent', ({ access }, { path }) => access === 'write' && isOfAgent(path)],
  [
    'that read a card',
    ({ query, tag }, { path }) => query?.dialect !== undefined || (tag === 'pages' && isOfAgent(path)),
  ],
  ['with the query `dialect`', ({ query }) => query?.dialect !== undefined],
  ['with a rate limit', description => listOwnLimits(description).length > 0],
  ['with `WRITE_LIMIT`', ({ limits }) => limits?.includes('WRITE_LIMIT') === true],
  ['with a query, except those of cards', description => 'query' in description && !('openQuery' in description)],
  ['with the query `limit`', ({ query }) => query?.limit !== undefined],
  ['with an optional token, which must be valid', ({ access }) => access === 'reader'],
  ['of one agent, except `PUT`', (_, { method, path }) => isOfAgent(path) && method !== 'PUT'],
  ['with `If-Match`', ({ conditional }) => conditional === true],
  ['with a body', ({ body }) => body !== undefined],
  ['with a body of JSON', ({ body }) => body !== undefined && typeof body.as === 'object'],
]

/** Returns whether a path names an agent that must exist. */
const isOfAgent = (path: string): boolean => path.startsWith('/agents/{id}')

/** The failed attempts of a client are counted wherever credentials are. */
const listOwnLimits = (description: NamedDescription) => listLimits(description).filter(name => name !== 'AUTH_LIMIT')

/** The problems that all endpoints of a kind have, as rows of a table, and the others of each endpoint. */
type GroupedProblems = { implied: string[][]; own: ReadonlyMap<DocumentedEndpoint, readonly string[]> }

const groupProblems = (endpoints: readonly DocumentedEndpoint[]): GroupedProblems => {
  const explained = new Map(endpoints.map(each => [each, new Set<string>()]))
  const implied = kinds.flatMap(([text, includes]) => {
    const having = endpoints.filter(each => includes(each.description, each))
    if (having.length < 2) return []
    const codes = Object.keys(problems).filter(
      name =>
        having.every(({ codes }) => codes.some(each => each === name)) &&
        having.some(each => !explained.get(each)?.has(name)),
    )
    for (const each of having) for (const name of codes) explained.get(each)?.add(name)
    return codes.length > 0 ? [[text, codes.map(code).join(', ')]] : []
  })
  const own = endpoints.map(each => [each, each.codes.filter(name => !explained.get(each)?.has(name))] as const)
  return { implied, own: new Map(own) }
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
        '"Access" is what a caller needs: nothing, a token with a scope (docs/guide/teams.md#scopes), or what the ' +
          'card of the agent requires. With an optional token, a caller sees more. "Limits" are the [rate ' +
          'limits](limits.md#rate-limits) that count a request, and the maximum size of its body; `AUTH_LIMIT` ' +
          'counts wherever credentials are checked. "Problems" are those that do not follow from the [kind of the ' +
          'endpoint](#problems-of-several-endpoints). `GET /openapi.json` returns an OpenAPI document with the ' +
          'schemas of all bodies.',
      ),
      wrap(
        '`HEAD` works wherever `GET` does, and `OPTIONS` everywhere. A known path with another method is 405 with ' +
          '`Allow`; any other path is 404. Pages of any origin can read every response (CORS). Every response over ' +
          'https has `Strict-Transport-Security: max-age=31536000`, without `includeSubDomains`, because the ' +
          'subdomains of the host may belong to others.',
      ),
      ...Object.entries(tags).flatMap(([tag, about]) => {
        const members = endpoints.filter(({ description }) => description.tag === tag)
        const shared = listShared(members)
        const heading = tag.charAt(0).toUpperCase() + tag.slice(1)
        const rows = members.map(each => toRow(each, shared, own.get(each)))
        return [
          `## ${heading}`,
          wrap([about, ...shared].join(' ')),
          table(['endpoint', 'access', 'what it does', 'limits'], rows),
        ]
      }),
      '## Problems of several endpoints',
      wrap(
        'Besides its own [problems](problems.md), an endpoint can return those of its kinds. A2A calls have the ' +
          '[errors of calls](call-errors.md), and `POST /rpc` has those of ' +
          '[SuperX](docs/guide/clients.md#shaman-and-superx).',
      ),
      table(['endpoints', 'problems'], implied),
    ],
  }
}

const toName = ({ method, path }: Pick<DocumentedEndpoint, 'method' | 'path'>): string => code(`${method} ${path}`)

/** Returns the descriptions that more than two endpoints have, which are written above their table. */
const listShared = (endpoints: readonly DocumentedEndpoint[]): string[] => {
  const texts = endpoints.map(({ description }) => description.description ?? '')
  const counts = Map.groupBy(texts, text => text)
  return [...counts].flatMap(([text, { length }]) => (text !== '' && length > 2 ? [text] : []))
}

const toRow = (endpoint: DocumentedEndpoint, shared: readonly string[], own: readonly string[] = []): string[] => {
  const { summary, description, access, internal, query = {}, conditional, body, page } = endpoint.description
  const parameters = Object.keys(query).map(code).join(', ')
  const sentences = [
    summary,
    description !== undefined && !shared.includes(description) && description,
    page && !summary.includes('page') && 'Browsers get a page',
    parameters && `Query: ${parameters}`,
    conditional && 'Takes `If-Match` and `If-None-Match`',
    own.length > 0 && `Problems: ${own.map(code).join(', ')}`,
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
