import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { setImmediate as nextTick } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished } from 'vitest'
import { run } from '../../cli/cli.ts'
import type { Clock, Environment, Io } from '../../cli/context.ts'
import { FakeHost } from './fake-host.ts'

/** How a command ended. */
export type Ended = { code: number | null; stdout: string; stderr: string }

/** A command that is running in this process. */
export type Running = { stdout: PassThrough; stderr: PassThrough; interrupt: () => void; ended: Promise<Ended> }

/** Processes start the same code again and again: with a compile cache, in half the time. */
export const compileCache = join(tmpdir(), 'calling-card-compile-cache')

/** An owner's folder, deleted after the test. */
export class Workspace {
  readonly folder = mkdtempSync(join(tmpdir(), 'sync-card-'))

  constructor(files: Record<string, unknown> = {}) {
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }))
    this.write(files)
  }

  /** Writes files; what is neither a string nor bytes is written as JSON. */
  write(files: Record<string, unknown>): void {
    for (const [name, content] of Object.entries(files)) {
      const file = join(this.folder, name)
      mkdirSync(dirname(file), { recursive: true })
      const isRaw = typeof content === 'string' || content instanceof Uint8Array
      writeFileSync(file, isRaw ? content : JSON.stringify(content, null, 2))
    }
  }

  /**
   * Runs sync-card in this process until it ends, with only these environment variables. `answer` is what a person on a
   * terminal types; without one, nobody can answer.
   */
  run(args: readonly string[], env: Environment = {}, answer?: string): Promise<Ended> {
    return this.start(args, env, answer).ended
  }

  /** Starts sync-card in this process. */
  start(args: readonly string[], env: Environment = {}, answer?: string): Running {
    let interrupt = () => {}
    const { io, stdout, stderr, output } = this.io(env)
    const onInterrupt = (stop: () => void) => {
      interrupt = stop
    }
    const stdin = answer === undefined ? io.stdin : Object.assign(Readable.from([answer]), { isTTY: true })
    const ended = run(args, { ...io, stdin, onInterrupt }).then(code => ({ code, ...output() }))
    return { stdout, stderr, interrupt: () => interrupt(), ended }
  }

  /** Returns surroundings for a program in this process, and what it has written so far. */
  io(env: Environment = {}): { io: Io; stdout: PassThrough; stderr: PassThrough; output: () => Omit<Ended, 'code'> } {
    const stdout = new PassThrough()
    const stderr = new PassThrough()
    const texts = { stdout: collect(stdout), stderr: collect(stderr) }
    const io = { cwd: this.folder, env, stdin: Readable.from([]), stdout, stderr, clock: createClock() }
    return { io, stdout, stderr, output: () => ({ stdout: texts.stdout(), stderr: texts.stderr() }) }
  }

  /** Starts a script of cli/ in a process of its own, with only these environment variables. */
  spawn(script: string, args: readonly string[], env: Environment = {}): ChildProcessWithoutNullStreams {
    const child = spawn(process.execPath, [resolve('cli', script), ...args], {
      cwd: this.folder,
      // The Worker's variables are declared as if every process had them.
      env: { NO_COLOR: '1', NODE_COMPILE_CACHE: compileCache, ...env } as unknown as NodeJS.ProcessEnv,
    })
    child.stdin.end()
    onTestFinished(() => void child.kill('SIGKILL'))
    return child
  }
}

/** Creates a clock that passes the time at once. */
const createClock = (): Clock => {
  let now = Date.now()
  return {
    now: () => now,
    sleep: async ms => {
      now += ms
      await nextTick()
    },
  }
}

/** Waits until a process ends. */
export const waitForEnd = async (child: ChildProcessWithoutNullStreams): Promise<Ended> => {
  const texts = { stdout: collect(child.stdout), stderr: collect(child.stderr) }
  const code = await new Promise<number | null>(done => child.once('close', done))
  return { code, stdout: texts.stdout(), stderr: texts.stderr() }
}

const collect = (stream: Readable): (() => string) => {
  let text = ''
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return () => text
}

/** Waits until a stream has had a text in it. */
export const waitForText = (stream: NodeJS.ReadableStream, text: string): Promise<void> =>
  new Promise(done => {
    let written = ''
    const listen = (chunk: Buffer | string) => {
      written += chunk
      if (!written.includes(text)) return
      stream.off('data', listen)
      done()
    }
    stream.on('data', listen)
  })

/** Returns a valid card in GopherHole's dialect. */
export const card = (name: string, more: object = {}): object => ({
  name,
  description: `Answers questions about ${name}`,
  url: `https://${name}.example.com`,
  skills: [
    { id: 'ask', name: 'Ask', description: `Answers questions about ${name}`, tags: [name], examples: ['Why?'] },
  ],
  ...more,
})

/** The outcome of a command: how it ended, and what the host got and has then. */
export type Outcome = Ended & { writes: string[]; ids: string[] }

/** What differs from a run with the token of the host, where nobody can answer. */
type RunOptions = { env?: Environment; answer?: string }

/**
 * Starts a host for a file, as new and prepared for each test, and names it with the variables of a command. `renew` makes it so
 * again, for the next row of a table. `run` runs a command in a folder, or in a new one with these files.
 */
export const useFakeHost = (prepare: (host: FakeHost) => void = () => {}) => {
  const host = new FakeHost()
  const env = { SYNC_CARD_URL: '', SYNC_CARD_TOKEN: '' }
  const renew = (): void => {
    host.reset()
    Object.assign(env, { SYNC_CARD_URL: host.url, SYNC_CARD_TOKEN: host.token })
    prepare(host)
  }
  beforeAll(() => host.listen().then(() => undefined))
  beforeEach(renew)
  afterAll(() => host.close())
  const run = async (
    folder: Workspace | Record<string, unknown>,
    args: string | readonly string[],
    options: RunOptions = {},
  ): Promise<Outcome> => {
    const workspace = folder instanceof Workspace ? folder : new Workspace(folder)
    const words = typeof args === 'string' ? args.split(' ').filter(Boolean) : args
    const ended = await workspace.run(words, options.env ?? env, options.answer)
    return { ...ended, writes: host.writes, ids: [...host.agents.keys()] }
  }
  return { host, env, renew, run }
}

/** Matches a text that has this part. */
export const containing = (part: string): unknown => expect.stringContaining(part)

/** Matches a text that has a part which matches. */
export const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern)

/** Reads a file of an owner's folder; undefined if there is none. */
export const readFrom = ({ folder }: Workspace, name: string): string | undefined =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : undefined
