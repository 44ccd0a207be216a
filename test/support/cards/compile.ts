import { expect } from 'vitest'
import { type Compiled, compileDocument, type ParsedManifest, parseManifest } from '../../../src/card/compile/index.ts'
import type { ManifestContext } from '../../../src/card/manifest/index.ts'

import type { Finding, Issue } from '../../../src/card/model/index.ts'

import type { Json, JsonObject } from '../../../src/json/json.ts'
import { cleanCard } from './cards.ts'

/** The context of a registration at the host `https://host.example`. */
export const registration = { id: 'weather', requestOrigin: 'https://host.example' }

/** Parses a document that must be a valid manifest. */
export const parseDocument = (document: Json, context: ManifestContext = registration): ParsedManifest => {
  const parsed = parseManifest(document, context)
  if ('errors' in parsed) throw new Error(`the document is rejected: ${JSON.stringify(parsed.errors)}`)
  return parsed
}

/** Compiles a document that must be valid. `fetched` is the response of its remote source. */
export const compileCard = (
  document: Json,
  fetched?: JsonObject,
  context: ManifestContext = registration,
): Compiled => {
  const result = compileDocument(document, { ...context, fetched })
  if ('errors' in result) throw new Error(`the document is rejected: ${JSON.stringify(result.errors)}`)
  return result.compiled
}

/** Returns the errors of a document that must be rejected. */
export const getCompileErrors = (document: Json, fetched?: JsonObject): Finding[] => {
  const result = compileDocument(document, { ...registration, fetched })
  if ('compiled' in result) throw new Error('the document is valid')
  return result.errors
}

/** Returns the linter's issues with the clean card after replacing `fields`; `undefined` removes a field. */
export const lintFields = (fields: Record<string, Json | undefined>, manifest: JsonObject = {}): Issue[] =>
  lintCard({ ...cleanCard, ...fields }, manifest)

/** Returns the linter's issues with a card that must be valid. */
export const lintCard = (card: Record<string, Json | undefined>, manifest: JsonObject = {}): Issue[] => {
  const document = JSON.parse(JSON.stringify({ card, ...manifest }))
  const result = compileDocument(document, registration)
  if ('errors' in result) throw new Error(`the document is rejected: ${JSON.stringify(result.errors)}`)
  return result.compiled.report.issues
}

/** Formats each issue as one line: rule, severity, pointer. */
export const formatIssues = (issues: readonly Issue[]): string[] =>
  issues.map(({ rule, severity, pointer }) => `${rule} ${severity} ${pointer}`)

/** Returns the 1.0 representation of each tier's card. */
export const compileTiers = (manifest: Json): Record<string, JsonObject> =>
  Object.fromEntries(compileCard(manifest).extended.map(({ tier, documents }) => [tier, documents['1.0']]))

/** Fields of the clean card, and the issues with it when it has these, as `formatIssues` writes them. */
type LintedFields = readonly [fields: Record<string, Json | undefined>, ...issues: string[]]

/** Compares the linter's issues with those of each row. */
export const expectIssues = (rows: readonly LintedFields[], manifest: JsonObject = {}): void => {
  expect(rows.map(([fields]) => [fields, ...formatIssues(lintFields(fields, manifest))])).toEqual(rows)
}
