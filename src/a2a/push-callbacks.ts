import { isObject, type Json } from '../card/json.ts'
import { whyBlocked } from '../http/fetch-guard.ts'
import type { Call } from './call.ts'
import { operations } from './operations.ts'
import type { Refusal } from './verdict.ts'

/** Where a push configuration may stand in a message's `configuration`: in v0.3, in v0.3 over HTTP, in v1.0. */
export const pushConfigurations = [
  ...['pushNotificationConfig', 'push_notification_config', 'pushNotification', 'push_notification'],
  ...['taskPushNotificationConfig', 'task_push_notification_config'],
]

/** And in the parameters of the operation that creates one, which may themselves be it. */
const wrappers = [...pushConfigurations, 'config']

/** Where an agent is told to call, and the path of the field that says so. */
type Callback = { field: string; url: Json }

/**
 * Why a call is refused that tells an agent to call back where this host itself would not: the agent may stand in a network of
 * its own. Which of the addresses are there is not told: one answer is given for every reason.
 */
export const callbackRefusal = (call: Call, allowedOrigins: string): Refusal | undefined => {
  const violations = callbacksOf(call)
    .filter(({ url }) => !mayBeCalled(url, allowedOrigins))
    .map(({ field }) => ({ field, description: 'is an address that this host does not call' }))
  if (violations.length === 0) return undefined
  return {
    refused: 'invalid-params',
    detail: 'Push notifications go to public https addresses alone, and this is none that this host calls.',
    violations,
  }
}

const callbacksOf = ({ operation, params }: Call): Callback[] => {
  if (operation === 'createPushConfig') return callbacksIn(params, '')
  if (!operations[operation].sends) return []
  return [...wrapped(params.configuration, 'configuration.'), ...wrapped(params, '')]
}

/** Readers take one name or the other: whatever could be the address is looked at. An empty one is none. */
const callbacksIn = (config: Json | undefined, path: string): Callback[] => {
  if (!isObject(config)) return []
  const { url = null } = config
  return [...(url === null || url === '' ? [] : [{ field: `${path}url`, url }]), ...wrapped(config, path)]
}

const wrapped = (holder: Json | undefined, path: string): Callback[] =>
  isObject(holder) ? wrappers.flatMap(name => callbacksIn(holder[name], `${path}${name}.`)) : []

/** The agent reads the address with a parser of its own: only one that all read alike is passed on. */
const mayBeCalled = (url: Json, allowedOrigins: string): boolean =>
  typeof url === 'string' && plain.test(url) && whyBlocked(url, allowedOrigins) === undefined

const plain = /^https?:\/\/[^/?#\\@\s]+(?:[/?#][^\\\s\p{Cc}]*)?$/iu
