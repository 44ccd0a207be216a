import { parseUrl } from '../../src/net/urls.ts'
import type { Environment } from '../context.ts'
import { UsageError } from '../exit-codes.ts'

/** Returns where `npm start` listens. */
export const localUrl = (env: Environment): string => `http://127.0.0.1:${env.PORT ?? '8787'}`

/** Returns a warning if the token would travel unencrypted to another machine. */
export const warnUnencrypted = (url: string): string | undefined =>
  isUnencrypted(url) ? `The token goes to ${url} unencrypted: use https.` : undefined

/** Whether what is sent to a URL travels unencrypted to another machine. */
export const isUnencrypted = (url: string): boolean => url.startsWith('http:') && !isLoopback(url)

/** Returns the URL of a host without its trailing slash; undefined for one with a password, a query or a fragment. */
export const readHostUrl = (text: string): string | undefined => {
  const url = parseUrl(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    return undefined
  return url.href.replace(/(?<!\/)\/+$/, '')
}

/** Does the same, but throws a UsageError; `source` is where the URL is written. */
export const parseHostUrl = (text: string, source?: string): string => {
  const url = readHostUrl(text)
  if (url !== undefined) return url
  const place = source === undefined ? '' : `${source}: `
  const shown = text.replace(/\/\/[^/@]*@/, '//…@')
  throw new UsageError(`${place}"${shown}" is not the URL of a host. Use one such as https://cards.example.com`)
}

/** Whether a URL is of this machine. */
export const isLoopback = (url: string): boolean =>
  /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)
