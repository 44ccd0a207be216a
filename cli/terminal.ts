import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline/promises'
import { styleText } from 'node:util'
import { InterruptedError } from './errors.ts'

type Input = NodeJS.ReadableStream & { isTTY?: boolean }

/** A stream that is written, such as `process.stdout`. */
export type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number }

/**
 * One line for people, or several. Its texts may be of anybody: what would command a terminal, `colors` aside, is
 * escaped as in JSON, and so are line breaks in a line, so that no text makes a line of its own.
 */
export type Lines = string | readonly string[]

/** All output and all questions of a command. No text has the last line break. */
export type Terminal = ReturnType<typeof createTerminal>

/** A progress bar. `stop` removes it, however far it is. */
type Progress = { tick: () => void; stop: () => void }

/** Asks until the answer is valid, and returns it. An empty one means `initial`; `check` returns what is wrong. */
export type Ask = (
  question: string,
  options?: { initial?: string; check?: (answer: string) => string | undefined },
) => Promise<string>

/** The streams of a terminal, and the variables that decide about colors. */
export type TerminalStreams = {
  stdin: Input
  stdout: Output
  stderr: Output
  env: Readonly<Record<string, string | undefined>>
}

/** Marks the codes of colors until they are written. Only this process knows it, so other texts have no colors. */
const MARK = randomUUID()

const MARKED_CODE = new RegExp(`${MARK}(\\[\\d+m)`, 'g')

const createColor = (format: Parameters<typeof styleText>[0]): ((text: string) => string) => {
  const codes = styleText(format, ' ', { validateStream: false }).replaceAll('\u001b', MARK)
  const [start = '', end = ''] = codes.split(' ')
  return text => start + text + end
}

/** Colors for texts. The terminal removes them where a stream shows none. */
export const colors = {
  bold: createColor('bold'),
  dim: createColor('dim'),
  red: createColor('red'),
  green: createColor('green'),
  yellow: createColor('yellow'),
  cyan: createColor('cyan'),
}

/** The fewest steps that are worth a progress bar, and its full width in characters. */
const MIN_PROGRESS_STEPS = 5
const PROGRESS_WIDTH = 30

/** Creates the terminal of a program; `program` is the name before its error messages. */
export const createTerminal = ({ stdin, stdout, stderr, env }: TerminalStreams, program: string) => {
  const statusLine = createStatusLine(stderr)
  const write = (stream: Output, lines: Lines): void => {
    const text = [lines].flat().map(line => `${line}\n`)
    if (text.length > 0) statusLine.writeAbove(() => void stream.write(text.join('')))
  }
  const printer = (stream: Output) => {
    const toLine = isColorEnabled(stream, env) ? (line: string) => render(line, '\u001b$1') : plain
    return (lines: Lines) => write(stream, [lines].flat().map(toLine))
  }
  const [report, info] = [printer(stdout), printer(stderr)]
  const prefix = colors.red(`${program}:`)
  return {
    /** A person can answer questions. */
    canAsk: stdin.isTTY === true,
    /** A person reads stdout, and not a program. */
    isTerminal: stdout.isTTY === true,
    /** Writes data for a program to stdout, in which what would command a terminal is escaped as in JSON. */
    out: (text: string): void => write(stdout, escapeControls(text)),
    /** Writes a line of a file to stdout, byte for byte unless a person reads it. */
    raw: (line: string): void => write(stdout, stdout.isTTY ? escapeControls(line) : line),
    /** Writes a result for people to stdout. */
    report,
    /** Writes a table to stdout: aligned and with its head for people; with tabs and without it for programs. */
    table: (head: readonly string[], rows: readonly (readonly string[])[]): void => {
      const lines = rows.map(row => row.map(plain).join('\t'))
      if (stdout.isTTY) report(formatTable([head.map(colors.dim), ...rows]))
      else write(stdout, lines)
    },
    /** Writes progress and hints to stderr. */
    info,
    /** Writes why the command failed to stderr, after the program's name. */
    error: (message: Lines): void =>
      info([message].flat().map((line, index) => (index === 0 ? `${prefix} ${line}` : line))),
    /** Asks a yes-or-no question on stderr. Leaving the prompt means no; an abort throws an InterruptedError. */
    confirm: async (question: string, signal?: AbortSignal): Promise<boolean> => {
      const answer = await prompt(ask => ask(`${question} (y/N)`), { input: stdin, output: stderr }, signal)
      return /^y(?:es)?$/i.test(answer ?? '')
    },
    /** Has `talk` ask questions on stderr. Leaving the prompt returns undefined; Ctrl-C throws an InterruptedError. */
    prompt: <Result>(talk: (ask: Ask) => Promise<Result>) => prompt(talk, { input: stdin, output: stderr }),
    /** Shows a progress bar on an interactive stderr if `total` is worth one. Other output appears above it. */
    progress: (title: string, total: number): Progress =>
      total < MIN_PROGRESS_STEPS || !stderr.isTTY || env.TERM === 'dumb'
        ? NO_PROGRESS
        : showProgress(statusLine.show, title, total),
  }
}

const NO_PROGRESS: Progress = { tick: () => {}, stop: () => {} }

/** Returns the terminal without its reports: with `--json`, stdout carries one object and nothing else. */
export const withoutReports = (terminal: Terminal): Terminal => ({ ...terminal, report: () => {}, table: () => {} })

/** Returns the terminal without progress and hints, for `--quiet`. */
export const withoutProgress = (terminal: Terminal): Terminal => ({
  ...terminal,
  info: () => {},
  progress: () => NO_PROGRESS,
})

/** Formats a count with its noun in the singular or plural. */
export const formatCount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** A wider cell is not aligned: it must not make every row of a table as long. */
const MAX_COLUMN_WIDTH = 200

/** Aligns rows in columns, two spaces apart, and returns a line for each. */
export const formatTable = (rows: readonly (readonly string[])[]): string[] => {
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, column) => Math.max(widest[column] ?? 0, widthOf(cell))),
    [],
  )
  const pad = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell))
  return rows.map(row =>
    row
      .slice(0, row.findLastIndex(cell => widthOf(cell) > 0) + 1)
      .map(pad)
      .join('  ')
      .trimEnd(),
  )
}

/** Matches what commands a terminal: control characters, line separators, and what changes the direction of text. */
const COMMANDS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

const escapeCommand = (character: string): string =>
  character < ' '
    ? JSON.stringify(character).slice(1, -1)
    : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Escapes, as JSON does, what a terminal obeys, except for line breaks and tabs. */
export const escapeControls = (text: string): string =>
  text.replace(COMMANDS, found => (found === '\n' || found === '\t' ? found : escapeCommand(found)))

const render = (line: string, code: string): string => line.replace(COMMANDS, escapeCommand).replace(MARKED_CODE, code)

/** Returns a line as it is written to a stream that shows no colors. */
export const plain = (line: string): string => render(line, '')

/** Made when it is first needed: that takes longer than all else here. */
let graphemes: Intl.Segmenter | undefined

/** Graphemes that are two columns wide: emoji, and characters that Unicode calls East Asian wide or fullwidth. */
const WIDE_RANGES = [
  String.raw`\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f`,
  String.raw`\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}`,
]
const WIDE = new RegExp(String.raw`^(?:\p{Emoji_Presentation}|\p{RI}|.\ufe0f|[${WIDE_RANGES.join('')}])`, 'u')

const widthOf = (line: string): number => {
  const text = plain(line)
  if (text.length >= MAX_COLUMN_WIDTH) return MAX_COLUMN_WIDTH
  if (/^[ -~]*$/.test(text)) return text.length
  graphemes ??= new Intl.Segmenter()
  const visible = [...graphemes.segment(text)].filter(({ segment }) => !/^[\p{M}\p{Cf}]+$/u.test(segment))
  return visible.reduce((width, { segment }) => width + (WIDE.test(segment) ? 2 : 1), 0)
}

/** Follows https://no-color.org and `FORCE_COLOR`. CI logs show colors although they are no terminal. */
const isColorEnabled = ({ isTTY }: Output, env: TerminalStreams['env']): boolean => {
  if (env.NO_COLOR) return false
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0'
  return (isTTY === true && env.TERM !== 'dumb') || Boolean(env.CI)
}

const showProgress = (show: (text: string) => void, title: string, total: number): Progress => {
  let done = -1
  const tick = (): void => {
    done++
    const filled = Math.floor((PROGRESS_WIDTH * done) / total)
    show(`${title} ${'█'.repeat(filled)}${'░'.repeat(PROGRESS_WIDTH - filled)} ${done}/${total}`)
  }
  tick()
  return { tick, stop: () => show('') }
}

const ERASE_LINE = '\r\u001b[K'

/** Creates the last line of a terminal, which is redrawn in place and stays below all other output. */
const createStatusLine = (stream: Output) => {
  let shown = ''
  // A line that wraps could not be erased. A terminal without a size reports 0 columns.
  const draw = () => stream.write(ERASE_LINE + shown.slice(0, (stream.columns || 80) - 1))
  return {
    /** Replaces the line. An empty text removes it. */
    show: (text: string): void => {
      if (text === '' && shown === '') return
      shown = text
      draw()
    },
    /** Erases the line while other text is written. */
    writeAbove: (write: () => void): void => {
      if (shown !== '') stream.write(ERASE_LINE)
      write()
      if (shown !== '') draw()
    },
  }
}

class LeftError extends Error {}

const prompt = async <Result>(
  talk: (ask: Ask) => Promise<Result>,
  { input, output }: { input: Input; output: Output },
  signal?: AbortSignal,
): Promise<Result | undefined> => {
  const interruption = new AbortController()
  const ended = AbortSignal.any([interruption.signal, ...(signal ? [signal] : [])])
  const reader = createInterface({ input, output, signal: ended })
  // Lines may arrive faster than questions are asked, for example when they are pasted.
  const lines = reader[Symbol.asyncIterator]()
  let isOpen = true
  reader.once('close', () => {
    isOpen = false
  })
  // In a terminal, Ctrl-C reaches the prompt instead of the process.
  reader.once('SIGINT', () => interruption.abort())
  const ask: Ask = async (question, { initial = '', check } = {}) => {
    const shown = plain(initial === '' ? `${question} ` : `${question} (${initial}) `)
    for (;;) {
      reader.setPrompt(shown)
      // After the last line, the prompt is closed, although its lines are still to be read.
      if (isOpen) reader.prompt()
      else output.write(shown)
      const line = await lines.next()
      if (line.done) {
        output.write('\n')
        throw ended.aborted ? new InterruptedError() : new LeftError()
      }
      const answer = line.value.trim() || initial
      const problem = check?.(answer)
      if (problem === undefined) return answer
      output.write(`  ${plain(problem)}\n`)
    }
  }
  try {
    return await talk(ask)
  } catch (error) {
    if (error instanceof LeftError) return undefined
    throw error
  } finally {
    reader.close()
  }
}
