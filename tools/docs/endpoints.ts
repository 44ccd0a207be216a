import { type Access, tags } from '../../src/api/contract/description.ts'
import type { NamedDescription, Route } from '../../src/api/contract/route.ts'
import { listLimits, listProblems, toTemplate } from '../../src/api/openapi/index.ts'
import { problems as allProblems, type ProblemCode } from '../../src/problems.ts'
import { formatLimit } from './limits.ts'
import { code, type Page, table, wrap } from './page.ts'

/** An endpoint with its description and the codes of its errors. */
export type DocumentedEndpoint = {
  method: string
  path: string
  description: NamedDescription
  codes: readonly ProblemCode[]
}

/** Reads the descriptions of all endpoints. */
export const readEndpoints = async (routes: readonly Route[]): Promise<DocumentedEndpoint[]> => {
  // TODO at the merge: `Promise.all`, when every row has a description.
  const described = await Promise.allSettled(
    routes.map(async ([method, path, { describe }]) => {
      const description = await describe()
      return { method, path: toTemplate(path), description, codes: listProblems(toTemplate(path), description) }
    }),
  )
  return described.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []))
}

const accessTexts: Readonly<Record<Access, string>> = {
  public: '',
  optional: 'optional: `read`',
  reader: 'optional: `read`',
  token: 'any token',
  read: '`read`',
  write: '`write`',
  admin: '`admin`',
  card: "the card's",
}

/** The page of the endpoints, by their tags. */
export const createEndpoints = (endpoints: readonly DocumentedEndpoint[]): Page => {
  const common = Object.keys(allProblems).filter(name =>
    endpoints.every(({ codes }) => codes.some(own => own === name)),
  )
  return {
    name: 'endpoints',
    title: 'Endpoints',
    contents: 'who may use each endpoint, what it does, its limits and its problems',
    parts: [
      wrap(
        'The column "access" has what a caller needs: nothing, a token with a scope (docs/auth.md#scopes), or what the ' +
          'card of the agent asks for. With an optional token, a caller sees more. The column "limits" has the ' +
          '[rate limits](limits.md#rate-limits) that count a request, and the most that its body may have. The ' +
          'OpenAPI document of the host (docs/api.md#openapi) has the schemas of all bodies.',
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
        return rows.length === 0
          ? []
          : [`## ${heading}`, about, table(['endpoint', 'access', 'what it does', 'limits'], rows)]
      }),
      '## Problems of each endpoint',
      wrap(
        `[Problems](problems.md) has the meaning of each code. Every endpoint can answer ${common.map(code).join(', ')} and ` +
          '`invalid-url`. Those of A2A calls have the [errors of calls](call-errors.md).',
      ),
      table(
        ['endpoint', 'problems'],
        endpoints
          .map(({ codes, ...each }) => [
            toName(each),
            codes
              .filter(name => !common.includes(name))
              .map(code)
              .join(', '),
          ])
          .filter(([, codes]) => codes !== ''),
      ),
    ],
  }
}

const toName = ({ method, path }: Pick<DocumentedEndpoint, 'method' | 'path'>): string => code(`${method} ${path}`)

const toRow = (endpoint: DocumentedEndpoint): string[] => {
  const { summary, description, access, internal, query, conditional, body, page } = endpoint.description
  const sentences = [
    summary,
    description,
    internal && `With \`ROLE=internal\`, needs \`${internal}\``,
    page && 'Browsers get a page (docs/pages.md)',
    query && `Query: ${Object.keys(query).map(code).join(', ')}`,
    conditional && 'Takes `If-Match` and `If-None-Match`',
  ]
  return [
    toName(endpoint),
    accessTexts[access],
    sentences.flatMap(text => (text ? [text.replace(/\.?$/, '.')] : [])).join(' '),
    [...listLimits(endpoint.description).map(code), ...(body ? [formatLimit('_BYTES', body.maxBytes)] : [])].join(', '),
  ]
}
