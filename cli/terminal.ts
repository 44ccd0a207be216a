import { createInterface } from 'node:readline/promises'
import { stripVTControlCharacters } from 'node:util'
import { SingleBar } from 'cli-progress'
import picocolors from 'picocolors'

/** A stream that is read, such as `process.stdin`. */
export type Input = NodeJS.ReadableStream & { isTTY?: boolean }

/** A stream that is written, such as `process.stdout`. */
export type Output = NodeJS.WritableStream & { isTTY?: boolean }

/** All output and all questions of a command. Every text is one or more lines without the last line break. */
export type Terminal = {
  /** Whether a person can answer questions. */
  canAsk: boolean
  /** Writes data for a program to stdout, byte for byte. */
  out: (text: string) => void
  /** Writes a result for people to stdout. */
  report: (text: string) => void
  /** Writes progress and hints to stderr. */
  info: (text: string) => void
  /** Writes why the command failed to stderr, after the program's name. */
  error: (message: string) => void
  /** Asks a yes-or-no question on stderr, so that stdout stays clean. Leaving the prompt means no. */
  confirm: (question: string) => Promise<boolean>
  /** Asks questions on stderr, each until its answer is valid. Leaving the prompt returns undefined. */
  ask: (questions: readonly Question[]) => Promise<string[] | undefined>
  /** Shows a progress bar on an interactive stderr if `total` is worth one. */
  progress: (title: string, total: number) => { tick: () => void; stop: () => void }
}

/**
 * A question. `byDefault` returns what an empty answer means, or '' if there is no default; `check` returns why an answer is not
 * valid. Both know the answers before.
 */
export type Question = {
  text: string
  byDefault: (answers: readonly string[]) => string
  check: (answer: string, answers: readonly string[]) => string | undefined
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

/** Creates the terminal of a program; `program` is the name before its error messages. */
export const createTerminal = ({ stdin, stdout, stderr, env }: TerminalStreams, program: string): Terminal => {
  const printer = (stream: Output) => {
    const hasColors = isColorEnabled(stream, env)
    return (text: string) => void stream.write(`${hasColors ? text : stripVTControlCharacters(text)}\n`)
  }
  const info = printer(stderr)
  return {
    canAsk: stdin.isTTY === true,
    out: text => void stdout.write(`${text}\n`),
    report: printer(stdout),
    info,
    error: message => info(`${colors.red(`${program}:`)} ${message}`),
    confirm: question => confirm(question, stdin, stderr),
    ask: questions => ask(questions, stdin, stderr),
    progress: (title, total) => {
      if (total < MIN_PROGRESS_STEPS || !stderr.isTTY) return { tick: () => {}, stop: () => {} }
      const format = `${title} {bar} {value}/{total}`
      const bar = new SingleBar({ format, stream: stderr, clearOnComplete: true, hideCursor: true })
      bar.start(total, 0)
      return { tick: () => bar.increment(), stop: () => bar.stop() }
    },
  }
}

/** Returns the terminal without its reports: with `--json`, stdout carries one object and nothing else. */
export const withoutReports = (terminal: Terminal): Terminal => ({ ...terminal, report: () => {} })

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

/** Removes control characters, so that a text from a host cannot command the terminal. */
export const withoutControls = (text: string): string => text.replace(/\p{Cc}/gu, '')

const widthOf = (text: string): number => stripVTControlCharacters(text).length

/** Follows https://no-color.org and `FORCE_COLOR`. CI logs show colours although they are no terminal. */
const isColorEnabled = ({ isTTY }: Output, env: TerminalStreams['env']): boolean => {
  if (env.NO_COLOR) return false
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0'
  return (isTTY === true && env.TERM !== 'dumb') || Boolean(env.CI)
}

const confirm = async (question: string, input: Input, output: Output): Promise<boolean> => {
  const prompt = createInterface({ input, output })
  const closed = new Promise<string>(resolve => prompt.once('close', () => resolve('')))
  const answer = await Promise.race([prompt.question(`${question} (y/N) `), closed])
  prompt.close()
  return /^y(?:es)?$/i.test(answer.trim())
}

const ask = async (questions: readonly Question[], input: Input, output: Output): Promise<string[] | undefined> => {
  const prompt = createInterface({ input, output })
  // Lines may arrive faster than questions are asked, for example when they are pasted.
  const lines = prompt[Symbol.asyncIterator]()
  let isOpen = true
  prompt.once('close', () => {
    isOpen = false
  })
  const answers: string[] = []
  try {
    for (const { text, byDefault, check } of questions)
      for (let isValid = false; !isValid; ) {
        const initial = byDefault(answers)
        const shown = initial === '' ? `${text} ` : `${text} (${initial}) `
        prompt.setPrompt(shown)
        // After the last line, the prompt is closed, although its lines are still to be read.
        if (isOpen) prompt.prompt()
        else output.write(shown)
        const line = await lines.next()
        if (line.done) {
          output.write('\n')
          return undefined
        }
        const answer = line.value.trim() || initial
        const problem = check(answer, answers)
        isValid = problem === undefined
        if (isValid) answers.push(answer)
        else output.write(`  ${problem}\n`)
      }
    return answers
  } finally {
    prompt.close()
  }
}
