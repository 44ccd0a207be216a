import { LineCounter, parseDocument } from 'yaml'
import { findSyntaxMistake, parseJson as parseJsonText } from '../../json/index.ts'
import { createLocator, type Diagnostic, type ParsedFile } from './source-map.ts'
import { findDuplicateKeys, findExcess, type ParseResult, parseYaml } from './yaml.ts'

/** Parses the text of a file by its extension. Any other extension is read as YAML, which includes JSON. */
export const parseFile = (file: string, text: string): ParsedFile | { problems: Diagnostic[] } => {
  const extension = /\.[^./\\]+$/.exec(file)?.[0].toLowerCase() ?? ''
  const parse = PARSERS[extension] ?? parseYaml
  const parsed = parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  if ('problems' in parsed) return { problems: parsed.problems.map(problem => ({ file, pointer: '', ...problem })) }
  return { file, markdown: parse === parseMarkdown, ...parsed }
}

/** Returns the message for a file, or its front matter, without any content. */
export const emptyMessage = (markdown: boolean): string =>
  `The ${markdown ? 'front matter' : 'file'} is empty; expected a card or a manifest.`

/** Parses JSON as the host does; the YAML parser, for which JSON is YAML, only finds positions. */
const parseJson = (text: string): ParseResult => {
  if (text.trim() === '') return { problems: [{ line: 1, column: 1, message: emptyMessage(false) }] }
  const parsed = parseJsonText(text)
  if ('refused' in parsed) return { problems: [findSyntaxMistake(text)] }
  const excess = findExcess(text)
  if (excess.length > 0) return { problems: excess }
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, logLevel: 'silent' })
  // `JSON.parse` keeps the last of them.
  const problems = findDuplicateKeys(document, lines)
  if (problems.length > 0) return { problems }
  return { value: parsed.value, locate: createLocator(document, lines) }
}

const MISSING_FRONT_MATTER = 'has no front matter: write the card between two lines of --- at the top'
const UNCLOSED_FRONT_MATTER = 'has front matter without an end: its closing line of --- is missing'

/** Matches everything up to the closing fence. Spaces after a fence are invisible, so they are ignored. */
const FRONT_MATTER = /^(---[ \t]*(?:\r\n?|\n)(?:[\s\S]*?(?:\r\n?|\n))??)---[ \t]*(?:[\r\n]|$)/

/** Parses the YAML front matter of a Markdown file. The body is the agent's prompt, which is never read. */
const parseMarkdown = (text: string): ParseResult => {
  // Includes the opening fence, so that lines count as in the file.
  const [, frontMatter] = FRONT_MATTER.exec(text) ?? []
  if (frontMatter !== undefined) return parseYaml(frontMatter)
  const message = /^---[ \t]*[\r\n]/.test(text) ? UNCLOSED_FRONT_MATTER : MISSING_FRONT_MATTER
  return { problems: [{ line: 1, column: 1, message }] }
}

const PARSERS: Record<string, (text: string) => ParseResult> = {
  '.json': parseJson,
  '.yaml': parseYaml,
  '.yml': parseYaml,
  '.md': parseMarkdown,
  '.markdown': parseMarkdown,
}

/** The extensions of the files that are read from a folder. */
export const CARD_EXTENSIONS = Object.keys(PARSERS)

export { applyChange } from './change.ts'
export type { Diagnostic, InvalidFile, Locator, ParsedFile, PointerMapping, Position, SourceMap } from './source-map.ts'
export { createSourceMap, mapCardTo, pointerInCard } from './source-map.ts'
