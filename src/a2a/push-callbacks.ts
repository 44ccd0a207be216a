import { blockReason } from '../http/safe-fetch.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import type { A2ACall } from './call.ts'
import { operations } from './operations.ts'
import type { Refusal } from './verdict.ts'

/** Where a push configuration may stand in a message's `configuration`: in v0.3, in v0.3 over HTTP, in v1.0. */
export const pushConfigurations = [
  ...['pushNotificationConfig', 'push_notification_config', 'pushNotification', 'push_notification'],
  ...['taskPushNotificationConfig', 'task_push_notification_config'],
]

/** And in the parameters of the operation that creates one, which may themselves be it. */
export const pushWrappers = [...pushConfigurations, 'config']

/** Enough to mend a call by: it may hold addresses by the hundred thousand. */
const mostTold = 10

/**
 * Why a call is refused that tells an agent to call back where this host itself would not: the agent may stand in a network of
 * its own. Which of the addresses are there is not told: one answer is given for every reason.
 */
export const checkCallbacks = (call: A2ACall, allowedOrigins: string): Refusal | undefined => {
  const fields: string[] = []
  const { operation, params } = call
  if (operation === 'createPushConfig') look(params, '', allowedOrigins, fields)
  else if (operations[operation].sends) {
    lookBelow(params.configuration, 'configuration.', allowedOrigins, fields)
    lookBelow(params, '', allowedOrigins, fields)
  }
  if (fields.length === 0) return undefined
  return {
    refused: 'invalid-params',
    detail: 'Push notifications go to public https addresses alone, and this is none that this host calls.',
    violations: fields.map(field => ({ field, description: 'is an address that this host does not call' })),
  }
}

/** Readers take one name or the other: whatever could be the address is looked at. An empty one is none. */
const look = (config: JsonObject, path: string, allowedOrigins: string, fields: string[]): void => {
  const { url = null } = config
  if (url !== null && url !== '' && !mayBeCalled(url, allowedOrigins)) fields.push(`${path}url`)
  lookBelow(config, path, allowedOrigins, fields)
}

const lookBelow = (holder: Json | undefined, path: string, allowedOrigins: string, fields: string[]): void => {
  if (!isJsonObject(holder)) return
  for (const name of pushWrappers) {
    if (fields.length >= mostTold) return
    const config = holder[name]
    if (isJsonObject(config)) look(config, `${path}${name}.`, allowedOrigins, fields)
  }
}

/** The agent reads the address with a parser of its own: only one that all read alike is passed on. */
const mayBeCalled = (url: Json, allowedOrigins: string): boolean =>
  typeof url === 'string' && plain.test(url) && blockReason(url, allowedOrigins) === undefined

const plain = /^https?:\/\/[^/?#\\@\s]+(?:[/?#][^\\\s\p{Cc}]*)?$/iu
