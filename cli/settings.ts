import type { Environment } from './environment.ts'
import { UsageError } from './usage-error.ts'

/** Which host the command talks to, and as whom. `url` has no trailing slash. */
export type Settings = { url: string; token: string }

/** The admin token of `npm start` where no other is set. */
export const localToken = 'dev'

/** The address and the token, from flags first and then the environment; the host that `npm start` runs is the default. */
export const readSettings = (flags: { url?: string; token?: string }, environment: Environment): Settings => {
  const url = readUrl(flags.url ?? environment.SYNC_CARD_URL ?? localUrl(environment))
  const token = flags.token ?? environment.SYNC_CARD_TOKEN ?? environment.ADMIN_TOKEN
  if (token !== undefined) {
    if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError('The token holds characters that no token has.')
    return { url, token }
  }
  if (isLoopback(url)) return { url, token: localToken }
  throw new UsageError(`No token for ${url}: set SYNC_CARD_TOKEN or ADMIN_TOKEN in the environment or in .env.`)
}

/** Where `npm start` listens. */
export const localUrl = (environment: Environment): string => `http://127.0.0.1:${environment.PORT ?? '8787'}`

/** Whether an address is on this machine, so that a token does not travel in the clear. */
export const isLoopback = (url: string): boolean =>
  /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)

/** The address of a host, without its trailing slash; it may hold no password. */
export const readUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new UsageError(
      `"${withoutUserinfo(text)}" is not the address of a host: give one like https://cards.example.com`,
    )
  return url.href.replace(/\/+$/, '')
}

const withoutUserinfo = (text: string): string => text.replace(/\/\/[^/@]*@/, '//…@')
