import type { WireVersion } from '../card/model/calls.ts'
import type { JsonObject } from '../json/json.ts'
import type { Refusal } from './errors.ts'
import type { OperationName } from './operations.ts'

/** An operation of the HTTP+JSON binding: the methods that it answers to, and its path below the agent's endpoint. */
type RestOperation = readonly [methods: readonly string[], path: string, operation: OperationName]

/** v1.0's paths. `:subscribe` is a POST, and a GET for clients that take a stream for something to read. */
const v1_0: readonly RestOperation[] = [
  [['POST'], 'message:send', 'send'],
  [['POST'], 'message:stream', 'stream'],
  [['GET'], 'extendedAgentCard', 'extendedCard'],
  [['GET'], 'tasks', 'listTasks'],
  [['POST'], 'tasks/{id}:cancel', 'cancel'],
  [['POST', 'GET'], 'tasks/{id}:subscribe', 'resubscribe'],
  [['GET'], 'tasks/{id}', 'getTask'],
  [['POST'], 'tasks/{taskId}/pushNotificationConfigs', 'createPushConfig'],
  [['GET'], 'tasks/{taskId}/pushNotificationConfigs', 'listPushConfigs'],
  [['GET'], 'tasks/{taskId}/pushNotificationConfigs/{id}', 'getPushConfig'],
  [['DELETE'], 'tasks/{taskId}/pushNotificationConfigs/{id}', 'deletePushConfig'],
]

/** v0.3's, which has no list of tasks and calls its extended card a card. */
const v0_3: readonly RestOperation[] = v1_0
  .filter(([, , operation]) => operation !== 'listTasks')
  .map(([methods, path, operation]) => [methods, operation === 'extendedCard' ? 'v1/card' : `v1/${path}`, operation])

/** Every operation of the HTTP+JSON binding, by version. */
const restOperations: Readonly<Record<WireVersion, readonly RestOperation[]>> = { '0.3': v0_3, '1.0': v1_0 }

const patterns = (['0.3', '1.0'] as const).flatMap(version =>
  restOperations[version].map(([methods, path, operation]) => ({
    version,
    methods,
    path,
    operation,
    pattern: new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
  })),
)

/** The operation that a path stands for, with the parameters in it; or the methods that the path takes instead. */
export type RestMatch =
  | { operation: OperationName; version: WireVersion; path: Record<string, string> }
  | { otherMethods: string[] }

/** Finds the operation of a request by its path as it came, percent-encoded: what follows the agent's endpoint and a slash. */
export const matchRestPath = (method: string, path: string): RestMatch | undefined => {
  // The first path that fits is the one that is meant: `tasks/{id}` would fit `tasks/1:cancel` too.
  const meant = patterns.find(({ pattern }) => pattern.test(path))
  if (meant === undefined) return undefined
  const parameters = parametersOf(meant.pattern, path)
  if (parameters === undefined) return undefined
  const same = patterns.filter(each => each.path === meant.path)
  const found = same.find(({ methods }) => methods.includes(method))
  if (found === undefined) return { otherMethods: same.flatMap(({ methods }) => methods) }
  return { operation: found.operation, version: found.version, path: parameters }
}

/**
 * What could leave its segment of a path, or of a header or a log; or be another operation to who decodes before looking, asks
 * in any case, or takes what follows a semicolon for no part of it.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is they that must not get through
const unsafe = /[/\\\u0000-\u001f\u007f-\u009f\u2028\u2029]|^\.{1,2}\s*(?:;|$)|:(?:cancel|subscribe)\s*(?:;|$)/i

const parametersOf = (pattern: RegExp, path: string): Record<string, string> | undefined => {
  try {
    const entries = Object.entries(pattern.exec(path)?.groups ?? {})
    const parameters = entries.map(([name, text]): [string, string] => [name, decodeURIComponent(text)])
    return parameters.some(([, value]) => unsafe.test(value)) ? undefined : Object.fromEntries(parameters)
  } catch {
    return undefined
  }
}

/** Why a call that names a version cannot ask by this path: the path is another version's. */
export const versionMismatch = (
  method: string,
  { operation, version }: { operation: OperationName; version: WireVersion },
  named: WireVersion | undefined,
): Refusal | undefined => {
  if (named === undefined || named === version) return undefined
  const pathIn = (each: WireVersion) => restOperations[each].find(([, , name]) => name === operation)?.[1]
  const today = pathIn(named)
  return {
    refused: 'method',
    method: `${method} /${pathIn(version)}`,
    version: named,
    ...(today !== undefined && { today: `${method} /${today}` }),
  }
}

/**
 * The parameters of an HTTP+JSON call in the shape of JSON-RPC's: those of the path, over those of the body, over those of the
 * query, where the first of a name counts. The version is no parameter.
 */
export const restParams = (path: Record<string, string>, query: URLSearchParams, body: JsonObject): JsonObject => {
  const fromQuery = [...query].filter(([name]) => name.toLowerCase() !== 'a2a-version').reverse()
  return { ...Object.fromEntries(fromQuery), ...body, ...path }
}
