import { type OperationName, operationNames, operations, pathOf } from '../../a2a/index.ts'
import { type WireVersion, wireVersions } from '../../card/model/index.ts'
import type { Content, Operation } from './operation.ts'

/** An operation of the document at a path with parameters in braces. */
type PathOperation = { path: string; operation: Operation }

/**
 * Returns the operations of A2A that a route of the HTTP+JSON binding has with a method. Their path is one parameter of the route with
 * slashes in it, which OpenAPI cannot express.
 */
export const expandRestRoute = (method: string, route: Operation): PathOperation[] =>
  wireVersions.flatMap(version =>
    operationNames.flatMap(name => {
      const path = pathOf(name, version)
      if (path === undefined || !operations[name].http[0].includes(method)) return []
      return [{ path: `/agents/{id}/a2a/${renameParameters(path)}`, operation: describe(method, name, version, route) }]
    }),
  )

/** `id` is the agent already. */
const renameParameters = (path: string): string =>
  path.replace('pushNotificationConfigs/{id}', 'pushNotificationConfigs/{configId}').replace('{id}', '{taskId}')

const describe = (method: string, name: OperationName, version: WireVersion, route: Operation): Operation => {
  const { streams, sends, http, ...names } = operations[name]
  const isPreferred = http[0][0] === method
  return {
    ...route,
    id: `${name}_${version.replace('.', '_')}${isPreferred ? '' : `_${method.toLowerCase()}`}`,
    summary: `Call ${names[version]} of A2A ${version} over HTTP+JSON`,
    ...(method === 'POST' && {
      body: {
        content: { 'application/json': { type: 'object' }, 'application/a2a+json': { type: 'object' } },
        description: `The parameters of ${names[version]}, as A2A ${version} defines them.`,
        ...(!sends && { optional: true }),
      },
    }),
    answers: {
      200: {
        description: streams ? 'A stream of results.' : `The result of ${names[version]}.`,
        content: streams ? STREAM : RESULT,
        headers: ['A2A-Version', 'Gate-Warning'],
      },
      ...(method === 'DELETE' && { 204: { description: 'The agent has deleted it.' } }),
    },
    errors: version,
  }
}

const RESULT: Content = { 'application/json': { type: 'object' }, 'application/a2a+json': { type: 'object' } }

const STREAM: Content = { 'text/event-stream': { each: { type: 'object' } } }
