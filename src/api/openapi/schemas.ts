import { toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import { conversionConfig, createManifestSchema } from '../../card/manifest/index.ts'
import { type JsonObject, mapMembers } from '../../json/index.ts'
import type { Content, MediaType } from '../contract/index.ts'
import * as shapes from '../schemas/index.ts'

/** Names of schemas begin with a capital letter; those of building blocks do not. */
const isSchema = (entry: [string, unknown]): entry is [string, v.GenericSchema] => /^[A-Z]/.test(entry[0])

/** The shapes of requests and responses, by their names in the document. */
const definitions = Object.fromEntries(Object.entries<unknown>(shapes).filter(isSchema))

/** The name of each shape in the document. */
export const names = new Map<v.GenericSchema, string>(
  Object.entries(definitions).map(([name, schema]) => [schema, name]),
)

/** Returns the reference to a schema of the document. */
export const refOf = (name: string): string => `#/components/schemas/${name}`

/** Returns the media types of a body. */
export const toContent = (content: Content): JsonObject =>
  Object.fromEntries(Object.entries(content).map(([type, media]): [string, JsonObject] => [type, toMediaType(media)]))

const toMediaType = (media: MediaType): JsonObject => {
  if ('text' in media) return { schema: media.text }
  if ('each' in media) return { schema: { type: 'string' }, 'x-item-schema': toSchema(media.each) }
  return { schema: toSchema(media) }
}

const config = { ...conversionConfig, target: 'draft-2020-12', typeMode: 'input' } as const

/** Returns the reference to a named schema, or the whole of one that only this body has. */
const toSchema = (schema: v.GenericSchema): JsonObject => {
  const name = names.get(schema)
  if (name !== undefined) return { $ref: refOf(name) }
  const { $schema, ...inline } = JSON.parse(JSON.stringify(toJsonSchema(schema, config)))
  return inline
}

/** Returns all schemas of the document: JSON Schemas made from the shapes, and those of cards and manifests. */
export const createSchemas = (): JsonObject => {
  const converted = toJsonSchemaDefs(definitions, {
    ...config,
    overrideRef: ({ referenceId }) => refOf(referenceId),
  })
  // Leaves out members that are undefined.
  const plain: JsonObject = JSON.parse(JSON.stringify(converted))
  // The converter adds one for each schema that depends on the value, to which nothing refers.
  const own = mapMembers(plain, (schema, name) => (Object.hasOwn(definitions, name) ? schema : undefined))
  return { ...own, ...cardSchemas() }
}

/** Returns the schemas of cards and manifests. Draft 7 means the same here as later ones. References get a new base. */
const cardSchemas = (): JsonObject => {
  const { $schema, definitions, ...manifest } = createManifestSchema()
  return {
    Manifest: JSON.parse(JSON.stringify(manifest).replaceAll('#/definitions/card', refOf('CardFields'))),
    CardFields: (definitions as JsonObject).card as JsonObject,
    AgentCard: {
      description: 'An Agent Card. Which of the fields it has depends on its dialect.',
      type: 'object',
      required: ['name'],
      $ref: refOf('CardFields'),
    },
  }
}
