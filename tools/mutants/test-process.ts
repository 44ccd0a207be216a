import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { Job, JobMessage } from './runner.ts'

/** How long a process may take to start, on a busy machine. */
const START_MS = 30_000
const TICK_MS = 1000

/** How a job is watched. */
type JobOptions = {
  /** How long a file may take. */
  limitMs: (file: string) => number
  onPassed?: (file: string, reached: number[], milliseconds: number) => void
}

/** The file that ends a job. */
export type Failure = { file: string; error: string }

/** Runs jobs in a process of its own, which a test that never ends cannot stop. */
export class TestProcess {
  readonly #env: NodeJS.ProcessEnv
  #child: ChildProcess | undefined

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env
  }

  /** Runs test files until one fails, or takes too long. */
  async run(job: Job, { limitMs, onPassed }: JobOptions): Promise<Failure | undefined> {
    this.#child ??= await start(this.#env)
    const child = this.#child
    const left = new Set(job.files)
    const current = () => [...left][0] ?? job.files.at(-1) ?? ''
    return new Promise(resolve => {
      let failure: Failure | undefined
      let since = performance.now()
      let remainingMs = START_MS + limitMs(current())
      const stop = (error: string) => {
        clearInterval(timer)
        this.stop()
        resolve(failure ?? { file: current(), error })
      }
      // Counts, so that the time for which all processes are suspended does not matter.
      const timer = setInterval(() => {
        remainingMs -= TICK_MS
        if (remainingMs < 0) stop('timed out')
      }, TICK_MS)
      child.once('exit', () => stop('ended the process'))
      child.on('message', ({ file, failed, error, reached }: JobMessage) => {
        if (failed) failure ??= { file: file ?? current(), error }
        if (file === undefined) {
          clearInterval(timer)
          child.removeAllListeners()
          resolve(failure)
          return
        }
        if (!failed) onPassed?.(file, reached, performance.now() - since)
        left.delete(file)
        since = performance.now()
        remainingMs = limitMs(current())
      })
      child.send(job)
    })
  }

  /** Ends the process with those that it has started, such as workerd. */
  stop(): void {
    const pid = this.#child?.removeAllListeners().pid
    this.#child = undefined
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  }
}

const start = async (env: NodeJS.ProcessEnv): Promise<ChildProcess> => {
  const child = fork(join(import.meta.dirname, 'runner.ts'), {
    env,
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  await new Promise((ready, failed) => child.once('message', ready).once('exit', failed))
  return child.removeAllListeners()
}
