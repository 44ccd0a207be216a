import { agentIdPattern } from '../../card/model/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { toContent } from './content.ts'
import { listErrors } from './errors.ts'
import { headers, type Operation, rateLimits } from './operation.ts'
import { expandRestRoute } from './rest-operations.ts'
import { operations } from './routes.ts'

/** The operations of a path by method. */
type PathItem = Record<string, OperationObject>

type OperationObject = JsonObject & { responses: Record<string, JsonObject> }

/** The paths of the document, and the responses that several operations have in common. */
type Paths = { paths: Record<string, PathItem>; responses: Record<string, JsonObject> }

/** Returns the paths: one operation for each route, and for the routes of HTTP+JSON one for each operation of A2A. */
export const createPaths = (): Paths => {
  const paths: Record<string, PathItem> = {}
  for (const [route, operation] of Object.entries<Operation>(operations)) {
    const [method = '', path = ''] = route.split(' ')
    const template = path.replaceAll(/(?<![a-z]):(\w+)/g, '{$1}')
    const expanded = path.endsWith('/:operation+')
      ? expandRestRoute(method, operation)
      : [{ path: template, operation }]
    for (const each of expanded)
      paths[each.path] = { ...paths[each.path], [method.toLowerCase()]: toOperationObject(each.path, each.operation) }
  }
  return shareResponses(paths)
}

/** Replaces responses that several operations have by references: most errors, which would be most of the document otherwise. */
const shareResponses = (paths: Record<string, PathItem>): Paths => {
  const operations = Object.values(paths).flatMap(path => Object.values(path))
  const all = operations.flatMap(({ responses }) => Object.entries(responses))
  const shared = [...Map.groupBy(all, ([, response]) => JSON.stringify(response))].filter(([, same]) => same.length > 1)
  const names = new Map(shared.map(([text, [[status] = ['']]], index) => [text, `status-${status}-${index + 1}`]))
  for (const { responses } of operations)
    for (const [status, response] of Object.entries(responses)) {
      const name = names.get(JSON.stringify(response))
      if (name !== undefined) responses[status] = { $ref: `#/components/responses/${name}` }
    }
  return { paths, responses: Object.fromEntries([...names].map(([text, name]) => [name, JSON.parse(text)])) }
}

const toOperationObject = (path: string, operation: Operation): OperationObject => {
  const { id, tag, summary, description, access, body, limits = [] } = operation
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    parameters: listParameters(path, operation),
    ...(body && {
      requestBody: {
        required: body.optional !== true,
        ...(body.description !== undefined && { description: body.description }),
        content: toContent(body.content),
      },
    }),
    responses: mergeResponses(listAnswers(operation), listErrors(path, operation)),
    security: securityOf(access),
    ...(limits.length > 0 && { 'x-rate-limits': limits.map(name => ({ name, ...rateLimits[name] })) }),
  }
}

/** The roles of a requirement are the scopes of the token. A card may admit callers with other credentials, which it names. */
const securityOf = (access: Operation['access']): JsonObject[] => {
  if (access === 'public') return []
  if (access === 'token') return [{ token: [] }]
  if (access === 'card') return [{}, { token: ['call'] }]
  return access === 'optional' ? [{}, { token: ['read'] }] : [{ token: [access] }]
}

// Parameters

const agentId = { description: 'The id of the agent.', schema: { type: 'string', pattern: agentIdPattern.source } }

const pathParameters: Readonly<Record<string, JsonObject>> = {
  id: agentId,
  seq: { description: 'The number of the revision.', schema: { type: 'integer', minimum: 1 } },
  name: { description: 'The name or id of the agent, in any case.', schema: { type: 'string' } },
  file: { description: 'The name of a well-known document.', schema: { type: 'string' } },
  identifier: { description: 'The identifier of the entry.', schema: { type: 'string', pattern: '^urn:air:' } },
  taskId: { description: 'The id of the task.', schema: { type: 'string' } },
  configId: { description: 'The id of the push configuration.', schema: { type: 'string' } },
}

const tokenId = { description: 'The id of the token.', schema: { type: 'string' } }

const listParameters = (path: string, { query = {}, headers = {}, validated }: Operation): JsonObject[] => [
  ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    ...{ name, in: 'path', required: true },
    ...(path === '/tokens/{id}' ? tokenId : pathParameters[name]),
  })),
  ...Object.entries(query).map(([name, parameter]) => ({ name, in: 'query', ...parameter })),
  ...Object.entries(validated ? { ...headers, 'If-None-Match': ifNoneMatch } : headers).map(([name, parameter]) => ({
    ...{ name, in: 'header' },
    ...parameter,
  })),
]

const ifNoneMatch = { description: 'The entity tags of what the client has.', schema: { type: 'string' } }

// Responses

const header = (description: string): JsonObject => ({ description, schema: { type: 'string' } })

const listAnswers = ({ answers, validated }: Operation): Record<string, JsonObject> => {
  const listed = Object.entries(answers).map(([status, answer]): [string, JsonObject] => {
    const names = [...(validated ? (['ETag'] as const) : []), ...(answer.headers ?? [])]
    return [
      status,
      {
        description: answer.description,
        ...(names.length > 0 && { headers: Object.fromEntries(names.map(name => [name, header(headers[name])])) }),
        ...(answer.content && { content: toContent(answer.content) }),
      },
    ]
  })
  return Object.fromEntries([
    ...listed,
    ...(validated
      ? [['304', { description: 'The client has it already.', headers: { ETag: header(headers.ETag) } }]]
      : []),
  ])
}

/** A status can stand for an answer and for an error, which have bodies of different media types. */
const mergeResponses = (
  answers: Record<string, JsonObject>,
  errors: Record<string, JsonObject>,
): Record<string, JsonObject> => {
  const merged: Record<string, JsonObject> = { ...answers }
  for (const [status, error] of Object.entries(errors)) {
    const answer = merged[status]
    merged[status] = answer
      ? {
          ...answer,
          description: `${answer.description}\n\n${error.description}`,
          content: { ...(answer.content as JsonObject), ...(error.content as JsonObject) },
        }
      : error
  }
  return merged
}
