import type { Json, Pointer } from '../../json/index.ts'
import { createRedaction, type ManifestSecrets, searchManifest } from '../lint/index.ts'
import {
  findLocalHost,
  type KnownOrigins,
  type LocatedManifest,
  readManifest,
  resolveOrigin,
} from '../manifest/index.ts'
import { type Finding, truncateFindings } from '../model/index.ts'
import { checkDocument } from '../read/index.ts'

/** A valid manifest with what its document alone decides: everything that is compiled, but for a fetched card. */
export type ParsedManifest = LocatedManifest &
  ManifestSecrets & {
    id: string
    /** The origin of this host's URLs in the card. */
    origin: string
  }

/** The id of an agent, and the origins of the host that serves it. */
export type ManifestContext = KnownOrigins & { id: string }

/**
 * Checks and reads a manifest, a bare card or front matter, and searches it for secrets. Returns all errors found at
 * one step, each with a pointer into the document. No message repeats what looks like a secret.
 */
export const parseManifest = (document: Json, context: ManifestContext): ParsedManifest | { errors: Finding[] } => {
  const documentErrors = checkDocument(document)
  if (documentErrors.length > 0) return reject(documentErrors)
  const read = readManifest(document, context.id)
  const parsed = 'errors' in read ? read : completeManifest(read, context)
  return 'errors' in parsed ? createRedaction([document])(reject(parsed.errors)) : parsed
}

/** Parses the rest of a manifest that was read before. */
export const completeManifest = (
  read: LocatedManifest,
  { id, ...origins }: ManifestContext,
): ParsedManifest | { errors: Finding[] } => {
  const errors = findLocalHost(read.manifest, origins)
  if (errors.length > 0) return { errors }
  return { ...read, id, origin: resolveOrigin(read.manifest, origins), ...searchManifest(read) }
}

/** Returns a limited number of errors, whose pointers `errorPointer` maps. */
export const reject = (errors: Finding[], errorPointer = (pointer: Pointer): Pointer => pointer) => ({
  errors: truncateFindings(errors, errorPointer),
})
