import { dirname, join } from 'node:path'
import { cardsFolder } from '../files/card-files.ts'
import { defaultsNames } from '../files/defaults-file.ts'

/** Runs `work` once, and again whenever the files change, one run at a time, until the signal. Nothing between is lost. */
export const watchCards = async (
  named: readonly string[],
  work: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  const { watch } = await import('chokidar')
  const watcher = watch(watched(named), {
    ignoreInitial: true,
    depth: 0,
    awaitWriteFinish: { stabilityThreshold: 100, pollInterval: 25 },
  })
  const changes = new Changes()
  watcher.on('all', () => changes.announce())
  signal.addEventListener('abort', () => changes.announce(), { once: true })
  await new Promise(resolve => watcher.once('ready', () => resolve(undefined)))
  try {
    while (!signal.aborted) {
      await work()
      await changes.next()
    }
  } finally {
    await watcher.close()
  }
}

/** What was announced while nobody waited is not forgotten. */
class Changes {
  #pending = false
  #wake: (() => void) | undefined

  announce(): void {
    this.#pending = true
    this.#wake?.()
  }

  async next(): Promise<void> {
    if (!this.#pending)
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    this.#pending = false
  }
}

const watched = (named: readonly string[]): string[] => [
  ...(named.length > 0 ? named : [cardsFolder]),
  ...named.flatMap(file => defaultsNames.map(name => join(dirname(file), name))),
]
