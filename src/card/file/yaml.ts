import type { Document, Node, YAMLError } from 'yaml'
import { isAlias, isCollection, isMap, isScalar, isSeq, Lexer, LineCounter, parseDocument, Scalar, visit } from 'yaml'
import { type Json, TOO_DEEP } from '../../json/index.ts'
import { hideSecret } from '../lint/index.ts'
import { createLocator, offsetOf, type ParsedDocument, type Position, toPosition } from './source-map.ts'

/** The result of parsing a text. */
export type ParseResult = ParsedDocument | { problems: Flaw[] }
type Flaw = Position & { message: string }

/** The most nodes that all aliases of a document may repeat: a small file must not expand to a huge one. */
const MAX_ALIAS_EXPANSIONS = 100

/** The most tokens of a text, white space included: reading more takes seconds, and a card has far fewer. */
const MAX_TOKENS = 100_000

/** Finds the place from which a text is too long to be parsed. */
export const findExcess = (text: string): Flaw[] => {
  let [tokens, line] = [0, 1]
  for (const token of new Lexer().lex(text)) {
    tokens += 1
    if (tokens > MAX_TOKENS) return [{ line, column: 1, message: 'This text is too long for a card: shorten it.' }]
    line += token.split('\n').length - 1
  }
  return []
}

/** Parses YAML 1.2 with merge keys. NaN and infinity become null; a version keeps the text that was written. */
export const parseYaml = (text: string): ParseResult => {
  const excess = findExcess(text)
  if (excess.length > 0) return { problems: excess }
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, merge: true, prettyErrors: false, uniqueKeys: false })
  // An unknown tag is only a warning, although the value without it is another one.
  const errors = [...document.errors, ...document.warnings]
  const result = errors.length > 0 ? toFlaws(errors, { text, document, lines }) : toJson(document, lines)
  return Array.isArray(result) ? { problems: result } : { ...result, locate: createLocator(document, lines) }
}

const flawAt = (offset: number, message: string, lines: LineCounter): Flaw => ({
  ...toPosition(offset, lines),
  message,
})

/** Hides a word that may be a password: without its syntax, nobody knows what it is. */
const hideWord = (word: string): string => hideSecret(word, 'password')

/** A text that is no YAML at all may have an error for each of its words. */
const MAX_SYNTAX_ERRORS = 20

/** Below what is too deep, the parser reports nothing right; and the second error of a line follows from the first. */
const toFlaws = (errors: readonly YAMLError[], source: Source): Flaw[] => {
  const deep = errors.find(({ code }) => code === 'RESOURCE_EXHAUSTION')
  const firsts = new Map<number, YAMLError>()
  for (const error of deep ? [deep] : errors) {
    const { line } = source.lines.linePos(error.pos[0])
    if (!firsts.has(line)) firsts.set(line, error)
  }
  return [...firsts].slice(0, MAX_SYNTAX_ERRORS).map(([line, error]) => toFlaw(error, line, source))
}

type Source = { text: string; document: Document; lines: LineCounter }

const toFlaw = ({ pos: [offset], code, message }: YAMLError, line: number, { text, document, lines }: Source): Flaw => {
  if (code === 'RESOURCE_EXHAUSTION') return flawAt(offset, TOO_DEEP, lines)
  if (code === 'MULTIPLE_DOCS')
    return flawAt(offset, 'The file has more than one document. Write each agent in a file of its own.', lines)
  const start = /closing|and end with/i.test(message) ? findUnclosed(document, text, offset) : undefined
  if (start !== undefined) {
    const opening = text.charAt(start)
    return flawAt(start, `This is not YAML. The ${opening} here has no closing ${CLOSING[opening]}.`, lines)
  }
  for (const [codes, pattern, hint] of HINTS) {
    pattern.lastIndex = lines.lineStarts[line - 1] ?? 0
    const found = codes.test(code) ? pattern.exec(text) : null
    if (found) return flawAt(found.indices?.[1]?.[0] ?? offset, `This is not YAML. ${hint}.`, lines)
  }
  return flawAt(offset, `This is not YAML. ${message.replace(/[^\s"'`,]+/g, hideWord)}`, lines)
}

/** Returns the start of a quoted text, or of a list or object in brackets, that is open at the offset where it ends. */
const findUnclosed = (document: Document, text: string, end: number): number | undefined => {
  let start: number | undefined
  visit(document, {
    Node: (_, { range }) => {
      if (range?.[1] === end && /["'[{]/.test(text[range[0]] ?? '')) start ??= range[0]
    },
  })
  return start
}

const CLOSING: Record<string, string> = { '"': '"', "'": "'", '[': ']', '{': '}' }

/** Also reported by `findFlaws`: braces are an object, which YAML allows as a key. */
const TEMPLATE = 'Replace the template {{ … }} by its value, or put the text in quotes'

const NEEDS_QUOTES = 'A text that begins with this character needs quotes, as in name: "@weather"'

/** Mistakes of owners: codes of the parser, the line with an empty group at the mistake, and what to do. */
const HINTS: readonly (readonly [codes: RegExp, line: RegExp, hint: string])[] = [
  [/./, /()[<=>]{7}(?:\s)/dy, 'Resolve this Git conflict: keep one of the two versions'],
  [/./, /\s*()<[!?\w]/dy, 'This is HTML or XML, not a card'],
  [/./, /.*?()(?:\{\{|\{%)/dy, TEMPLATE],
  [/TAB/, /(?=)/y, 'Indent with spaces: YAML does not allow tabs here'],
  [/SCALAR|ALIAS|TAG/, /(?=)/y, NEEDS_QUOTES],
  [/TOKEN|BLOCK/, /\s*(?:- +)*(?:[^\s:]+: +)?()[*&?|>]/dy, NEEDS_QUOTES],
  [/TOKEN/, /.*?: +()[[{]/dy, 'A text that begins with a bracket needs quotes, as in name: "[beta] Weather"'],
  [
    /TOKEN/,
    /.*?: +["'].*?()["']/dy,
    "The text ends at this quote: write a quote in it as \\\" (as '' within single ones)",
  ],
  [/TOKEN/, /.*?: +()- /dy, 'Write the first item of a list in a new line'],
  [/BLOCK/, /[^:\n]+: +.*?():\s/dy, 'A text with a colon and a space needs quotes: description: "Weather: forecasts"'],
  [/BLOCK/, /.*\s*()/dy, 'Indent this line as far as the one above, which has its value already'],
  [/ESCAPE/, /(?=)/y, 'Write a backslash within double quotes as \\\\'],
  [/KEY|CHAR/, /\s*(?:- +)*[^\s:]+():\S/dy, 'A space is missing after this colon, as in name: Weather'],
  [/INDENT|CHAR/, /\s*()[^\s:]+:/dy, 'Indent this line as far as the other members of its object'],
  [/KEY|CHAR/, /\s*()\S/dy, 'A colon is missing, as in name: Weather. Indent a line that continues the text above'],
]

const toJson = (document: Document, lines: LineCounter): { value: Json } | Flaw[] => {
  try {
    const flaws = [...findFlaws(document, lines), ...findDuplicateKeys(document, lines)]
    if (flaws.length > 0) return flaws
    preserveVersionText(document)
    // The aliases are counted already, with the position of the one that is too many.
    return { value: JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: -1 }) ?? null)) }
  } catch (error) {
    // The stack overflows in documents that are deep, but not so deep that the parser gives up.
    if (error instanceof RangeError) return [flawAt(0, TOO_DEEP, lines)]
    throw error
  }
}

/** Finds what is YAML but no card: cyclic or excessive aliases, merge keys without a map, and keys that are no text. */
const findFlaws = (document: Document, lines: LineCounter): Flaw[] => {
  const flaws: Flaw[] = []
  const anchors = new Map<string, Node>()
  const expansions = new Map<unknown, number>()
  let total = 0
  const report = (node: unknown, message: string) => void flaws.push(flawAt(offsetOf(node), message, lines))
  const resolve = (node: unknown): unknown => (isAlias(node) ? (anchors.get(node.source) ?? node) : node)
  visit(document, {
    // An anchor is valid from here to the next one of its name.
    Value: (_, node) => void (node.anchor !== undefined && anchors.set(node.anchor, node)),
    Alias: (_, alias, path) => {
      const target = anchors.get(alias.source)
      const name = hideWord(alias.source)
      if (target === undefined) return report(alias, `Alias *${name} has no anchor &${name} before it.`)
      if (path.includes(target))
        return report(alias, `Alias *${name} refers to its own anchor; cyclic documents are not supported.`)
      const added = 1 + (expansions.get(target) ?? 0)
      for (const node of path) expansions.set(node, (expansions.get(node) ?? 0) + added)
      total += added
      if (total <= MAX_ALIAS_EXPANSIONS) return undefined
      report(alias, `Too many alias expansions (limit ${MAX_ALIAS_EXPANSIONS}). Inline some of them.`)
      return visit.BREAK
    },
    Pair: (_, { key, value }) => {
      if (isCollection(resolve(key))) report(key, isMap(key) ? `${TEMPLATE}.` : 'A key must be text.')
      if (!isScalar(key) || typeof key.value !== 'symbol') return
      const merged = resolve(value)
      const maps = isSeq(merged) ? merged.items.map(resolve) : [merged]
      // An alias that cannot be resolved yet is reported by itself.
      if (!maps.every(map => isMap(map) || isAlias(map))) report(key, 'A merge key (<<) takes a map or a list of maps.')
    },
  })
  return flaws
}

/** Finds keys that an object has already. All keys of JSON are text, so `1` and `"1"` are the same key. */
export const findDuplicateKeys = (document: Document, lines: LineCounter): Flaw[] => {
  const flaws: Flaw[] = []
  visit(document, {
    Map: (_, { items }) => {
      const lineOf = new Map<string, number>()
      for (const { key } of items) {
        const scalar = isAlias(key) ? key.resolve(document) : key
        if (!isScalar(scalar)) continue
        const offset = offsetOf(key)
        const name = typeof scalar.value === 'symbol' ? '<<' : String(scalar.value ?? '')
        const shown = JSON.stringify(hideSecret(name))
        const first = lineOf.get(name)
        if (first === undefined) lineOf.set(name, lines.linePos(offset).line)
        else flaws.push(flawAt(offset, `The object already has the key ${shown}, in line ${first}.`, lines))
      }
    },
  })
  return flaws
}

/** Card members with versions. They are text, although YAML reads `1.10` as the number 1.1. */
const VERSION_NAMES = ['version', 'protocolVersion', 'protocol_version']

/** Replaces versions that YAML read as numbers by the text that was written. */
const preserveVersionText = (document: Document): void => {
  visit(document, {
    Pair: (_, pair) => {
      if (!isScalar(pair.key) || !VERSION_NAMES.includes(String(pair.key.value))) return
      const value = isAlias(pair.value) ? pair.value.resolve(document) : pair.value
      if (!isScalar(value) || typeof value.value !== 'number' || value.source === undefined) return
      // A new scalar, because other uses of an anchor stay numbers.
      const scalar = new Scalar(value.source)
      if (isScalar(pair.value) && pair.value.anchor !== undefined) scalar.anchor = pair.value.anchor
      pair.value = scalar
    },
  })
}
