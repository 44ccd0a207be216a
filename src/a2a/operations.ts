import type { CallProfile } from '../card/call-profile.ts'
import type { WireVersion } from '../card/model/calls.ts'
import type { DialectName } from '../card/model/names.ts'

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
export const RENAMED_METHODS: ReadonlyMap<string, OperationName> = new Map([
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
