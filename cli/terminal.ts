import { createInterface } from 'node:readline/promises'
import { stripVTControlCharacters } from 'node:util'
import picocolors from 'picocolors'
import { InterruptedError } from './exit-codes.ts'

/** A stream that is read, such as `process.stdin`. */
export type Input = NodeJS.ReadableStream & { isTTY?: boolean }

/** A stream that is written, such as `process.stdout`. */
export type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number }

/** All output and all questions of a command. Every text is one or more lines without the last line break. */
export type Terminal = {
  /** Whether a person can answer questions. */
  canAsk: boolean
  /** Whether a person reads stdout, and not a program. */
  isTerminal: boolean
  /** Writes data for a program to stdout, byte for byte. */
  out: (text: string) => void
  /** Writes a result for people to stdout. */
  report: (text: string) => void
  /** Writes progress and hints to stderr. */
  info: (text: string) => void
  /** Writes why the command failed to stderr, after the program's name. */
  error: (message: string) => void
  /**
   * Asks a yes-or-no question on stderr, so that stdout stays clean. Leaving the prompt means no. Throws an InterruptedError
   * after Ctrl-C, or if the signal is aborted.
   */
  confirm: (question: string, signal?: AbortSignal) => Promise<boolean>
  /** Asks questions on stderr, each until its answer is valid. Leaving the prompt returns undefined; Ctrl-C throws an InterruptedError. */
  ask: (questions: readonly Question[]) => Promise<string[] | undefined>
  /** Shows a progress bar on an interactive stderr if `total` is worth one. Other output appears above it. */
  progress: (title: string, total: number) => Progress
}

/** A progress bar. `stop` removes it, however far it is. */
export type Progress = { tick: () => void; stop: () => void }

/**
 * A question. `isAsked` returns whether it is; if not, its answer is empty. `byDefault` returns what an empty answer means,
 * or '' if there is no default; `check` returns why an answer is not valid. All know the answers before.
 */
export type Question = {
  text: string
  isAsked?: (answers: readonly string[]) => boolean
  byDefault?: (answers: readonly string[]) => string
  check?: (answer: string, answers: readonly string[]) => string | undefined
}

/** Where a terminal reads and writes, and the variables that decide about colours. */
export type TerminalStreams = {
  stdin: Input
  stdout: Output
  stderr: Output
  env: Readonly<Record<string, string | undefined>>
}

/** Colours for texts. They are always written; the terminal removes them where a stream shows none. */
export const colors = picocolors.createColors(true)

/** From how many steps on a progress bar is worth its line. */
const MIN_PROGRESS_STEPS = 5

/** The width of a full progress bar in characters. */
const PROGRESS_WIDTH = 30

/** Creates the terminal of a program; `program` is the name before its error messages. */
export const createTerminal = ({ stdin, stdout, stderr, env }: TerminalStreams, program: string): Terminal => {
  const statusLine = new StatusLine(stderr)
  const write = (stream: Output, text: string): void => statusLine.writeAbove(() => void stream.write(`${text}\n`))
  const printer = (stream: Output) => {
    const hasColors = isColorEnabled(stream, env)
    return (text: string) => write(stream, withoutCommands(hasColors ? text : stripVTControlCharacters(text)))
  }
  const info = printer(stderr)
  return {
    canAsk: stdin.isTTY === true,
    isTerminal: stdout.isTTY === true,
    out: text => write(stdout, text),
    report: printer(stdout),
    info,
    error: message => info(`${colors.red(`${program}:`)} ${message}`),
    confirm: async (question, signal) => {
      const answers = await ask([{ text: `${question} (y/N)` }], { input: stdin, output: stderr }, signal)
      return /^y(?:es)?$/i.test(answers?.[0] ?? '')
    },
    ask: questions => ask(questions, { input: stdin, output: stderr }),
    progress: (title, total) =>
      total < MIN_PROGRESS_STEPS || !stderr.isTTY || env.TERM === 'dumb'
        ? NO_PROGRESS
        : showProgress(statusLine, title, total),
  }
}

const NO_PROGRESS: Progress = { tick: () => {}, stop: () => {} }

/** Returns the terminal without its reports: with `--json`, stdout carries one object and nothing else. */
export const withoutReports = (terminal: Terminal): Terminal => ({ ...terminal, report: () => {} })

/** Returns the terminal without progress and hints, for `--quiet`. */
export const withoutProgress = (terminal: Terminal): Terminal => ({
  ...terminal,
  info: () => {},
  progress: () => NO_PROGRESS,
})

/** Formats a count with its noun in the singular or plural. */
export const formatCount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Aligns rows in columns, two spaces apart. Colours do not count for the width. */
export const formatTable = (rows: readonly (readonly string[])[]): string => {
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, column) => Math.max(widest[column] ?? 0, widthOf(cell))),
    [],
  )
  const pad = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell))
  return rows
    .map(row =>
      row
        .slice(0, row.findLastIndex(cell => widthOf(cell) > 0) + 1)
        .map(pad)
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Removes all control characters but colours, line breaks and tabs, wherever a text has them from. */
const withoutCommands = (text: string): string =>
  text.replace(/[^\P{Cc}\n\t](\[[\d;]*m)?/gu, (found, color = '') =>
    found === `\u001b${color}` && color ? found : color,
  )

/** Removes control characters, so that a text from a host cannot command the terminal. */
export const withoutControls = (text: string): string => text.replace(/\p{Cc}/gu, '')

/** Escapes a control character as JSON does. */
export const escapeControl = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Escapes the control characters that JSON and YAML leave as they are, and that a terminal obeys. */
export const escapeControls = (text: string): string => text.replace(/[\u007f-\u009f]/g, escapeControl)

const widthOf = (text: string): number => stripVTControlCharacters(text).length

/** Follows https://no-color.org and `FORCE_COLOR`. CI logs show colours although they are no terminal. */
const isColorEnabled = ({ isTTY }: Output, env: TerminalStreams['env']): boolean => {
  if (env.NO_COLOR) return false
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0'
  return (isTTY === true && env.TERM !== 'dumb') || Boolean(env.CI)
}

const showProgress = (statusLine: StatusLine, title: string, total: number): Progress => {
  let done = 0
  const draw = (): void => {
    const filled = Math.floor((PROGRESS_WIDTH * done) / total)
    statusLine.show(`${title} ${'█'.repeat(filled)}${'░'.repeat(PROGRESS_WIDTH - filled)} ${done}/${total}`)
  }
  draw()
  return {
    tick: () => {
      done++
      draw()
    },
    stop: () => statusLine.show(''),
  }
}

/** Moves the cursor to the beginning of its line and erases the line. */
const ERASE_LINE = '\r\u001b[K'

/** The last line of a terminal, which is redrawn in place and stays below all other output. */
class StatusLine {
  readonly #stream: Output
  #text = ''

  constructor(stream: Output) {
    this.#stream = stream
  }

  /** Replaces the line. An empty text removes it. */
  show(text: string): void {
    if (text === '' && this.#text === '') return
    this.#text = text
    this.#draw()
  }

  /** Erases the line while other text is written. */
  writeAbove(write: () => void): void {
    if (this.#text !== '') this.#stream.write(ERASE_LINE)
    write()
    if (this.#text !== '') this.#draw()
  }

  #draw(): void {
    // A line that wraps could not be erased. A terminal without a size reports 0 columns.
    this.#stream.write(ERASE_LINE + this.#text.slice(0, (this.#stream.columns || 80) - 1))
  }
}

const ask = async (
  questions: readonly Question[],
  { input, output }: { input: Input; output: Output },
  signal?: AbortSignal,
): Promise<string[] | undefined> => {
  const prompt = createInterface({ input, output })
  // Lines may arrive faster than questions are asked, for example when they are pasted.
  const lines = prompt[Symbol.asyncIterator]()
  let isOpen = true
  let isInterrupted = false
  prompt.once('close', () => {
    isOpen = false
  })
  const interrupt = (): void => {
    isInterrupted = true
    prompt.close()
  }
  // In a terminal, Ctrl-C reaches the prompt instead of the process.
  prompt.once('SIGINT', interrupt)
  if (signal?.aborted) interrupt()
  signal?.addEventListener('abort', interrupt, { once: true })
  const answers: string[] = []
  try {
    for (const { text, isAsked, byDefault, check } of questions) {
      let isValid = isAsked?.(answers) === false
      if (isValid) answers.push('')
      while (!isValid) {
        const initial = byDefault?.(answers) ?? ''
        const shown = initial === '' ? `${text} ` : `${text} (${initial}) `
        prompt.setPrompt(shown)
        // After the last line, the prompt is closed, although its lines are still to be read.
        if (isOpen) prompt.prompt()
        else output.write(shown)
        const line = await lines.next()
        if (line.done) {
          output.write('\n')
          if (isInterrupted) throw new InterruptedError()
          return undefined
        }
        const answer = line.value.trim() || initial
        const problem = check?.(answer, answers)
        isValid = problem === undefined
        if (isValid) answers.push(answer)
        else output.write(`  ${problem}\n`)
      }
    }
    return answers
  } finally {
    signal?.removeEventListener('abort', interrupt)
    prompt.close()
  }
}
