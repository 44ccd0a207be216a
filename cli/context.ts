import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseEnv } from 'node:util'
import { isSystemError, UsageError } from './errors.ts'
import { createTerminal, type Terminal, type TerminalStreams } from './terminal.ts'

/** Environment variables by name. */
export type Environment = Record<string, string | undefined>

/** The surroundings of a program: its process, or what a test passes instead. */
export type Io = TerminalStreams & {
  cwd: string
  env: Environment
  fetch?: typeof globalThis.fetch
  clock?: Clock
  /** Calls `stop` when the user interrupts the program, once. Only commands that end in order call this. */
  onInterrupt?: (stop: () => void) => void
}

/** The surroundings as commands use them. Relative paths start from `cwd`. */
export type Context = Required<Pick<Io, 'cwd' | 'fetch' | 'clock' | 'onInterrupt'>> & {
  terminal: Terminal
  /** The folder of `sync-card.yaml`, `.env` and `.env.NAME`. */
  configFolder: string
  /** The variables of `.env`, read when needed, overridden by those of the process. Empty ones count as not set. */
  env: Environment
  /** The variables of the process alone. */
  processEnv: Environment
}

/** Returns the surroundings of this process. */
export const processIo = (): Io => ({
  cwd: process.cwd(),
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  onInterrupt: stop => {
    // The second signal ends the process, as without a listener.
    const interrupt = (): void => {
      process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
      stop()
    }
    process.on('SIGINT', interrupt).on('SIGTERM', interrupt)
  },
})

/** Creates the context of a program. `program` is the name before its error messages. */
export const createContext = (io: Io, program: string): Context => {
  // The nearest folder with hosts. Outside of a repository, no other folder counts: anybody may have written to it.
  const configFolder = foldersOfRepository(io.cwd).find(folder => existsSync(join(folder, PROFILES_FILE))) ?? io.cwd
  const processEnv = withoutEmpty(io.env)
  let env: Environment | undefined
  return {
    cwd: io.cwd,
    configFolder,
    get env() {
      env ??= { ...readEnvFile(configFolder, '.env'), ...processEnv }
      return env
    },
    processEnv,
    terminal: createTerminal(io, program),
    fetch: io.fetch ?? globalThis.fetch,
    clock: io.clock ?? systemClock,
    onInterrupt: io.onInterrupt ?? (() => {}),
  }
}

/** The file with the hosts that commands can name. */
export const PROFILES_FILE = 'sync-card.yaml'

/** Returns a folder and those above it, up to the root of its Git repository. Returns none outside of a repository. */
export const foldersOfRepository = (folder: string): string[] => {
  if (existsSync(join(folder, '.git'))) return [folder]
  const parent = dirname(folder)
  const above = parent === folder ? [] : foldersOfRepository(parent)
  return above.length === 0 ? [] : [folder, ...above]
}

/** Returns the variables of a file such as `.env`; none if there is no such file. Empty ones count as not set. */
export const readEnvFile = (folder: string, name: string): Environment =>
  withoutEmpty(parseEnv(readEnvText(join(folder, name))))

/** Every card and its prompt are smaller, and Node.js can read as much at once. */
export const MAX_FILE_BYTES = 16 * 2 ** 20

/** Returns the text of a file such as `.env`; empty if there is no such file. */
export const readEnvText = (file: string): string => {
  try {
    const stats = statSync(file, { throwIfNoEntry: false })
    if (stats?.isFIFO())
      throw new UsageError(`${basename(file)} is a FIFO, which is not read: write its variables into a file.`)
    // Python keeps virtual environments in folders of this name.
    if (!stats?.isFile()) return ''
    if (stats.size > MAX_FILE_BYTES)
      throw new UsageError(`${basename(file)} cannot be read: it is larger than ${MAX_FILE_BYTES / 2 ** 20} MiB.`)
    const bytes = readFileSync(file)
    // PowerShell writes byte order marks, which the decoder leaves out.
    const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe
    return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes)
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new UsageError(`${basename(file)} cannot be read: ${error.message}. Make it readable, or move it away.`)
  }
}

const withoutEmpty = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))

/** The time as commands see it. Tests pass their own, so that no test waits. */
export type Clock = {
  /** Milliseconds since 1970. */
  now: () => number
  /** Waits. Returns early if the signal is aborted. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** The real time. */
export const systemClock: Clock = {
  now: Date.now,
  // Rejects only after an abort.
  sleep: (ms, signal) => delay(ms, undefined, signal && { signal }).catch(() => {}),
}

/** Returns a signal that is aborted when the user interrupts the command. */
export const interruptSignal = ({ onInterrupt }: Context): AbortSignal => {
  const interruption = new AbortController()
  onInterrupt(() => interruption.abort())
  return interruption.signal
}

/** Calls `check` until it returns true, after pauses that double up to `maxPauseMs`. Returns false after a timeout. */
export const poll = async (
  check: () => Promise<boolean>,
  options: { clock: Clock; timeoutMs: number; pauseMs: number; maxPauseMs?: number; signal?: AbortSignal | undefined },
): Promise<boolean> => {
  const { clock, timeoutMs, pauseMs, maxPauseMs = pauseMs, signal } = options
  const deadline = clock.now() + timeoutMs
  for (let pause = pauseMs; ; pause = Math.min(pause * 2, maxPauseMs)) {
    if (await check()) return true
    if (clock.now() + pause > deadline || signal?.aborted) return false
    await clock.sleep(pause, signal)
  }
}
