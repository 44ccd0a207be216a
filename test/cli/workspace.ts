import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'

/** How a command ended. */
export type Ended = { code: number | null; stdout: string; stderr: string }

/** The same code starts hundreds of times: once made ready, it starts in half the time. */
const compileCache = join(tmpdir(), 'calling-card-compile-cache')

/** A folder of an owner, gone after the test. */
export class Workspace {
  readonly folder = mkdtempSync(join(tmpdir(), 'sync-card-'))

  constructor(files: Record<string, unknown> = {}) {
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }))
    this.write(files)
  }

  /** Writes files; what is not a string is written as JSON. */
  write(files: Record<string, unknown>): void {
    for (const [name, content] of Object.entries(files)) {
      const file = join(this.folder, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
    }
  }

  /** Starts a script of cli/ in the folder, with only these environment variables. */
  start(script: string, args: readonly string[], env: Record<string, string> = {}): ChildProcessWithoutNullStreams {
    const child = spawn(process.execPath, [resolve('cli', script), ...args], {
      cwd: this.folder,
      // The Worker's own variables are declared as if every process had them.
      env: { NO_COLOR: '1', NODE_COMPILE_CACHE: compileCache, ...env } as unknown as NodeJS.ProcessEnv,
    })
    child.stdin.end()
    onTestFinished(() => void child.kill('SIGKILL'))
    return child
  }

  /** Runs sync-card to its end. */
  run(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
    return ended(this.start('sync-card.ts', args, env))
  }
}

/** Waits for a command's end. */
export const ended = async (child: ChildProcessWithoutNullStreams): Promise<Ended> => {
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  const code = await new Promise<number | null>(done => child.once('close', done))
  return { code, ...output }
}

/** Waits until a stream has said something. */
export const said = (stream: NodeJS.ReadableStream, text: string): Promise<void> =>
  new Promise(done => {
    let heard = ''
    const listen = (chunk: Buffer | string) => {
      heard += chunk
      if (!heard.includes(text)) return
      stream.off('data', listen)
      done()
    }
    stream.on('data', listen)
  })

/** A card of GopherHole's kind that is sound. */
export const card = (name: string, more: object = {}): object => ({
  name,
  description: `Answers questions about ${name}`,
  url: `https://${name}.example.com`,
  skills: [
    { id: 'ask', name: 'Ask', description: `Answers questions about ${name}`, tags: [name], examples: ['Why?'] },
  ],
  ...more,
})
