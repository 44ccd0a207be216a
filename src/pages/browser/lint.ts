import type { InferOutput } from 'valibot'
import type { schemas } from '../../api/openapi/schemas/index.ts'
import type { Locator } from '../../card/file/index.ts'
import { plural, representationLabels, shorten } from '../text/index.ts'
import { byId, copyOnClick, element } from './elements/index.ts'

/** The response to `POST /lint`. */
type Report = InferOutput<typeof schemas.LintResult>
type Note = InferOutput<typeof schemas.Note>
type Issue = InferOutput<typeof schemas.Issue>

/** Something about a part of the card, at a line of the text. The text goes on after the pointer, as a sentence. */
type Mark = { line: number; kind: 'bad' | 'warn' | 'info'; pointer?: string; text: string }

/** Lines that are shown around a marked one. */
const CONTEXT_LINES = 2

/** Findings that are shown: a text that is no YAML can have one for each word. */
const MAX_MARKS = 200

const form = byId('check', HTMLFormElement)
const input = byId('card', HTMLTextAreaElement)
const output = byId('report', HTMLElement)
const status = byId('status', HTMLElement)
const fileInput = byId('file', HTMLInputElement)
const exampleButton = byId('example', HTMLButtonElement)

const limit = Number(form.dataset.maxBytes)

/** YAML and indented JSON are longer than the card that they contain; reading much longer texts would block the page. */
const MAX_TEXT_LENGTH = 4 * limit

const announce = (kind: 'good' | 'warn' | 'bad', text: string): void => {
  status.replaceChildren(element('p', { class: `message ${kind}` }, text))
}

const check = async (): Promise<void> => {
  output.replaceChildren()
  const text = input.value
  if (text.trim() === '') return announce('warn', 'Paste a card first.')
  if (text.length > MAX_TEXT_LENGTH) return announce('bad', 'This text is too large for a card.')
  const { parseFile } = await reach(import('../../card/file/index.ts'))
  const parsed = parseFile(guessName(text), text)
  if ('problems' in parsed) {
    announce('bad', 'This text cannot be read.')
    showMarks(parsed.problems.map(({ line, message }) => ({ line, kind: 'bad', text: message })))
    return
  }
  const body = JSON.stringify(parsed.value)
  const bytes = new TextEncoder().encode(body).byteLength
  if (bytes > limit) return announce('bad', `The card has ${bytes} bytes; at most ${limit} are allowed.`)
  const headers = { 'Content-Type': 'application/json' }
  const response = await reach(fetch('/lint?representations=true', { method: 'POST', headers, body }))
  const answer: Report & { detail?: string; errors?: Note[] } = response.ok
    ? await reach(response.json())
    : await response.json().catch(() => ({}))
  const lineOf = findLines(parsed.locate)
  if (response.ok) showReport(answer, lineOf)
  else {
    announce('bad', answer.detail ?? `The host has failed (${response.status}). Try again.`)
    showMarks((answer.errors ?? []).map(toMark(lineOf)))
  }
}

type FindLine = (pointer: string) => number

/** Errors are at pointers into the document, findings at pointers into the card, which a manifest may contain. */
const findLines =
  (locate: Locator): FindLine =>
  pointer => {
    for (let rest = pointer; ; rest = rest.slice(0, rest.lastIndexOf('/'))) {
      const position = locate(`/card${rest}`) ?? locate(rest)
      if (position) return position.line
      if (rest === '') return 1
    }
  }

const toMark =
  (lineOf: FindLine) =>
  ({ pointer, message }: Note): Mark => ({ line: lineOf(pointer), kind: 'bad', pointer, text: message })

/** Returns the name of a dialect or representation for people. */
const labelOf = (name: string): string => (representationLabels as Readonly<Record<string, string>>)[name] ?? name

const KINDS = { error: 'bad', warning: 'warn', info: 'info' } as const
const KIND_LABELS = { bad: 'Error', warn: 'Warning', info: 'Suggestion' } as const

const showReport = (report: Report, lineOf: FindLine): void => {
  const { errors, dialect, issues = [], filled = [], converted = [], lossy = [], signatures = [] } = report
  announce(...summarize(report))
  const found = issues.map(({ pointer, message, rule, severity }): Mark => {
    return { line: lineOf(pointer), kind: KINDS[severity], pointer, text: `${message} (${rule})` }
  })
  showMarks([...errors.map(toMark(lineOf)), ...found])
  if (dialect !== undefined) output.append(element('p', {}, `The dialect of this card is ${labelOf(dialect)}.`))
  showNotes('Filled in', 'What the card lacks, and this host adds.', filled)
  showNotes('Read in another form', 'What the card has in another form than that of A2A.', converted)
  showNotes('Lost in translation', 'What clients of other versions or bindings do not get.', lossy)
  showNotes('Signatures', 'What becomes of those of the author, and what this host signs.', signatures)
  showRepresentations(report.representations ?? {}, report.dropped ?? {})
}

const summarize = ({ valid, errors, issues = [] }: Report): ['good' | 'warn' | 'bad', string] => {
  if (!valid) return ['bad', `The card cannot be published: ${plural(errors.length, 'error')}.`]
  if (issues.length === 0) return ['good', 'Nothing to improve: the card can be published as it is.']
  const names = { error: 'error', warning: 'warning', info: 'suggestion' } as const
  const bySeverity = Map.groupBy(issues, ({ severity }) => severity)
  const parts = Object.entries(names).flatMap(([severity, name]) => {
    const count = bySeverity.get(severity as Issue['severity'])?.length ?? 0
    return count === 0 ? [] : [plural(count, name)]
  })
  const found = `Found: ${parts.join(', ')}.`
  if (bySeverity.has('error'))
    return ['bad', `Correct the errors before you publish the card: they break clients. ${found}`]
  return ['warn', `The card can be published. ${found}`]
}

/** Guesses the format of a text; YAML includes most others. */
const guessName = (text: string): string => {
  const start = text.trimStart()
  if (start.startsWith('{') || start.startsWith('[')) return 'card.json'
  return /^---[ \t]*\r?\n/.test(start) ? 'card.md' : 'card.yaml'
}

/** Shows the marked lines of the text with those around them, and under each what is to say about it. */
const showMarks = (all: readonly Mark[]): void => {
  if (all.length === 0) return
  const marks = all.slice(0, MAX_MARKS)
  const rest = all.length - marks.length
  const lines = input.value.split(/\r\n?|\n/)
  const byLine = Map.groupBy(marks, ({ line }) => line)
  const shown = new Set(
    [...byLine.keys()].flatMap(line =>
      Array.from({ length: 2 * CONTEXT_LINES + 1 }, (_, index) => line - CONTEXT_LINES + index),
    ),
  )
  const rows = [...shown]
    .filter(line => line >= 1 && line <= lines.length)
    .sort((a, b) => a - b)
    .flatMap((line, index, all) => [
      ...(index > 0 && all[index - 1] !== line - 1
        ? [element('li', { class: 'gap', 'aria-hidden': 'true' }, '⋯')]
        : []),
      renderLine(line, lines[line - 1] ?? '', byLine.get(line) ?? []),
    ])
  output.append(element('h2', {}, 'Findings'), element('ol', { class: 'lines' }, ...rows))
  if (rest > 0) output.append(element('p', { class: 'muted' }, plural(rest, 'more finding')))
}

const renderLine = (line: number, text: string, marks: readonly Mark[]): HTMLElement => {
  const number = element('button', { type: 'button', 'aria-label': `Go to line ${line}` }, String(line))
  number.addEventListener('click', () => selectLine(line))
  const code = element('code', { dir: 'ltr' }, shorten(text, 500))
  const messages = marks.map(({ kind, pointer = '', text }) => {
    const place = pointer === '' ? [] : [element('code', {}, pointer), ' ']
    return element(
      'p',
      { class: `message ${kind}`, dir: 'auto' },
      element('strong', {}, KIND_LABELS[kind]),
      ' ',
      ...place,
      text,
    )
  })
  return element('li', marks.length > 0 ? { class: 'marked' } : {}, number, code, ...messages)
}

const selectLine = (line: number): void => {
  const before = input.value.split('\n').slice(0, line - 1)
  const start = before.reduce((sum, text) => sum + text.length + 1, 0)
  const end = input.value.indexOf('\n', start)
  input.focus()
  input.setSelectionRange(start, end === -1 ? input.value.length : end)
}

const showNotes = (title: string, explanation: string, notes: readonly Note[]): void => {
  if (notes.length === 0) return
  const rows = notes.map(({ pointer, message }) =>
    element(
      'tr',
      {},
      element('td', {}, element('code', {}, pointer || '(whole card)')),
      element('td', { dir: 'auto' }, message),
    ),
  )
  const head = element('tr', {}, element('th', { scope: 'col' }, 'Where'), element('th', { scope: 'col' }, 'What'))
  output.append(
    element('h2', {}, title),
    element('p', { class: 'muted' }, explanation),
    element(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': title },
      element('table', { class: 'notes' }, element('thead', {}, head), element('tbody', {}, ...rows)),
    ),
  )
}

const showRepresentations = (documents: Record<string, unknown>, dropped: Record<string, string[]>): void => {
  const entries = Object.entries(documents)
  if (entries.length === 0) return
  output.append(
    element('h2', {}, 'What clients get'),
    element('p', { class: 'muted' }, 'The card in every representation that this host would serve.'),
    ...entries.map(([name, document]) => {
      const text = JSON.stringify(document, null, 2)
      const label = labelOf(name)
      const copy = element('button', { type: 'button' }, `Copy ${label}`)
      copyOnClick(copy, () => text)
      const lost = dropped[name] ?? []
      const note = lost.length === 0 ? [] : [element('p', { class: 'muted' }, `Left out: ${lost.join(', ')}`)]
      const pre = element('pre', { tabindex: '0', role: 'region', 'aria-label': `The card in ${label}` }, text)
      return element('details', { class: 'representation' }, element('summary', {}, label), ...note, copy, pre)
    }),
  )
}

const openFile = async (file: File | undefined): Promise<void> => {
  if (!file) return
  if (file.size > MAX_TEXT_LENGTH) return announce('bad', 'This file is too large for a card.')
  input.value = await file.text()
  await checkSafely()
}

/** What a request to a host that does not respond is rejected with. */
const UNREACHABLE = new Error('unreachable')

const reach = <Result>(request: Promise<Result>): Promise<Result> => request.catch(() => Promise.reject(UNREACHABLE))

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

form.addEventListener('submit', event => {
  event.preventDefault()
  void checkSafely()
})
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
copyOnClick(byId('share', HTMLButtonElement), () => `${location.origin}/lint`)
