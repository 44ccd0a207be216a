import type { CallTarget, WireVersion } from '../card/model/index.ts'
import { inLine, latestVersion, versions, wireVersions } from '../card/model/index.ts'
import { parseUrl } from '../http/index.ts'
import type { CallError } from './call-error.ts'
import { chooseVersion, type ListVersions, type OperationName, operationNames, operations } from './operations.ts'

/** The path of an operation below the agent's endpoint; undefined in a version that lacks the operation. */
export const pathOf = (operation: OperationName, version: WireVersion): string | undefined => {
  const { names, http, paths = {} } = operations[operation]
  if (names[version] === undefined) return undefined
  return versions[version].pathPrefix + (inLine(paths, version) ?? http[1])
}

/** Every path of HTTP+JSON, and the versions that have it, the oldest first. */
export const restRoutes = wireVersions.flatMap(version =>
  operationNames.flatMap(operation => {
    const path = pathOf(operation, version)
    const having: readonly WireVersion[] = wireVersions.filter(each => pathOf(operation, each) === path)
    if (path === undefined || having[0] !== version) return []
    const pattern = new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
    return [{ operation, versions: having, path, pattern, methods: operations[operation].http[0] }]
  }),
)

/** A path of HTTP+JSON. */
export type RestRoute = (typeof restRoutes)[number]

/** `tasks/{id}` would match `tasks/1:cancel` too. */
const routes = restRoutes.toSorted((left, right) => Number(left.path.endsWith('}')) - Number(right.path.endsWith('}')))

const routesByPath = Map.groupBy(routes, ({ path }) => path)

/** The operation of an HTTP+JSON request, the versions that have its path, and the parameters in the path. */
export type RestMatch = Pick<RestRoute, 'operation' | 'versions'> & { pathParams: Record<string, string> }

/** Normalizes a path below the agent's endpoint: clients encode the colon of a custom verb, and some append a slash. */
export const normalizeRestPath = (path: string): string =>
  (path.includes('%') ? path.replaceAll(/%3a/gi, ':') : path).replace(/\/$/, '')

/** Finds the operation of an HTTP+JSON request by its normalized path, which is still percent-encoded. */
export const matchRestPath = (method: string, path: string): RestMatch | CallError => {
  // Most paths have no parameters.
  const [first = routes.find(({ pattern }) => pattern.test(path))] = routesByPath.get(path) ?? []
  const pathParams = first && readPathParams(first.pattern, path)
  if (pathParams === undefined) return { kind: 'method', method: `${method} /${path}`, version: versionOfPath(path) }
  const samePath = routesByPath.get(first?.path ?? '') ?? []
  const route = samePath.find(({ methods }) => methods.includes(method))
  return route
    ? { operation: route.operation, versions: route.versions, pathParams }
    : { kind: 'http-method', method, path, allow: samePath.flatMap(({ methods }) => methods) }
}

/** The versions, those with the longest prefix of paths first. */
const byPrefix = wireVersions.toSorted(
  (one, other) => versions[other].pathPrefix.length - versions[one].pathPrefix.length,
)

/** Returns the version of a path, for errors of paths that do not exist. */
export const versionOfPath = (path: string): WireVersion =>
  byPrefix.find(version => path.startsWith(versions[version].pathPrefix)) ?? latestVersion

/** Matches values that could leave their part of a path, a header or a log line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this rejects
const unsafe = /[\\\u0000-\u001f\u007f-\u009f\u2028\u2029]|^\/|\/(?:\/|$)|(?:^|\/)\.{1,2}\s*(?:[;/]|$)/

/** Returns the names that a pattern finds in the paths, such as `pushNotificationConfigs`, as alternatives. */
const namesInPaths = (pattern: RegExp): string =>
  [...new Set(routes.flatMap(({ path }) => pattern.exec(path)?.[1] ?? []))].join('|')

/**
 * Matches values that end in a custom verb, such as `1:cancel`, contain a subresource, such as
 * `1/pushNotificationConfigs`, or are a path of their own, such as `tasks/1`. They are another operation, or one of the
 * tenant `tasks`, to a server that decodes before it routes, ignores case, or cuts off what follows a semicolon.
 */
const otherOperation = new RegExp(
  [
    `:(?:${namesInPaths(/\}:(\w+)$/)})\\s*(?:[;/]|$)`,
    `(?:^|/)\\s*(?:${namesInPaths(/\}\/(\w+)/)})\\s*(?:[;/]|$)`,
    `^\\s*(?:${namesInPaths(/^(\w+)\//)})\\s*[;/]`,
  ].join('|'),
  'i',
)

const readPathParams = (pattern: RegExp, path: string): Record<string, string> | undefined => {
  try {
    const { groups } = pattern.exec(path) ?? {}
    if (groups === undefined) return {}
    const encoded = Object.entries(groups)
    const params = encoded.map(([name, text]): [string, string] => [name, decodeURIComponent(text)])
    return params.some(([, value]) => unsafe.test(value) || otherOperation.test(value))
      ? undefined
      : Object.fromEntries(params)
  } catch {
    return undefined
  }
}

/** Returns the version of a call: the one that it names, which must have the path; else one that the agent supports. */
export const resolveRestVersion = (
  method: string,
  { operation, versions: having }: Pick<RestMatch, 'operation' | 'versions'>,
  requested: WireVersion | undefined,
  supported?: ListVersions,
): { version: WireVersion } | CallError => {
  const version = requested ?? chooseVersion(having, supported)
  if (having.includes(version)) return { version }
  const currentPath = pathOf(operation, version)
  return {
    kind: 'method',
    method: `${method} /${pathOf(operation, chooseVersion(having))}`,
    version,
    ...(currentPath !== undefined && { currentName: `${method} /${currentPath}` }),
  }
}

/**
 * Builds the URL of a call: the endpoint itself; over HTTP+JSON with the tenant, if it has one, and the path of the
 * operation. Leaves out parameters of the query that contain a token of this host. Returns undefined if the path would
 * lead out of the endpoint.
 */
export const upstreamUrl = (
  { binding, version, url, tenant }: CallTarget,
  path = '',
  containsHostToken: (text: string) => boolean = () => false,
): string | undefined => {
  if (binding === 'JSONRPC') return url
  const target = parseUrl(url)
  const [operation = '', ...query] = path.replace(/^\/+/, '').split('?')
  const below = tenant === undefined ? operation : `${encodeURIComponent(tenant)}/${operation}`
  if (target === null || /(?:^|[/\\])(?:\.|%2e){1,2}(?=[/\\]|$)|[#\\]/i.test(below)) return undefined
  const base = target.pathname.replace(/(?<!\/)\/+$/, '')
  // Some cards of 0.3 have the prefix in their endpoint, others leave it to the client.
  const { pathPrefix } = versions[version]
  const hasPrefix = pathPrefix !== '' && `${base}/`.endsWith(`/${pathPrefix}`) && below.startsWith(pathPrefix)
  target.pathname = `${base}/${hasPrefix ? below.slice(pathPrefix.length) : below}`
  const params = [...new URLSearchParams(query.join('?'))].filter(([name, value]) => {
    // The version is sent as a header, and the tenant of the card in the path.
    const isSentElsewhere = name.toLowerCase() === 'a2a-version' || (name === 'tenant' && tenant !== undefined)
    return !isSentElsewhere && ![name, value].some(containsHostToken)
  })
  // All at once: each change to the parameters of a URL writes all of them again.
  if (params.length > 0) target.search = `${new URLSearchParams([...target.searchParams, ...params])}`
  return target.href
}
