import type { CallProfile } from '../card/index.ts'
import type { DialectName } from '../card/model/index.ts'
import {
  type CallBinding,
  extensionsHeaders,
  majorMinor,
  type WireVersion,
  wireVersionOf,
  wireVersions,
} from '../card/model/start.ts'
import type { Json, JsonObject } from '../json/index.ts'
import { MAX_EXTENSIONS } from '../limits.ts'
import type { CallError } from './call-error.ts'

/** An operation of A2A: its JSON-RPC method in each version, its HTTP+JSON request and the capability that it needs. */
type Operation = Partial<Record<WireVersion, string>> & {
  /** The HTTP methods and the path below the agent's endpoint in 1.0; in 0.3 it has the prefix `v1/`. */
  http: readonly [methods: readonly string[], path: string]
  /** The path in 0.3, if it is another. */
  pathV0?: string
  needs?: keyof Pick<CallProfile, 'streaming' | 'pushNotifications' | 'extendedAgentCard'>
  /** Set if the response is a stream of events. */
  streams?: true
  /** Set if the parameters have a message. */
  sends?: true
}

const PUSH_CONFIGS = 'tasks/{taskId}/pushNotificationConfigs'

/** Every operation in every version and binding. A new method of A2A is a row here. */
const table = {
  send: { '0.3': 'message/send', '1.0': 'SendMessage', http: [['POST'], 'message:send'], sends: true },
  stream: {
    '0.3': 'message/stream',
    '1.0': 'SendStreamingMessage',
    http: [['POST'], 'message:stream'],
    needs: 'streaming',
    streams: true,
    sends: true,
  },
  getTask: { '0.3': 'tasks/get', '1.0': 'GetTask', http: [['GET'], 'tasks/{id}'] },
  listTasks: { '1.0': 'ListTasks', http: [['GET'], 'tasks'] },
  cancel: { '0.3': 'tasks/cancel', '1.0': 'CancelTask', http: [['POST'], 'tasks/{id}:cancel'] },
  resubscribe: {
    '0.3': 'tasks/resubscribe',
    '1.0': 'SubscribeToTask',
    // POST in the specification; some clients send a GET.
    http: [['POST', 'GET'], 'tasks/{id}:subscribe'],
    needs: 'streaming',
    streams: true,
  },
  createPushConfig: {
    '0.3': 'tasks/pushNotificationConfig/set',
    '1.0': 'CreateTaskPushNotificationConfig',
    http: [['POST'], PUSH_CONFIGS],
    needs: 'pushNotifications',
  },
  getPushConfig: {
    '0.3': 'tasks/pushNotificationConfig/get',
    '1.0': 'GetTaskPushNotificationConfig',
    http: [['GET'], `${PUSH_CONFIGS}/{id}`],
    needs: 'pushNotifications',
  },
  listPushConfigs: {
    '0.3': 'tasks/pushNotificationConfig/list',
    '1.0': 'ListTaskPushNotificationConfigs',
    http: [['GET'], PUSH_CONFIGS],
    needs: 'pushNotifications',
  },
  deletePushConfig: {
    '0.3': 'tasks/pushNotificationConfig/delete',
    '1.0': 'DeleteTaskPushNotificationConfig',
    http: [['DELETE'], `${PUSH_CONFIGS}/{id}`],
    needs: 'pushNotifications',
  },
  extendedCard: {
    '0.3': 'agent/getAuthenticatedExtendedCard',
    '1.0': 'GetExtendedAgentCard',
    http: [['GET'], 'extendedAgentCard'],
    pathV0: 'card',
    needs: 'extendedAgentCard',
  },
} as const satisfies Record<string, Operation>

/** The name of an operation, the same in every version and binding. */
export type OperationName = keyof typeof table

/** Every operation of A2A. */
export const operations: Readonly<Record<OperationName, Operation>> = table

/** The names of all operations. */
export const operationNames = Object.keys(table) as OperationName[]

/** Methods that other hosts have for the extended card, and the dialect in which each returns it. */
const FOREIGN_CARD_METHODS: ReadonlyMap<string, DialectName> = new Map([
  ['agent/extendedCard', 'gopherhole'],
  ['agent/authenticatedExtendedCard', 'shaman'],
])

/** Methods of 0.1, of drafts of 1.0, and of its gRPC binding, and the operation that each has become. */
const RENAMED_METHODS: ReadonlyMap<string, OperationName> = new Map([
  ['tasks/send', 'send'],
  ['tasks/sendSubscribe', 'stream'],
  ['tasks/pushNotification/set', 'createPushConfig'],
  ['tasks/pushNotification/get', 'getPushConfig'],
  ['tasks/list', 'listTasks'],
  ['TaskSubscription', 'resubscribe'],
  ['SetTaskPushNotificationConfig', 'createPushConfig'],
  ['ListTaskPushNotificationConfig', 'listPushConfigs'],
  ['GetAuthenticatedExtendedCard', 'extendedCard'],
])

/** A call of one operation, whatever its binding. */
export type A2ACall = {
  binding: CallBinding
  operation: OperationName
  /** The version of the caller. Responses of this host are in its form. */
  version: WireVersion
  /** The dialect in which an extended card is returned. */
  dialect: DialectName
  /** The JSON-RPC id as the caller wrote it; null over HTTP+JSON. */
  id: Json
  /** `params` of JSON-RPC; or path, query and body of HTTP+JSON, merged. */
  params: JsonObject
  /** The sources of `params` over HTTP+JSON: an agent might prefer another one than this host where they differ. */
  sources?: { path: JsonObject; query: Record<string, string>; body: JsonObject }
  /** The extensions that the caller names. */
  extensions: string[]
}

const methodsOf = (version: WireVersion): ReadonlyMap<string, OperationName> =>
  new Map([
    ...[...FOREIGN_CARD_METHODS.keys()].map((name): [string, OperationName] => [name, 'extendedCard']),
    ...operationNames.flatMap((operation): [string, OperationName][] => {
      const name = operations[operation][version]
      return name === undefined ? [] : [[name, operation]]
    }),
  ])

const methods: Record<WireVersion, ReadonlyMap<string, OperationName>> = {
  '0.3': methodsOf('0.3'),
  '1.0': methodsOf('1.0'),
}

/** Resolves a method in the version that the call names, else in one that has it: the one that the agent supports. */
export const resolveMethod = (
  method: string,
  requested: WireVersion | undefined,
  supported: readonly WireVersion[],
): Pick<A2ACall, 'operation' | 'version' | 'dialect'> | CallError => {
  const candidates = requested === undefined ? wireVersions.filter(each => methods[each].has(method)) : [requested]
  const preferred = candidates.length > 1 ? candidates.find(each => supported.includes(each)) : undefined
  const version = preferred ?? candidates[0] ?? inferVersion(method)
  const operation = methods[version].get(method)
  if (operation !== undefined) return { operation, version, dialect: FOREIGN_CARD_METHODS.get(method) ?? version }
  const renamed = RENAMED_METHODS.get(method) ?? wireVersions.map(each => methods[each].get(method)).find(Boolean)
  const currentName = renamed && operations[renamed][version]
  return { kind: 'method', method, version, ...(currentName !== undefined && { currentName }) }
}

/** Infers the version from the form of a method's name: PascalCase in 1.0, slashes in 0.3. */
const inferVersion = (method: string): WireVersion => (/^[A-Z]/.test(method) ? '1.0' : '0.3')

// Service parameters

/** Returns the extensions that a request names, in the header of any version. */
export const readExtensions = (headers: Headers): string[] => {
  const named = extensionsHeaders.map(name => headers.get(name))
  const uris = named.flatMap(header => header?.split(',', MAX_EXTENSIONS) ?? []).map(uri => uri.trim())
  return [...new Set(uris)].filter(uri => uri !== '')
}

/** The version that a call names, undefined if none; or the error of one that this host does not know. */
type RequestedVersion = { version: WireVersion | undefined } | Extract<CallError, { kind: 'version' }>

/** Reads the version that a request names in `A2A-Version`, a header or query parameter. Rejects two different ones. */
export const readVersion = ({ headers, url }: Pick<Request, 'headers' | 'url'>): RequestedVersion => {
  const header = headers.get('A2A-Version')
  const query = url.includes('?') ? [...new URL(url).searchParams].filter(([name]) => isVersionParameter(name)) : []
  const common = query.length === 0 ? wireVersionOf.get(header ?? '') : undefined
  if (common !== undefined) return { version: common }
  const named = [...(header ?? '').split(','), ...query.map(([, value]) => value)]
    .map(text => majorMinor(text.trim()))
    .filter(text => text !== '')
  const versions = new Set(named.map(text => wireVersionOf.get(text)))
  const [version] = versions
  if (versions.size > 1 || (named.length > 0 && version === undefined))
    return { kind: 'version', offered: [...new Set(named)].join(', '), accepted: [...wireVersions] }
  return { version }
}

/**
 * Chooses the version of an error for a call whose own version was not resolved: the one that it names; 1.0 if it names
 * an unknown one, which only 1.0 has an error for; else the one that its method looks like.
 */
export const versionForError = (requested: RequestedVersion, method = ''): WireVersion => {
  if ('kind' in requested) return method.includes('/') ? '0.3' : '1.0'
  return requested.version ?? inferVersion(method)
}

/** Checks whether a query parameter names the version, in any case. */
export const isVersionParameter = (name: string): boolean => name.toLowerCase() === 'a2a-version'
