import type { CallProfile } from '../card/index.ts'
import type { DialectName } from '../card/model/index.ts'
import {
  type CallBinding,
  extensionsHeaders,
  type Form,
  inLine,
  latestVersion,
  majorMinor,
  versions,
  type WireVersion,
  wireVersionOf,
  wireVersions,
} from '../card/model/start.ts'
import type { Json, JsonObject } from '../json/index.ts'
import { MAX_EXTENSIONS } from '../limits.ts'
import type { CallError } from './call-error.ts'
import type { ResultName } from './objects/index.ts'

/** A parameter beside those for ids, messages and push configurations. */
type Parameter = {
  /** The type of what a query of HTTP+JSON has as text. */
  type?: 'integer' | 'boolean'
  /** The forms of objects with which it exists, if not with all. */
  forms?: readonly Form[]
  /** The version that has added it. */
  since?: WireVersion
}

/** A result: one of several objects, one object, a list that is a member in ProtoJSON, the card, or nothing. */
type Result =
  | { oneOf: readonly ObjectName[] }
  | { one: ObjectName }
  | { list: string; of: ObjectName }
  | 'card'
  | 'none'
type ObjectName = ResultName | 'pushConfig'

type Operation = {
  /** The JSON-RPC method in the version that has added it; the versions that follow that one have it, too. */
  names: Partial<Record<WireVersion, string>>
  /** Its methods in 0.1, in drafts of 1.0, and in the gRPC binding of 1.0. */
  formerly?: readonly string[]
  /** The HTTP methods, and the path below the agent's endpoint without the prefix of the version. */
  http: readonly [methods: readonly string[], path: string]
  /** Other paths of versions. */
  paths?: Partial<Record<WireVersion, string>>
  needs?: keyof Pick<CallProfile, 'streaming' | 'pushNotifications' | 'extendedAgentCard'>
  result: Result
  /** Set if the response is a stream of events. */
  streams?: true
  /** Set if the parameters have a message, which can start a task. */
  sends?: true
  /** The parameter of 1.0 that names the task that the call is about. */
  task?: 'id' | 'taskId'
  /** `id`: this parameter of 1.0 names a push configuration of the task. `params`: the parameters are one. */
  pushConfig?: 'id' | 'params'
  /** The parameters that need a row: others have the same name everywhere, or are an agent's own. */
  params?: Readonly<Record<string, Parameter>>
  /** Set if the error of operations that are not supported may be about a task that has ended. */
  failsIfEnded?: true
}

const EVENTS = { streams: true, result: { oneOf: ['task', 'message', 'statusUpdate', 'artifactUpdate'] } } as const
const PUSH_CONFIGS = 'tasks/{taskId}/pushNotificationConfigs'

const INTEGER = { type: 'integer' } as const
const BOOLEAN = { type: 'boolean' } as const
const IN_PROTO = { forms: ['proto-0.3', 'proto-1.0'] } as const
/** Metadata beside a message exists everywhere. */
const METADATA = { metadata: { forms: ['json-0.3'] } } as const
const ofPushConfigs = { needs: 'pushNotifications', task: 'taskId', params: METADATA } as const

/** Every operation in every version and binding. A new method of A2A is a row here. */
const table = {
  send: {
    names: { '0.3': 'message/send', '1.0': 'SendMessage' },
    http: [['POST'], 'message:send'],
    ...{ sends: true, result: { oneOf: ['task', 'message'] }, failsIfEnded: true, formerly: ['tasks/send'] },
  },
  stream: {
    names: { '0.3': 'message/stream', '1.0': 'SendStreamingMessage' },
    http: [['POST'], 'message:stream'],
    ...{ needs: 'streaming', sends: true, ...EVENTS, formerly: ['tasks/sendSubscribe'] },
  },
  getTask: {
    names: { '0.3': 'tasks/get', '1.0': 'GetTask' },
    http: [['GET'], 'tasks/{id}'],
    ...{ task: 'id', result: { one: 'task' }, params: { ...METADATA, historyLength: INTEGER } },
  },
  listTasks: {
    names: { '1.0': 'ListTasks' },
    http: [['GET'], 'tasks'],
    ...{ result: { list: 'tasks', of: 'task' }, formerly: ['tasks/list'] },
    params: { ...METADATA, pageSize: INTEGER, historyLength: INTEGER, includeArtifacts: BOOLEAN },
  },
  cancel: {
    names: { '0.3': 'tasks/cancel', '1.0': 'CancelTask' },
    http: [['POST'], 'tasks/{id}:cancel'],
    ...{ task: 'id', result: { one: 'task' }, params: { metadata: { forms: ['json-0.3', 'proto-1.0'] } } },
  },
  resubscribe: {
    names: { '0.3': 'tasks/resubscribe', '1.0': 'SubscribeToTask' },
    // POST in the specification; some clients send a GET.
    http: [['POST', 'GET'], 'tasks/{id}:subscribe'],
    ...{ needs: 'streaming', task: 'id', ...EVENTS, failsIfEnded: true, formerly: ['TaskSubscription'] },
    params: METADATA,
  },
  createPushConfig: {
    names: { '0.3': 'tasks/pushNotificationConfig/set', '1.0': 'CreateTaskPushNotificationConfig' },
    http: [['POST'], PUSH_CONFIGS],
    ...{ ...ofPushConfigs, pushConfig: 'params', result: { one: 'pushConfig' } },
    formerly: ['tasks/pushNotification/set', 'SetTaskPushNotificationConfig'],
  },
  getPushConfig: {
    names: { '0.3': 'tasks/pushNotificationConfig/get', '1.0': 'GetTaskPushNotificationConfig' },
    http: [['GET'], `${PUSH_CONFIGS}/{id}`],
    ...{ ...ofPushConfigs, pushConfig: 'id', result: { one: 'pushConfig' }, formerly: ['tasks/pushNotification/get'] },
  },
  listPushConfigs: {
    names: { '0.3': 'tasks/pushNotificationConfig/list', '1.0': 'ListTaskPushNotificationConfigs' },
    http: [['GET'], PUSH_CONFIGS],
    ...{
      ...ofPushConfigs,
      result: { list: 'configs', of: 'pushConfig' },
      formerly: ['ListTaskPushNotificationConfig'],
    },
    params: { ...METADATA, pageSize: { ...INTEGER, ...IN_PROTO }, pageToken: IN_PROTO },
  },
  deletePushConfig: {
    names: { '0.3': 'tasks/pushNotificationConfig/delete', '1.0': 'DeleteTaskPushNotificationConfig' },
    http: [['DELETE'], `${PUSH_CONFIGS}/{id}`],
    ...{ ...ofPushConfigs, pushConfig: 'id', result: 'none' },
  },
  extendedCard: {
    names: { '0.3': 'agent/getAuthenticatedExtendedCard', '1.0': 'GetExtendedAgentCard' },
    http: [['GET'], 'extendedAgentCard'],
    paths: { '0.3': 'card' },
    ...{ needs: 'extendedAgentCard', result: 'card', params: METADATA, formerly: ['GetAuthenticatedExtendedCard'] },
  },
} as const satisfies Record<string, Operation>

/** The name of an operation, the same in every version and binding. */
export type OperationName = keyof typeof table

/** Every operation of A2A. */
export const operations: Readonly<Record<OperationName, Operation>> = table

/** The names of all operations. */
export const operationNames = Object.keys(table) as OperationName[]

/** Returns the JSON-RPC method of an operation; undefined in a version that lacks the operation. */
export const methodOf = (operation: OperationName, version: WireVersion): string | undefined =>
  operations[operation].names[version]

/** Returns whether an operation returns a list of tasks, which can have those of other callers. */
export const listsTasks = (operation: OperationName): boolean => {
  const { result } = operations[operation]
  return typeof result === 'object' && 'list' in result && result.of === 'task'
}

/** Methods that other hosts have for the extended card, and the dialect in which each returns it. */
const FOREIGN_CARD_METHODS: ReadonlyMap<string, DialectName> = new Map([
  ['agent/extendedCard', 'gopherhole'],
  ['agent/authenticatedExtendedCard', 'shaman'],
])

/** The operation of each method, and the versions that have it, the oldest first: none for a method of the past. */
const methods = new Map<string, { operation: OperationName; versions: readonly WireVersion[] }>()
for (const name of FOREIGN_CARD_METHODS.keys()) methods.set(name, { operation: 'extendedCard', versions: wireVersions })
for (const operation of operationNames) {
  const { names, formerly = [] } = operations[operation]
  for (const name of formerly) methods.set(name, { operation, versions: [] })
  for (const version of wireVersions) {
    const name = inLine(names, version)
    if (name === undefined) continue
    names[version] = name
    methods.set(name, { operation, versions: [...(methods.get(name)?.versions ?? []), version] })
  }
}

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

const UNKNOWN = { operation: undefined, versions: [] }

/** Resolves a method in the version that the call names, else in one that has it: the one that the agent supports. */
export const resolveMethod = (
  method: string,
  requested: WireVersion | undefined,
  supported?: ListVersions,
): Pick<A2ACall, 'operation' | 'version' | 'dialect'> | CallError => {
  const { operation, versions: having } = methods.get(method) ?? UNKNOWN
  const version = requested ?? (having.length > 0 ? chooseVersion(having, supported) : inferVersion(method, supported))
  if (operation && having.includes(version))
    return { operation, version, dialect: FOREIGN_CARD_METHODS.get(method) ?? versions[version].card }
  const currentName = operation && methodOf(operation, version)
  return { kind: 'method', method, version, ...(currentName !== undefined && { currentName }) }
}

/** Lists the versions that an agent supports, for a call that could be one of several. */
export type ListVersions = () => readonly WireVersion[]

/** Chooses the version of a call that names none: the oldest that the agent supports, else the oldest. */
export const chooseVersion = (candidates: readonly WireVersion[], supported?: ListVersions): WireVersion => {
  const preferred = candidates.length > 1 ? supported?.() : undefined
  return candidates.find(each => preferred?.includes(each)) ?? candidates[0] ?? latestVersion
}

/** Lists the versions whose methods are written in some way. */
const listNamed = (pattern: RegExp) => wireVersions.filter(version => pattern.test(methodOf('send', version) ?? ''))

/** Infers the version from the form of a method's name: PascalCase as in 1.0, or slashes as in 0.3. */
const inferVersion = (method: string, supported?: ListVersions): WireVersion =>
  chooseVersion(listNamed(/^[A-Z]/.test(method) ? /^[A-Z]/ : /\//), supported)

// Service parameters

/** Returns the extensions that a request names, in the header of any version. */
export const readExtensions = (headers: Headers): string[] => {
  let named: string[] = []
  for (const name of extensionsHeaders) named = named.concat(headers.get(name)?.split(',', MAX_EXTENSIONS) ?? [])
  return named.length === 0 ? named : [...new Set(named.map(uri => uri.trim()))].filter(uri => uri !== '')
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
  if ('kind' in requested) return chooseVersion(listNamed(method.includes('/') ? /\// : /^[A-Z]/))
  return requested.version ?? inferVersion(method)
}

/** Checks whether a query parameter names the version, in any case. */
export const isVersionParameter = (name: string): boolean => name.toLowerCase() === 'a2a-version'
