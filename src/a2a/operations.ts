import type { CallProfile } from '../card/call-profile.ts'
import { type CallBinding, type WireVersion, wireVersions } from '../card/model/calls.ts'
import type { DialectName } from '../card/model/constants.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { Refusal } from './errors.ts'

/** What the protocol says of an operation: its name in each version, and what an agent must be capable of. */
type Operation = Partial<Record<WireVersion, string>> & {
  needs?: keyof Pick<CallProfile, 'streaming' | 'pushNotifications' | 'extendedAgentCard'>
  /** Whether it is answered with a stream of events. */
  streams?: true
  /** Whether its parameters hold a message. */
  sends?: true
}

const table = {
  send: { '0.3': 'message/send', '1.0': 'SendMessage', sends: true },
  stream: { '0.3': 'message/stream', '1.0': 'SendStreamingMessage', needs: 'streaming', streams: true, sends: true },
  getTask: { '0.3': 'tasks/get', '1.0': 'GetTask' },
  listTasks: { '1.0': 'ListTasks' },
  cancel: { '0.3': 'tasks/cancel', '1.0': 'CancelTask' },
  resubscribe: { '0.3': 'tasks/resubscribe', '1.0': 'SubscribeToTask', needs: 'streaming', streams: true },
  createPushConfig: {
    '0.3': 'tasks/pushNotificationConfig/set',
    '1.0': 'CreateTaskPushNotificationConfig',
    needs: 'pushNotifications',
  },
  getPushConfig: {
    '0.3': 'tasks/pushNotificationConfig/get',
    '1.0': 'GetTaskPushNotificationConfig',
    needs: 'pushNotifications',
  },
  listPushConfigs: {
    '0.3': 'tasks/pushNotificationConfig/list',
    '1.0': 'ListTaskPushNotificationConfigs',
    needs: 'pushNotifications',
  },
  deletePushConfig: {
    '0.3': 'tasks/pushNotificationConfig/delete',
    '1.0': 'DeleteTaskPushNotificationConfig',
    needs: 'pushNotifications',
  },
  extendedCard: {
    '0.3': 'agent/getAuthenticatedExtendedCard',
    '1.0': 'GetExtendedAgentCard',
    needs: 'extendedAgentCard',
  },
} as const satisfies Record<string, Operation>

/** What a call asks an agent to do: the same in every version and binding (protocol.md). */
export type OperationName = keyof typeof table

/** Every operation of A2A. */
export const operations: Readonly<Record<OperationName, Operation>> = table

/** The dialect of the extended card that each name of that operation asks for; those of other hosts are of no version. */
export const extendedCardDialects: ReadonlyMap<string, DialectName> = new Map([
  [table.extendedCard['1.0'], '1.0'],
  [table.extendedCard['0.3'], '0.3'],
  ['agent/extendedCard', 'gopherhole'],
  ['agent/authenticatedExtendedCard', 'shaman'],
])

/** Names that are gone: those of v0.1, and those that v1.0 had as a draft or took over from gRPC with other words. */
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

/** One A2A call as the gate sees it, whatever binding it came by. */
export type A2ACall = {
  binding: CallBinding
  operation: OperationName
  /** The version of A2A that the caller speaks: what is answered is in its form. */
  version: WireVersion
  /** The JSON-RPC id as it was sent; null where there was none, and over HTTP+JSON. */
  id: Json
  /** The parameters: of JSON-RPC's `params`, or gathered from path, query and body. */
  params: JsonObject
  /** The extensions that the caller names. */
  extensions: string[]
}

const named = (version: WireVersion): ReadonlyMap<string, OperationName> =>
  new Map([
    ...[...extendedCardDialects]
      .filter(([, dialect]) => dialect !== '0.3' && dialect !== '1.0')
      .map(([name]): [string, OperationName] => [name, 'extendedCard']),
    ...(Object.keys(operations) as OperationName[]).flatMap((operation): [string, OperationName][] => {
      const name = operations[operation][version]
      return name === undefined ? [] : [[name, operation]]
    }),
  ])

const operationsNamed: Record<WireVersion, ReadonlyMap<string, OperationName>> = {
  '0.3': named('0.3'),
  '1.0': named('1.0'),
}

/**
 * What a JSON-RPC method asks for, in the version that the call names; where it names none, in the one that knows the
 * method. A method that both know is in the version that the agent speaks, 0.3 before 1.0.
 */
export const resolveMethod = (
  method: string,
  version: WireVersion | undefined,
  spoken: readonly WireVersion[],
): { operation: OperationName; version: WireVersion } | Refusal => {
  const knowing = version === undefined ? wireVersions.filter(each => operationsNamed[each].has(method)) : [version]
  const chosen = (knowing.length > 1 ? knowing.find(each => spoken.includes(each)) : undefined) ?? knowing[0]
  const inWords = chosen ?? inferVersion(method)
  const operation = operationsNamed[inWords].get(method)
  if (operation !== undefined) return { operation, version: inWords }
  const today = todaysName(method, inWords)
  return { refused: 'method', method, version: inWords, ...(today !== undefined && { today }) }
}

/** What has taken the place of a name in a version: of one that is gone, or that is another version's. */
const todaysName = (method: string, version: WireVersion): string | undefined => {
  const meant =
    RENAMED_METHODS.get(method) ?? wireVersions.map(each => operationsNamed[each].get(method)).find(each => each)
  return meant && operations[meant][version]
}

/** The version whose names look like this one: v1.0's are in PascalCase, v0.3's have slashes. */
export const inferVersion = (method: string): WireVersion => (/^[A-Z]/.test(method) ? '1.0' : '0.3')
