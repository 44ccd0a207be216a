import { type CompileContext, type Compiled, compile } from '../../src/card/compile/index.ts'
import type { CardError } from '../../src/card/model/report.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'

const registration = { id: 'weather', requestOrigin: 'https://host.example' }

/** A document that is expected to register, compiled; `fetched` is what the source of its card has answered. */
export const compiled = (
  document: Json,
  fetched?: JsonObject,
  at: Omit<CompileContext, 'fetched'> = registration,
): Compiled => {
  const result = compile(document, { ...at, fetched })
  if ('errors' in result) throw new Error(`is refused: ${JSON.stringify(result.errors)}`)
  return result.compiled
}

/** The errors of a document that is expected to be refused. */
export const refusal = (document: Json, fetched?: JsonObject): CardError[] => {
  const result = compile(document, { ...registration, fetched })
  if ('compiled' in result) throw new Error('is registered')
  return result.errors
}
