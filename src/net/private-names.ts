import { isPrivateHost } from './private-host.ts'

/** What is written like the name of a host or an address. */
const written = /[\p{L}\p{N}._-]+/gu

/** The longest name that DNS knows. */
const longest = 253

const v4 = /^(?:\d{1,3}\.){3}\d{1,3}$/

/** Addresses of private networks; of what else no client reaches, numbers of versions and masks are made. `….0` is a network. */
const privateV4 =
  /^(?:10|127|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])|169\.254|172\.(?:1[6-9]|2\d|3[01])|192\.168)\.[\d.]*(?<!\.0)$/

/**
 * The hosts of private networks that a text names outside of URLs. A name without a point is a word like any other, one that
 * begins with a point is a file's, and what follows "version" is no address.
 */
export const findPrivateHosts = (text: string): string[] =>
  [...text.matchAll(written)].flatMap(({ 0: token, index }) => {
    const name = token.length > longest + 1 ? '' : token.replace(/\.$/, '')
    if (!/^[^.]+\./.test(name)) return []
    if (v4.test(name)) return privateV4.test(name) && !isVersion(text, index) ? [name] : []
    return /\p{L}[^.]*$/u.test(name) && isPrivateHost(name) ? [name] : []
  })

const isVersion = (text: string, index: number): boolean =>
  /version\W{0,3}$/.test(text.slice(Math.max(0, index - 10), index))
