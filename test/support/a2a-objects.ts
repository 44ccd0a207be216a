import fc from 'fast-check'
import type { ResultName } from '../../src/a2a/objects/index.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { webUrl } from './cards/generated.ts'

const text = fc.string({ minLength: 1, maxLength: 8 })
const optional = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined })
const metadata = optional(fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { minKeys: 1, maxKeys: 3 }))
const compact = (object: object): JsonObject => JSON.parse(JSON.stringify(object))

const part = fc
  .record({
    content: fc.oneof(
      text.map(value => ({ text: value })),
      fc.uint8Array({ maxLength: 9 }).map(bytes => ({ raw: Buffer.from(bytes).toString('base64') })),
      webUrl.map(url => ({ url })),
      fc.jsonValue({ maxDepth: 3 }).map(data => ({ data })),
    ),
    file: fc.record({ filename: optional(text), mediaType: optional(fc.constantFrom('image/png', 'text/csv')) }),
    metadata,
  })
  .map(({ content, file, metadata }) =>
    compact({ ...content, ...('raw' in content || 'url' in content ? file : {}), metadata }),
  )

const message = fc
  .record({
    messageId: text,
    taskId: optional(text),
    contextId: optional(text),
    role: fc.constantFrom('ROLE_USER', 'ROLE_AGENT'),
    parts: fc.array(part, { minLength: 1, maxLength: 4 }),
    metadata,
    extensions: optional(fc.array(webUrl, { minLength: 1, maxLength: 2 })),
    referenceTaskIds: optional(fc.array(text, { minLength: 1, maxLength: 2 })),
  })
  .map(compact)

const states = [
  'UNSPECIFIED',
  'SUBMITTED',
  'WORKING',
  'COMPLETED',
  'FAILED',
  'CANCELED',
  'INPUT_REQUIRED',
  'REJECTED',
  'AUTH_REQUIRED',
]

const status = fc
  .record({
    state: fc.constantFrom(...states.map(state => `TASK_STATE_${state}`)),
    message: optional(message),
    timestamp: optional(
      fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map(date => date.toISOString()),
    ),
  })
  .map(compact)

const artifact = fc
  .record({
    artifactId: text,
    name: optional(text),
    description: optional(text),
    parts: fc.array(part, { minLength: 1, maxLength: 3 }),
    metadata,
    extensions: optional(fc.array(webUrl, { minLength: 1, maxLength: 2 })),
  })
  .map(compact)

const ids = { taskId: text, contextId: text }
/** Objects of 1.0, from which those of the other forms are made. */
export const arbitraryObjects: Record<ResultName, fc.Arbitrary<JsonObject>> = {
  message,
  task: fc
    .record({
      id: text,
      contextId: text,
      status,
      artifacts: optional(fc.array(artifact, { minLength: 1, maxLength: 2 })),
      history: optional(fc.array(message, { minLength: 1, maxLength: 2 })),
      metadata,
    })
    .map(compact),
  statusUpdate: fc.record({ ...ids, status, metadata }).map(compact),
  artifactUpdate: fc
    .record({ ...ids, artifact, append: optional(fc.boolean()), lastChunk: optional(fc.boolean()), metadata })
    .map(compact),
}

const NAMES = [
  ...['id', 'taskId', 'task_id', 'contextId', 'name', 'parent', 'config', 'configId', 'tenant', 'metadata', 'kind'],
  ...['message', 'request', 'messageId', 'role', 'parts', 'content', 'text', 'data', 'file', 'raw', 'url', 'bytes'],
  ...['configuration', 'pushNotificationConfig', 'pushNotification', 'taskPushNotificationConfig', 'authentication'],
  ...['schemes', 'scheme', 'blocking', 'historyLength', 'task', 'status', 'state', 'timestamp', 'final', 'artifact'],
  ...['artifacts', 'history', 'statusUpdate', 'artifactUpdate', 'configs', 'nextPageToken', 'error', 'code', 'details'],
  ...['jsonrpc', 'result', '__proto__', 'toString'],
]
const WORDS = [
  '',
  't',
  'user',
  'ROLE_USER',
  'task',
  'message',
  'text',
  'working',
  'TASK_STATE_WORKING',
  'tasks/t',
  '..',
]

/** JSON whose members have the names of A2A, in any place and with any value. */
export const arbitraryJson: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...WORDS),
    fc.constantFrom(null, true, false, 0, 1, -32001, 1e21),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 6 }),
  ),
})).value
