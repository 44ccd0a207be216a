import { applyChange, type Locator, parseFile } from '../../../card/file/index.ts'
import { formatPointer, type Json, parseJson, parsePointer } from '../../../json/index.ts'
import { plural } from '../../components/index.ts'
import { ApiError, connect, describeError } from '../api/index.ts'
import { hasTooManyLines } from '../dom/index.ts'
import type { Change, Mark } from './findings.tsx'
import { countIssues, type Finding, type Issues, type LintResult } from './lint-result.ts'

/** What a check of a text has found. */
export type CheckedText = {
  /** The text, in which JSON on one line is indented. */
  text: string
  kind: 'good' | 'warn' | 'bad'
  /** The result in one sentence. */
  headline: string
  marks: Mark[]
  /** What the text contains, and what the host has found; undefined if it was not asked, or has not answered. */
  value?: Json
  result?: LintResult
  /** The changes that write into the text what the host fills in. */
  defaults: Change[]
}

/** Checks the text of a card or manifest with `POST /lint`. As JSON, it may have `maxBytes`. */
export const checkText = async (source: string, maxBytes: number): Promise<CheckedText> => {
  const text = indentJson(source)
  const failed = (headline: string, marks: Mark[] = [], kind: 'warn' | 'bad' = 'bad'): CheckedText => {
    return { text, kind, headline, marks, defaults: [] }
  }
  if (text.trim() === '') return failed('Paste a card first.', [], 'warn')
  // YAML and indented JSON are longer than their card; reading much longer texts would block the page.
  if (text.length > 4 * maxBytes) return failed('This text is too large for a card.')
  const parsed = parseFile(guessName(text), text)
  if ('problems' in parsed) {
    const marks = parsed.problems.map(({ line, message }): Mark => ({ line, kind: 'bad', message }))
    return failed('This text cannot be read.', marks)
  }
  const { value, locate } = parsed
  const bytes = new TextEncoder().encode(JSON.stringify(value)).byteLength
  if (bytes > maxBytes) return failed(`The card has ${bytes} bytes; at most ${maxBytes} are allowed.`)
  try {
    const result = await connect().call('POST /lint', { query: { representations: true }, body: value })
    return { text, ...readResult(result, locate), result, value }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const marks = error.errors.map(each => toMark(each, locate))
    return failed(describeError(error), marks)
  }
}

/** Applies changes to a text, and leaves the rest of it as it is. Returns undefined if one cannot be applied. */
export const changeText = (text: string, changes: readonly Change[]): string | undefined =>
  changes.reduce<string | undefined>((changed, each) => changed && applyChange(changed, each), text)

const readResult = ({ valid, errors, issues = [], filled = [] }: LintResult, locate: Locator) => {
  // A secret is an error, too.
  const found = issues.filter(({ rule }) => rule !== 'secret' || valid)
  const changes = filled.flatMap(({ change }) => (change ? [placeChange(change, locate)] : []))
  return {
    ...summarize({ valid, errors, issues }),
    marks: [...errors, ...found].map(each => toMark(each, locate)),
    // Some of the defaults without the others could make it a card of another dialect.
    defaults: changes.length === filled.length ? changes : [],
  }
}

/** Returns whether a card can be published, and what is found in it, without two statements that differ. */
export const summarize = ({ valid, errors, issues = [] }: LintResult): Pick<CheckedText, 'kind' | 'headline'> => {
  if (!valid) return { kind: 'bad', headline: `Not publishable: ${plural(errors.length, 'error')}` }
  const found = countIssues(issues)
  const severities = issues.map(({ severity }) => severity)
  if (severities.includes('error')) return { kind: 'bad', headline: `Not ready to publish: ${found}` }
  if (severities.includes('warning')) return { kind: 'warn', headline: `Publishable, with ${found}` }
  return { kind: 'good', headline: issues.length > 0 ? `Ready to publish, with ${found}` : 'Ready to publish' }
}

const KINDS = { error: 'bad', warning: 'warn', info: 'info' } as const

const toMark = ({ change, ...finding }: Finding | Issues[number], locate: Locator): Mark => ({
  ...finding,
  kind: KINDS['severity' in finding ? finding.severity : 'error'],
  line: findLine(placeOf(finding.pointer, locate), locate),
  ...(change && { change: placeChange(change, locate) }),
})

/** Findings are at pointers into the card, which a manifest may contain; errors are at pointers into the document. */
const placeOf = (pointer: string, locate: Locator): string => {
  const [first = ''] = parsePointer(pointer)
  const isInCard = locate('/card') && (locate(`/card${formatPointer(first)}`) || !locate(formatPointer(first)))
  return isInCard ? `/card${pointer}` : pointer
}

const placeChange = ({ path, from, ...change }: Change, locate: Locator): Change => ({
  ...change,
  path: placeOf(path, locate),
  ...(from !== undefined && { from: placeOf(from, locate) }),
})

/** Returns the line of a part of the document, or of the innermost one around it that is in the text. */
const findLine = (place: string, locate: Locator): number =>
  place === '' ? 1 : (locate(place)?.line ?? findLine(place.slice(0, place.lastIndexOf('/')), locate))

/** Guesses the format of a text; YAML includes most others. */
const guessName = (text: string): string => {
  if (/^\s*[{[]/.test(text)) return 'card.json'
  return /^\s*---[ \t]*\r?\n/.test(text) ? 'card.md' : 'card.yaml'
}

/** A string, a bracket with the one that closes it at once, another mark, or white space. */
const jsonToken = /"(?:[^"\\]|\\.)*"|[[{]\s*[\]}]|[[\]{},:]|\s+/g

/** Indents JSON on one line by its tokens, so that each value stays as it was written. */
const indentJson = (text: string): string => {
  if (/\n/.test(text.trim()) || 'refused' in parseJson(text)) return text
  let depth = 0
  const newLine = (change: number): string => {
    depth += change
    return `\n${'  '.repeat(depth)}`
  }
  const indented = text.trim().replace(jsonToken, token => {
    if (token === '{' || token === '[') return token + newLine(1)
    if (token === '}' || token === ']') return newLine(-1) + token
    if (token === ',') return token + newLine(0)
    if (token === ':') return ': '
    return token.startsWith('"') ? token : token.replace(/\s+/, '')
  })
  return hasTooManyLines(indented) ? text : indented
}
