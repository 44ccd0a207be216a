import { createManifestSchema } from '../../card/manifest/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { VERSION } from '../../version.ts'
import { endpoint, type Route, rateLimits, tags, withContent } from '../contract/index.ts'
import { createPaths } from './paths.ts'
import { createSchemas } from './schemas.ts'

export { listLimits, listProblems, toTemplate } from './paths.ts'

/** The documents change with a deployment only. */
const headers = { 'Cache-Control': 'public, max-age=3600, stale-while-revalidate=86400' }

const texts = new Map<string, string>()

const document = (summary: string, response: string, type: string, create: () => JsonObject | Promise<JsonObject>) =>
  endpoint(
    {
      ...{ tag: 'documents', summary, access: 'public' },
      responses: { 200: withContent(response, { [type]: { text: { type: 'object' } } }) },
      validated: true,
    },
    async () => {
      const body = texts.get(type) ?? JSON.stringify(await create())
      texts.set(type, body)
      return { body, headers }
    },
  )

/** Returns the endpoints of the documents that describe the API of this host, whose endpoints are `routes`. */
export const createDocuments = (routes: readonly Route[]) => ({
  /** `GET /openapi.json`: the OpenAPI document of this host, from which clients and mocks are made. */
  getOpenApi: document('Get the description of this API', 'An OpenAPI 3.1 document.', 'application/json', () =>
    createOpenApiDocument(routes),
  ),
  /** `GET /schema/manifest.json`: the JSON Schema of manifests, by which editors complete and check them. */
  getManifestSchema: document(
    ...(['Get the JSON Schema of manifests', 'A JSON Schema (draft 7).', 'application/schema+json'] as const),
    createManifestSchema,
  ),
})

/** Returns the OpenAPI 3.1 document of a host: its routes, and JSON Schemas made from the shapes of their bodies. */
export const createOpenApiDocument = async (routes: readonly Route[]): Promise<JsonObject> => {
  const { paths, responses } = await createPaths(routes)
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
      schemas: createSchemas(),
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
