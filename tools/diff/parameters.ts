import { type OperationName, operations } from '../../src/a2a/operations.ts'
import type { CallBinding, WireVersion } from '../../src/card/model/versions.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import type { Random } from '../fuzz/requests.ts'
import type { TestedAgent } from './agents.ts'

/** A placeholder for the `nextPageToken` of the response before. */
export const PAGE_PLACEHOLDER = '%%page%%'

/** What the parameters of a call depend on. */
export type CallParts = {
  operation: OperationName
  version: WireVersion
  binding: CallBinding
  random: Random
  number: number
  agent: TestedAgent
}

/** The ends of the ids of the tasks that an agent starts in one case. */
export const TASK_SUFFIXES = ['', '', '-b', '-c'] as const

const taskIdOf = ({ number, random }: CallParts): string =>
  random.chance(0.92)
    ? `task-${number}${random.pick(TASK_SUFFIXES)}`
    : random.pick(['of-others-1', 'a/b', 'é', '..', 'a:cancel', '', 'x'.repeat(300), `task-${number - 1}`])

const partOf = (form: 'json' | 'proto', random: Random): JsonObject => {
  const [text, mediaType] = [
    random.pick(['Does it rain?', '', 'é\u2028\ud83c\udf27', 'x'.repeat(3000)]),
    random.pick(['image/png', 'text/plain', 'text/plain; charset=utf-8', 'application/json']),
  ]
  const bytes = 'iVBORw0KGgo='
  const url = 'https://a.example/map.png'
  const parts: readonly JsonObject[] =
    form === 'json'
      ? [
          { kind: 'text', text },
          { kind: 'data', data: { place: 'Kiel', n: 1 } },
          { kind: 'file', file: { bytes, mimeType: mediaType, name: 'a.png' } },
          { kind: 'file', file: { uri: url, mimeType: mediaType } },
        ]
      : [
          { text },
          { data: { place: 'Kiel', n: 1 } },
          { raw: bytes, mediaType, filename: 'a.png' },
          { url, mediaType },
          { text, mediaType },
        ]
  return random.chance(0.75) ? (parts[0] as JsonObject) : random.pick(parts)
}

const messageParams = (call: CallParts): JsonObject => {
  const { version, binding, random, number } = call
  const form = version === '0.3' && binding === 'JSONRPC' ? 'json' : 'proto'
  const parts = Array.from({ length: random.chance(0.9) ? 1 : 1 + random.below(3) }, () => partOf(form, random))
  const hook = random.pick([
    'https://hook.example/a',
    'https://hook.example/a',
    'http://hook.example',
    'https://127.0.0.1/',
    'https://a.example\\@b/',
  ])
  const push: JsonObject = {
    url: hook,
    token: 't',
    ...(version === '0.3' && { authentication: { schemes: ['Bearer'] } }),
  }
  const configuration: JsonObject = {
    ...(random.chance(0.4) && {
      acceptedOutputModes: random.pick<Json>([
        [],
        ['text/plain'],
        ['image/*', 'text/plain;q=0'],
        ['*/*'],
        ['application/pdf'],
        'text',
      ]),
    }),
    ...(random.chance(0.3) &&
      (form === 'json' || version === '0.3'
        ? { blocking: random.chance(0.5) }
        : { returnImmediately: random.chance(0.5) })),
    ...(random.chance(0.3) && { historyLength: random.pick<Json>([0, 5, '5', -1]) }),
    ...(random.chance(0.2) && {
      [version === '1.0'
        ? 'taskPushNotificationConfig'
        : form === 'json'
          ? 'pushNotificationConfig'
          : 'pushNotification']: push,
    }),
  }
  const message: JsonObject = {
    ...(form === 'json' && { kind: 'message' }),
    messageId: `m-${number}`,
    role: form === 'json' ? 'user' : 'ROLE_USER',
    [version === '0.3' && form === 'proto' ? 'content' : 'parts']: parts,
    ...(random.chance(0.25) && {
      contextId: random.chance(0.9) ? `context-${number}` : random.pick(['é', '', 'c'.repeat(300)]),
    }),
    ...(random.chance(0.2) && { taskId: taskIdOf(call) }),
    ...(random.chance(call.agent.kind === 'mcp' ? 0.8 : 0.2) && {
      metadata: {
        skillId: random.pick<Json>(
          call.agent.kind === 'mcp' ? ['look', 'measure'] : ['now', 'maps', 'none', 'look', 1],
        ),
        arguments: { place: 'Kiel', hours: 1 },
      },
    }),
    ...(random.chance(0.08) && { referenceTaskIds: [taskIdOf(call)] }),
    ...(random.chance(0.08) && { extensions: ['https://a.example/1'] }),
  }
  return {
    [version === '0.3' && form === 'proto' && random.chance(0.7) ? 'request' : 'message']: message,
    ...(random.chance(0.35) && { configuration }),
    ...(random.chance(0.1) && { metadata: { a: 1 } }),
  }
}

/** Returns the parameters of a call: those of its operation, in its version and binding, some of them wrong. */
export const paramsOf = (call: CallParts): JsonObject => {
  const { operation, version, binding, random } = call
  if (operations[operation].sends) return messageParams(call)
  const isOld = version === '0.3' && binding === 'JSONRPC'
  const id = taskIdOf(call)
  const configId = random.pick(['p-1', 'p-1', 'p/2', ''])
  const url = random.pick([
    'https://hook.example/a',
    'https://hook.example/a?b=c',
    'http://a.example/',
    'https://10.0.0.1/',
  ])
  switch (operation) {
    case 'listTasks':
      return {
        ...(random.chance(0.3) && { pageSize: random.pick<Json>([1, 2, 50, 100, 101, 0, '5', 1.5]) }),
        ...(random.chance(0.2) && { contextId: `context-${call.number}` }),
        ...(random.chance(0.2) && { status: random.pick(['TASK_STATE_WORKING', 'working', 'TASK_STATE_CANCELED']) }),
        ...(random.chance(0.4) && {
          pageToken: random.chance(0.7) ? PAGE_PLACEHOLDER : random.pick(['', 'abc', 'x'.repeat(200)]),
        }),
        ...(random.chance(0.2) && { includeArtifacts: true, historyLength: 2 }),
      }
    case 'createPushConfig':
      return isOld
        ? { taskId: id, pushNotificationConfig: { url, id: configId } }
        : version === '1.0'
          ? { taskId: id, id: configId, url, token: 't', authentication: { scheme: 'Bearer', credentials: 'c' } }
          : {
              parent: `tasks/${id}`,
              configId,
              config: {
                name: `tasks/${id}/pushNotificationConfigs/${configId}`,
                pushNotificationConfig: { url, id: configId },
              },
            }
    case 'getPushConfig':
    case 'deletePushConfig':
      return isOld ? { id, pushNotificationConfigId: configId } : { taskId: id, id: configId }
    case 'listPushConfigs':
      return { [isOld ? 'id' : 'taskId']: id }
    case 'extendedCard':
      return {}
    default:
      return {
        id,
        ...(operation === 'getTask' && random.chance(0.3) && { historyLength: random.pick<Json>([0, 3, '3']) }),
      }
  }
}
