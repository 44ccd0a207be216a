import { LineCounter, parseDocument } from 'yaml'
import { parseJson } from '../../src/json/parse.ts'
import { holdsNothing } from './holds-nothing.ts'
import { locator } from './locate.ts'
import type { Position } from './problem.ts'
import type { Parsed } from './source.ts'

/** Reads JSON as the host reads it; yaml, of which JSON is a part, only tells where things stand. */
export const parseJsonSource = (text: string): Parsed => {
  if (text.trim() === '') return { faults: [{ line: 1, column: 1, message: holdsNothing('file') }] }
  const parsed = parseJson(text)
  if ('refused' in parsed) return { faults: [{ ...faultPosition(text, parsed.detail), message: parsed.detail }] }
  const lines = new LineCounter()
  const find = locator(parseDocument(text, { lineCounter: lines, uniqueKeys: false, logLevel: 'silent' }), lines)
  return { value: parsed.value, find }
}

/** The runtime's message names the place, except at the end of the text and for some tokens: there yaml knows. */
const faultPosition = (text: string, message: string): Position => {
  const told = /line (\d+) column (\d+)/.exec(message)
  if (told) return { line: Number(told[1]), column: Number(told[2]) }
  const lines = new LineCounter()
  const [error] = parseDocument(text, { lineCounter: lines, prettyErrors: false, schema: 'json' }).errors
  const { line, col } = error ? lines.linePos(error.pos[0]) : { line: 1, col: 1 }
  return { line, column: col }
}
