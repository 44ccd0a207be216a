import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { readEnvText } from '../context.ts'
import { isSystemError } from '../errors.ts'

/** Returns the file in its clone in which `npm start` keeps the token of the host on a port, as long as that runs. */
export const startedFile = (port: string): string => join('.wrangler', `start-${port}.json`)

const pid = v.pipe(v.number(), v.safeInteger(), v.minValue(1))
const members = v.object({ pid, began: v.string(), url: v.string(), token: v.optional(v.string()) })
const Started = v.pipe(v.string(), v.parseJson(), members)
/** A host of `npm start`, and the process that ends with it, whose id may later be that of another process. */
type Started = v.InferOutput<typeof Started>

/** Reads which host a file is about. Returns undefined if that no longer runs: a killed one may leave files behind. */
export const readStarted = (file: string): Started | undefined => {
  const parsed = v.safeParse(Started, readEnvText(file))
  return parsed.success && parsed.output.began === whenBegan(parsed.output.pid) ? parsed.output : undefined
}

/** Writes which host a file is about, for this user only. Returns the host that it is already about, if that runs. */
export const claimFile = (file: string, host: Omit<Started, 'began'>): Started | undefined => {
  mkdirSync(dirname(file), { recursive: true })
  for (;;) {
    try {
      writeFileSync(file, JSON.stringify({ ...host, began: whenBegan(host.pid) }), { flag: 'wx', mode: 0o600 })
      return undefined
    } catch (error) {
      if (!isSystemError(error) || error.code !== 'EEXIST') throw error
    }
    const running = readStarted(file)
    if (running) return running
    rmSync(file, { force: true })
  }
}

/** Returns when a process began, in the words of its system; undefined if there is no such process. */
const whenBegan = (pid: number): string | undefined => {
  try {
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
        encoding: 'utf8',
        env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
      })
    // The fields after the name of the process, which is in parentheses: the third, its state, to the 22nd, its start.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {
    return undefined
  }
}
