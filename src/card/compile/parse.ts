import type { Json } from '../../json/index.ts'
import { createRedaction, type ManifestSecrets, searchManifest } from '../lint/index.ts'
import { type LocatedManifest, type ManifestContext, readManifest, resolveOrigin } from '../manifest/index.ts'
import { type Finding, truncateFindings } from '../model/index.ts'
import { checkDocument } from '../read/index.ts'

/** A valid manifest with what its document alone decides: everything that is compiled, but for a fetched card. */
export type ParsedManifest = LocatedManifest &
  ManifestSecrets & {
    id: string
    /** The origin of this host's URLs in the card. */
    origin: string
  }

type ParseResult = ParsedManifest | { errors: Finding[] }

/**
 * Checks and reads a manifest, a bare card or front matter, and searches it for secrets. Returns all errors found at
 * one step, each with a pointer into the document. No message repeats what looks like a secret.
 */
export const parseManifest = (document: Json, context: ManifestContext): ParseResult => {
  const documentErrors = checkDocument(document)
  if (documentErrors.length > 0) return reject(documentErrors, [])
  const read = readManifest(document, context.id)
  const parsed = 'errors' in read ? read : completeManifest(read, context)
  return 'errors' in parsed ? reject(parsed.errors, [document]) : parsed
}

/** Parses a registered manifest, with the origin at which it was registered. */
export const parseStored = (id: string, { manifest, origin }: { manifest: string; origin: string }): ParseResult =>
  parseManifest(JSON.parse(manifest) as Json, { id, publicOrigin: origin, requestOrigin: origin })

/** Parses the rest of a manifest that was read before. */
export const completeManifest = (read: LocatedManifest, context: ManifestContext): ParseResult => {
  const resolved = resolveOrigin(read.manifest, context)
  return 'errors' in resolved ? resolved : { ...read, id: context.id, ...resolved, ...searchManifest(read) }
}

/** Limits the number and the length of errors, and removes from them what looks like a secret in these documents. */
export const reject = (errors: Finding[], documents: readonly (Json | undefined)[]): { errors: Finding[] } => ({
  errors: createRedaction(documents)(truncateFindings(errors, pointer => pointer)),
})
