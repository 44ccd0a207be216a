import { type Handler, respondWithDocument } from '../../http/index.ts'
import { createOpenApiDocument } from './document.ts'

export type { RouteName } from './routes.ts'

/** Made once, with the module, which the first request loads. */
const openApiText = JSON.stringify(createOpenApiDocument())

/** `GET /openapi.json`: the OpenAPI document of this host, from which clients, mocks and reference pages are made. */
export const getOpenApi: Handler = ({ headers }) =>
  respondWithDocument(openApiText, headers, {
    // It changes with a deployment only.
    'Cache-Control': 'public, max-age=3600, stale-while-revalidate=86400',
    'Content-Type': 'application/json',
  })
