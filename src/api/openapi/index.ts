import { toJsonSchemaDefs } from '@valibot/to-json-schema'
import { conversionConfig, createManifestSchema } from '../../card/manifest/index.ts'
import { type Handler, respondWithDocument } from '../../http/index.ts'
import { type JsonObject, mapMembers } from '../../json/index.ts'
import { VERSION } from '../../version.ts'
import * as requests from '../request-bodies.ts'
import { rateLimits, tags } from './operation.ts'
import { createPaths } from './paths.ts'
import { schemas } from './schemas/index.ts'

export type { RouteName } from './paths.ts'

/** The documents change with a deployment only. */
const CACHE_CONTROL = 'public, max-age=3600, stale-while-revalidate=86400'

let openApiText: string | undefined
let manifestSchemaText: string | undefined

/** `GET /openapi.json`: the OpenAPI document of this host, from which clients, mocks and reference pages are made. */
export const getOpenApi: Handler = ({ headers }) => {
  openApiText ??= JSON.stringify(createOpenApiDocument())
  return respondWithDocument(openApiText, headers, {
    'Cache-Control': CACHE_CONTROL,
    'Content-Type': 'application/json',
  })
}

/** `GET /schema/manifest.json`: the JSON Schema of manifests, by which editors complete and check the owner's files. */
export const getManifestSchema: Handler = ({ headers }) => {
  manifestSchemaText ??= JSON.stringify(createManifestSchema())
  return respondWithDocument(manifestSchemaText, headers, {
    'Cache-Control': CACHE_CONTROL,
    'Content-Type': 'application/schema+json',
  })
}

/** Returns the OpenAPI 3.1 document of this host: its routes, and JSON Schemas made from its valibot schemas. */
export const createOpenApiDocument = (): JsonObject => {
  const { paths, responses } = createPaths()
  return {
    openapi: '3.1.1',
    info: {
      title: 'Calling Card',
      version: VERSION,
      summary: 'A host for A2A Agent Cards.',
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: { ...convertSchemas(), ...cardSchemas() },
      responses,
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A token of this host, from `POST /tokens`. The roles of an operation are the scopes `read`, `call`, ' +
            '`write` and `admin`, which a token has for some or all agents.',
        },
      },
    },
  }
}

const limitNotes = Object.entries(rateLimits).map(
  ([name, { requests, seconds, per }]) => `${name}, ${requests} requests in ${seconds} seconds for ${per}`,
)

const INTRODUCTION = `HEAD works wherever GET does, and OPTIONS everywhere. A known path with another method is 405 with
\`Allow\`. Pages of any origin can read every response (CORS).

Rate limits, unless the owner has changed them: ${limitNotes.join('; ')}. Past one of them the response is 429 with
\`Retry-After\`; \`x-rate-limits\` of an operation names those that apply.

Where a body consists of several JSON documents, one a line or in the data of each server-sent event, \`x-item-schema\`
is the schema of one.`

const refOf = (name: string): string => `#/components/schemas/${name}`

const convertSchemas = (): JsonObject => {
  const definitions = { ...schemas, ...requests }
  const converted = toJsonSchemaDefs(definitions, {
    ...conversionConfig,
    target: 'draft-2020-12',
    typeMode: 'input',
    overrideRef: ({ referenceId }) => refOf(referenceId),
  })
  // Leaves out members that are undefined.
  const plain: JsonObject = JSON.parse(JSON.stringify(converted))
  // Its handler rejects unknown members after its schema.
  Object.assign(plain.TokenRequest as JsonObject, { additionalProperties: false })
  // The converter adds one for each schema that depends on the value, to which nothing refers.
  return mapMembers(plain, (schema, name) => (Object.hasOwn(definitions, name) ? schema : undefined))
}

/**
 * Returns the schemas of cards and manifests, which are made apart, in draft 7, which means the same in these parts.
 * Their references have another base here.
 */
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
