import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { parseUrl } from '../src/net/urls.ts'
import { type Clock, systemClock } from './clock.ts'
import { UsageError } from './exit-codes.ts'
import { createTerminal, type Terminal, type TerminalStreams } from './terminal.ts'

/** Environment variables by name. */
export type Environment = Record<string, string | undefined>

/** The surroundings of a program: its process, or what a test passes instead. */
export type Io = TerminalStreams & {
  cwd: string
  env: Environment
  fetch?: typeof globalThis.fetch
  clock?: Clock
  /** Calls `stop` when the user interrupts the program. Only commands that stay call this. */
  onInterrupt?: (stop: () => void) => void
}

/** What commands work with. `env` includes the variables of `.env`; `cwd` is what relative paths start from. */
export type Context = Required<Pick<Io, 'cwd' | 'env' | 'fetch' | 'clock' | 'onInterrupt'>> & { terminal: Terminal }

/** Returns the surroundings of this process. */
export const processIo = (): Io => ({
  cwd: process.cwd(),
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  onInterrupt: stop => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
  },
})

/** Creates the context of a program. `program` is the name before its error messages. */
export const createContext = (io: Io, program: string): Context => ({
  cwd: io.cwd,
  env: loadEnv(io.cwd, io.env),
  terminal: createTerminal(io, program),
  fetch: io.fetch ?? globalThis.fetch,
  clock: io.clock ?? systemClock,
  onInterrupt: io.onInterrupt ?? (() => {}),
})

/** Returns the variables of a folder's `.env`, overridden by those of the process. Empty variables count as not set. */
export const loadEnv = (folder: string, processEnv: Environment): Environment => {
  const file = join(folder, '.env')
  const fromFile: Environment = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {}
  return { ...withoutEmpty(fromFile), ...withoutEmpty(processEnv) }
}

const withoutEmpty = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))

/** The host that a command talks to, and its token. `url` has no trailing slash. */
export type HostSettings = { url: string; token: string }

/** The admin token of `npm start` if no other is set. */
export const LOCAL_TOKEN = 'dev'

/** Resolves the host and the token: flags first, then the environment, then the host that `npm start` runs. */
export const resolveHost = (flags: { url?: string; token?: string }, env: Environment): HostSettings => {
  const url = parseHostUrl(flags.url ?? env.SYNC_CARD_URL ?? localUrl(env))
  const token = flags.token ?? env.SYNC_CARD_TOKEN ?? env.ADMIN_TOKEN
  if (token !== undefined) {
    if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError('The token has characters that no token can have.')
    return { url, token }
  }
  if (isLoopback(url)) return { url, token: LOCAL_TOKEN }
  throw new UsageError(`No token for ${url}: set SYNC_CARD_TOKEN or ADMIN_TOKEN in the environment or in .env.`)
}

/** Returns where `npm start` listens. */
export const localUrl = (env: Environment): string => `http://127.0.0.1:${env.PORT ?? '8787'}`

/** Returns a warning if the token would travel unencrypted to another machine. */
export const warnUnencrypted = (url: string): string | undefined =>
  isUnencrypted(url) ? `The token goes to ${url} unencrypted: use https.` : undefined

/** Whether what is sent to a URL travels unencrypted to another machine. */
export const isUnencrypted = (url: string): boolean => url.startsWith('http:') && !isLoopback(url)

/** Parses the URL of a host, without its trailing slash. Rejects one with a password, a query or a fragment. */
export const parseHostUrl = (text: string): string => {
  const url = parseUrl(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new UsageError(
      `"${withoutUserinfo(text)}" is not the URL of a host. Use one such as https://cards.example.com`,
    )
  return url.href.replace(/(?<!\/)\/+$/, '')
}

const isLoopback = (url: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)

const withoutUserinfo = (text: string): string => text.replace(/\/\/[^/@]*@/, '//…@')
