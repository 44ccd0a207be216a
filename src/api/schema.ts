import { createManifestSchema } from '../card/manifest/index.ts'
import { type Handler, respondWithDocument } from '../http/index.ts'

const manifestSchema = createManifestSchema()

/** `GET /schema/manifest.json`: the JSON Schema of manifests, by which editors complete and check the owner's files. */
export const getManifestSchema: Handler = ({ headers }) =>
  respondWithDocument(manifestSchema, headers, {
    // It changes with a deployment only.
    'Cache-Control': 'public, max-age=3600, stale-while-revalidate=86400',
    'Content-Type': 'application/schema+json',
  })
