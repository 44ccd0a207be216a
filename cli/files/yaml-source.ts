import { LineCounter, parseDocument } from 'yaml'
import type { Json } from '../../src/card/json.ts'
import { locator } from './locate.ts'
import { keepVersions } from './published-versions.ts'
import type { Parsed } from './source.ts'

/**
 * Reads YAML 1.2 with merge keys, every error with its place. What JSON cannot say (NaN, infinity) becomes null; a version
 * is the text that was written.
 */
export const parseYamlSource = (text: string): Parsed => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, merge: true, prettyErrors: false })
  if (document.errors.length > 0)
    return {
      faults: document.errors.map(error => {
        const { line, col } = lines.linePos(error.pos[0])
        return { line, column: col, message: `This is not YAML. ${error.message}` }
      }),
    }
  try {
    keepVersions(document)
    const value = JSON.parse(JSON.stringify(document.toJS() ?? null)) as Json
    return { value, find: locator(document, lines) }
  } catch (error) {
    // An alias without its anchor, or aliases that multiply: yaml tells only when it resolves them.
    return { faults: [{ line: 1, column: 1, message: error instanceof Error ? error.message : String(error) }] }
  }
}
