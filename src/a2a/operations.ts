/** What a call asks an agent to do: the same in every version and binding (protocol.md). */
export type OperationName =
  | 'send'
  | 'stream'
  | 'getTask'
  | 'listTasks'
  | 'cancel'
  | 'resubscribe'
  | 'createPushConfig'
  | 'getPushConfig'
  | 'listPushConfigs'
  | 'deletePushConfig'
  | 'extendedCard'
