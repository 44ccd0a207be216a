import { type CompileContext, type Compiled, compile } from '../../../src/card/compile/index.ts'
import type { CardError, Issue } from '../../../src/card/model/report.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { cleanCard } from './cards.ts'

const registration = { id: 'weather', requestOrigin: 'https://host.example' }

/** Compiles a document that must register; `fetched` is the card that its source responded with. */
export const compiled = (
  document: Json,
  fetched?: JsonObject,
  at: Omit<CompileContext, 'fetched'> = registration,
): Compiled => {
  const result = compile(document, { ...at, fetched })
  if ('errors' in result) throw new Error(`is refused: ${JSON.stringify(result.errors)}`)
  return result.compiled
}

/** Returns the errors of a document that must be refused. */
export const refusal = (document: Json, fetched?: JsonObject): CardError[] => {
  const result = compile(document, { ...registration, fetched })
  if ('compiled' in result) throw new Error('is registered')
  return result.errors
}

/** Returns the linter's issues with the clean card and these fields in place of its own; `undefined` removes a field. */
export const issuesWith = (fields: Record<string, Json | undefined>, manifest: JsonObject = {}): Issue[] =>
  issuesOf({ ...cleanCard, ...fields }, manifest)

/** Returns the linter's issues with a card that registers. */
export const issuesOf = (card: Record<string, Json | undefined>, manifest: JsonObject = {}): Issue[] => {
  const document = JSON.parse(JSON.stringify({ card, ...manifest }))
  const result = compile(document, { id: 'agent', requestOrigin: 'https://host.example' })
  if ('errors' in result) throw new Error(`refused: ${JSON.stringify(result.errors)}`)
  return result.compiled.report.issues
}

/** Formats each issue as one line: rule, severity, pointer. */
export const lines = (issues: readonly Issue[]): string[] =>
  issues.map(({ rule, severity, pointer }) => `${rule} ${severity} ${pointer}`)
