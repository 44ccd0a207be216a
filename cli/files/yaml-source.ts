import { type Document, LineCounter, parseDocument, type YAMLError } from 'yaml'
import type { Json } from '../../src/json/json.ts'
import { MAX_JSON_DEPTH } from '../../src/limits.ts'
import { locator } from './locate.ts'
import { keepVersions } from './published-versions.ts'
import type { Parsed } from './source.ts'
import { checkReferences, type Flaw, mostRepeats } from './yaml-references.ts'

/**
 * Reads YAML 1.2 with merge keys, every error with its place. What JSON cannot say (NaN, infinity) becomes null; a version
 * is the text that was written.
 */
export const parseYamlSource = (text: string): Parsed => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, merge: true, prettyErrors: false })
  const read = document.errors.length > 0 ? syntaxFlaws(document.errors) : jsonOf(document)
  if (!Array.isArray(read)) return { value: read.value, find: locator(document, lines) }
  return {
    faults: read.map(({ offset, message }) => {
      const { line, col } = lines.linePos(offset)
      return { line, column: col, message }
    }),
  }
}

const tooDeep = `The document nests deeper than ${MAX_JSON_DEPTH} levels.`

/** What yaml says in words for who calls it. */
const words: Partial<Record<YAMLError['code'], string>> = {
  MULTIPLE_DOCS: 'The file holds more than one document: each agent has a file of its own.',
  RESOURCE_EXHAUSTION: tooDeep,
}

/** Where the parser gave up in the deep, what it says of the rest is wrong. */
const syntaxFlaws = (errors: readonly YAMLError[]): Flaw[] => {
  const deep = errors.find(({ code }) => code === 'RESOURCE_EXHAUSTION')
  return (deep ? [deep] : errors).map(({ pos, code, message }) => ({
    offset: pos[0],
    message: words[code] ?? `This is not YAML. ${message}`,
  }))
}

const jsonOf = (document: Document): { value: Json } | Flaw[] => {
  let excess = 0
  try {
    const references = checkReferences(document)
    if (references.flaws.length > 0) return references.flaws
    excess = references.excess
    keepVersions(document)
    return { value: JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: mostRepeats }) ?? null)) }
  } catch (error) {
    // What is left to throw is a stack that was too short, and aliases that multiply: yaml counts them when it resolves them.
    if (error instanceof RangeError) return [{ offset: 0, message: tooDeep }]
    return [{ offset: excess, message: 'Too much is repeated by alias up to here: write some of it out.' }]
  }
}
