import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { Job, JobMessage } from './runner.ts'

/** Starting may take this long. */
const START_MS = 60_000

/** How a job is watched. */
type JobOptions = {
  /** How long a file may take. */
  limitMs: (file: string) => number
  onFile?: (file: string, reached: number[], milliseconds: number) => void
}

/** Runs jobs in a process of its own, which a test that never ends cannot stop. */
export class TestProcess {
  readonly #env: NodeJS.ProcessEnv
  #child: ChildProcess | undefined

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env
  }

  /** Runs test files until one fails or takes too long; returns it. */
  async run(job: Job, { limitMs, onFile }: JobOptions): Promise<string | undefined> {
    this.#child ??= await start(this.#env)
    const child = this.#child
    const left = new Set(job.files)
    const next = () => [...left][0] ?? ''
    return new Promise(resolve => {
      let failed: string | undefined
      let since = performance.now()
      const stop = () => {
        this.stop()
        resolve(failed ?? next())
      }
      let timer = setTimeout(stop, START_MS + limitMs(next()))
      child.removeAllListeners().once('exit', stop)
      child.on('message', (message: JobMessage) => {
        clearTimeout(timer)
        if ('ended' in message) {
          if (message.failed) failed ??= next()
          child.removeAllListeners()
          return resolve(failed)
        }
        if (message.failed) failed ??= message.file
        if (message.failed) console.error(message.error)
        else onFile?.(message.file, message.reached, performance.now() - since)
        since = performance.now()
        left.delete(message.file)
        timer = setTimeout(stop, limitMs(next()))
      })
      child.send(job)
    })
  }

  get pid() {
    return this.#child?.pid
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
  return child
}
