import type { JsonObject } from '../../json/index.ts'
import type { Content, ItemSchema } from './operation.ts'

/** Returns the schema of a body, or the reference to it. */
const toSchema = (schema: ItemSchema): JsonObject =>
  typeof schema === 'string' ? { $ref: `#/components/schemas/${schema}` } : schema

/** Returns the media types of a body. */
export const toContent = (content: Content): JsonObject =>
  Object.fromEntries(
    Object.entries(content).map(([type, body]): [string, JsonObject] => [
      type,
      isSequence(body)
        ? { schema: { type: 'string' }, 'x-item-schema': toSchema(body.each) }
        : { schema: toSchema(body) },
    ]),
  )

/** Whether a body is a sequence of JSON documents. */
export const isSequence = (body: Content[string]): body is { each: ItemSchema } =>
  typeof body === 'object' && 'each' in body
