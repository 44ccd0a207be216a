import type { Locator } from '../../card/file/index.ts'
import { plural, representationLabels, shorten } from '../text/index.ts'
import { ApiError, connect, describeError } from './api/index.ts'
import {
  append,
  button,
  byId,
  copyButton,
  copyText,
  element,
  handleSubmit,
  hint,
  type MessageKind,
  message,
  noteList,
  paragraph,
  scrollingText,
} from './elements/index.ts'
import { countIssues, type LintResult, NOTE_GROUPS } from './report/index.ts'

type Finding = LintResult['errors'][number]

/** Something about a part of the card, at a line of the text. The text goes on after the pointer, as a sentence. */
type Mark = { line: number; kind: keyof typeof KIND_LABELS; pointer?: string; text: string }

const KINDS = { error: 'bad', warning: 'warn', info: 'info' } as const
const KIND_LABELS = { bad: 'Error', warn: 'Warning', info: 'Suggestion' } as const

const CONTEXT_LINES = 2

/** Findings that are shown: a text that is no YAML can have one for each word. */
const MAX_MARKS = 200

const form = byId('check', HTMLFormElement)
const input = byId('card', HTMLTextAreaElement)
const output = byId('report', HTMLElement)
const status = byId('status', HTMLElement)
const fileInput = byId('file', HTMLInputElement)
const exampleButton = byId('example', HTMLButtonElement)
const shareButton = byId('share', HTMLButtonElement)

const limit = Number(form.dataset.maxBytes)

/** YAML and indented JSON are longer than their card; reading much longer texts would block the page. */
const MAX_TEXT_LENGTH = 4 * limit

const announce = (kind: MessageKind, text: string): void => status.replaceChildren(message(kind, text))

const check = async (): Promise<void> => {
  output.replaceChildren()
  const text = input.value
  if (text.trim() === '') return announce('warn', 'Paste a card first.')
  if (text.length > MAX_TEXT_LENGTH) return announce('bad', 'This text is too large for a card.')
  const { parseFile } = await import('../../card/file/index.ts').catch(() => Promise.reject(UNREACHABLE))
  const parsed = parseFile(guessName(text), text)
  if ('problems' in parsed) {
    announce('bad', 'This text cannot be read.')
    return showMarks(parsed.problems.map(({ line, message }) => ({ line, kind: 'bad', text: message })))
  }
  const bytes = new TextEncoder().encode(JSON.stringify(parsed.value)).byteLength
  if (bytes > limit) return announce('bad', `The card has ${bytes} bytes; at most ${limit} are allowed.`)
  try {
    const options = { query: { representations: true }, body: parsed.value }
    showResult(await connect().call('POST /lint', options), parsed.locate)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    announce('bad', describeError(error))
    showMarks(error.errors.map(each => toMark(each, parsed.locate)))
  }
}

/** Errors are at pointers into the document, findings at pointers into the card, which a manifest may contain. */
const findLine = (pointer: string, locate: Locator): number => {
  for (let rest = pointer; ; rest = rest.slice(0, rest.lastIndexOf('/'))) {
    const position = locate(`/card${rest}`) ?? locate(rest)
    if (position) return position.line
    if (rest === '') return 1
  }
}

const toMark = ({ pointer, message }: Finding, locate: Locator, kind: Mark['kind'] = 'bad'): Mark => ({
  ...{ line: findLine(pointer, locate), kind, pointer, text: message },
})

const labelOf = (name: string): string => (representationLabels as Readonly<Record<string, string>>)[name] ?? name

const showResult = (result: LintResult, locate: Locator): void => {
  const { errors, dialect, issues = [], representations = {}, dropped = {} } = result
  announce(...summarize(result))
  const found = issues.map(({ pointer, message, rule, severity }) =>
    toMark({ pointer, message: `${message} (${rule})` }, locate, KINDS[severity]),
  )
  showMarks([...errors.map(error => toMark(error, locate)), ...found])
  append(output, dialect !== undefined && paragraph(`The dialect of this card is ${labelOf(dialect)}.`))
  for (const [name, title, meaning] of NOTE_GROUPS) {
    const notes = result[name] ?? []
    append(output, notes.length > 0 && [element('h2', title), hint(meaning), noteList(notes)])
  }
  const documents = Object.entries(representations)
  if (documents.length === 0) return
  const explanation = hint('The card in every representation that this host would serve.')
  append(output, element('h2', 'What clients get'), explanation)
  for (const [name, document] of documents) append(output, renderDocument(labelOf(name), document, dropped[name] ?? []))
}

const renderDocument = (label: string, document: object, dropped: readonly string[]): HTMLElement => {
  const text = JSON.stringify(document, null, 2)
  const note = dropped.length > 0 && hint(`Left out: ${dropped.join(', ')}`)
  const content = [note, copyButton(`Copy ${label}`, text), scrollingText(`The card in ${label}`, text)]
  return element('details.representation', element('summary', label), content)
}

const summarize = ({ valid, errors, issues = [] }: LintResult): [MessageKind, string] => {
  if (!valid) return ['bad', `The card cannot be published: ${plural(errors.length, 'error')}.`]
  if (issues.length === 0) return ['good', 'Nothing to improve: the card can be published as it is.']
  const found = `Found: ${countIssues(issues)}.`
  return issues.some(({ severity }) => severity === 'error')
    ? ['bad', `Correct the errors before you publish the card: they break clients. ${found}`]
    : ['warn', `The card can be published. ${found}`]
}

/** Guesses the format of a text; YAML includes most others. */
const guessName = (text: string): string => {
  if (/^\s*[{[]/.test(text)) return 'card.json'
  return /^\s*---[ \t]*\r?\n/.test(text) ? 'card.md' : 'card.yaml'
}

/** Shows the marked lines of the text with those around them, and under each what is wrong with it. */
const showMarks = (all: readonly Mark[]): void => {
  if (all.length === 0) return
  const lines = input.value.split(/\r\n?|\n/)
  const byLine = Map.groupBy(all.slice(0, MAX_MARKS), ({ line }) => line)
  const marked = [...byLine.keys()]
  const isNear = (line: number) => marked.some(other => Math.abs(other - line) <= CONTEXT_LINES)
  const shown = lines.map((_, index) => index + 1).filter(isNear)
  const rows = shown.map((line, index) => [
    index > 0 && shown[index - 1] !== line - 1 && element('li.gap', { 'aria-hidden': 'true' }, '⋯'),
    renderLine(line, lines[line - 1] ?? '', byLine.get(line) ?? []),
  ])
  append(output, element('h2', 'Findings'), element('ol.lines', rows))
  append(output, all.length > MAX_MARKS && hint(plural(all.length - MAX_MARKS, 'more finding')))
}

const renderLine = (line: number, text: string, marks: readonly Mark[]): HTMLElement => {
  const toText = button(String(line), () => selectLine(line), { 'aria-label': `Go to line ${line}` })
  const content = element('code', { dir: 'ltr' }, shorten(text, 500))
  const messages = marks.map(({ kind, pointer = '', text }) => {
    const place = pointer !== '' && [' ', element('code', pointer)]
    return element(`p.message.${kind}`, { dir: 'auto' }, element('strong', KIND_LABELS[kind]), place, ` ${text}`)
  })
  return element(marks.length > 0 ? 'li.marked' : 'li', toText, content, messages)
}

const selectLine = (line: number): void => {
  const before = input.value.split('\n').slice(0, line - 1)
  const start = before.reduce((sum, text) => sum + text.length + 1, 0)
  const end = input.value.indexOf('\n', start)
  input.focus()
  input.setSelectionRange(start, end === -1 ? input.value.length : end)
}

const openFile = async (file: File | undefined): Promise<void> => {
  if (!file) return
  if (file.size > MAX_TEXT_LENGTH) return announce('bad', 'This file is too large for a card.')
  input.value = await file.text()
  await checkSafely()
}

/** The error of a request to a host that does not respond. */
const UNREACHABLE = new Error('unreachable')

/** Checks the text, and reports why that failed: any failure but that of a request is a defect of this page. */
const checkSafely = async (): Promise<void> => {
  try {
    await check()
  } catch (error) {
    if (error === UNREACHABLE) return announce('bad', 'This host cannot be reached right now. Try again.')
    console.error(error)
    announce('bad', 'This page has failed. Load it again.')
  }
}

handleSubmit(form, checkSafely)
fileInput.addEventListener('change', () => void openFile(fileInput.files?.[0]))
exampleButton.addEventListener('click', () => {
  input.value = exampleButton.dataset.example ?? ''
  void checkSafely()
})
for (const name of ['dragover', 'drop'] as const)
  form.addEventListener(name, event => {
    event.preventDefault()
    if (name === 'drop') void openFile(event.dataTransfer?.files[0])
  })
shareButton.ariaLive = 'polite'
shareButton.addEventListener('click', () => void copyText(shareButton, `${location.origin}/lint`))
