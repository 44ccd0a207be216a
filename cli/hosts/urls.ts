import { parseUrl } from '../../src/http/shared.ts'
import type { Environment } from '../context.ts'
import { UsageError } from '../exit-codes.ts'

/** Returns where `npm start` listens. */
export const localUrl = (env: Environment): string => `http://127.0.0.1:${env.PORT ?? '8787'}`

/** Returns a warning if the token would travel unencrypted to another machine. */
export const warnUnencrypted = (url: string): string | undefined =>
  isUnencrypted(url) ? `The token goes to ${url} unencrypted: use https.` : undefined

/** Whether what is sent to a URL travels unencrypted to another machine. */
export const isUnencrypted = (url: string): boolean => url.startsWith('http:') && !isLoopback(url)

/** Matches URLs without a character that means anything to a shell: messages show commands with them. */
const HOST_URL = /^https?:[\w.~%:/[\]-]+$/

/** Whether a text is the URL of a host. */
export const isHostUrl = (text: string): boolean => HOST_URL.test(parseUrl(text)?.href ?? '')

/**
 * Parses the URL of a host, without its trailing slash. Rejects one with a password, a query, a fragment or what a
 * shell interprets; `source` is where it is written.
 */
export const parseHostUrl = (text: string, source?: string): string => {
  if (!isHostUrl(text))
    throw new UsageError(
      `${source === undefined ? '' : `${source}: `}"${withoutUserinfo(text)}" is not the URL of a host. ` +
        'Use one such as https://cards.example.com',
    )
  return new URL(text).href.replace(/(?<!\/)\/+$/, '')
}

/** Whether a URL is of this machine. */
export const isLoopback = (url: string): boolean =>
  /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)

const withoutUserinfo = (text: string): string => text.replace(/\/\/[^/@]*@/, '//…@')
