import fc from 'fast-check'
import type { ObjectName } from '../../src/a2a-bridge/objects.ts'
import type { JsonObject } from '../../src/json/json.ts'
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

const states = 'UNSPECIFIED SUBMITTED WORKING COMPLETED FAILED CANCELED INPUT_REQUIRED REJECTED AUTH_REQUIRED'.split(
  ' ',
)

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
export const arbitraryObjects: Record<Exclude<ObjectName, 'status' | 'artifact'>, fc.Arbitrary<JsonObject>> = {
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
