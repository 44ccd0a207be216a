import { SingleBar } from 'cli-progress'

/** How the command speaks. What it found goes to stdout, unless that is for a program; how it is going goes to stderr. */
export type Voice = {
  say: (line: string) => void
  note: (line: string) => void
  progress: (title: string, total: number) => { tick: () => void; stop: () => void }
}

/** From how many files on a bar is worth its line. */
const many = 5

/** Speaks to a person on a terminal or in a log; with `json`, stdout is left for the program's one object. */
export const voice = (json: boolean): Voice => ({
  say: line => {
    if (!json) process.stdout.write(`${line}\n`)
  },
  note: line => {
    process.stderr.write(`${line}\n`)
  },
  progress: (title, total) => {
    if (total < many || !process.stderr.isTTY) return { tick: () => {}, stop: () => {} }
    const format = `${title} {bar} {value}/{total}`
    const bar = new SingleBar({ format, stream: process.stderr, clearOnComplete: true, hideCursor: true })
    bar.start(total, 0)
    return { tick: () => bar.increment(), stop: () => bar.stop() }
  },
})
