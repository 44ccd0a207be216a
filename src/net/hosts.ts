import ipaddr from 'ipaddr.js'
import { isPrivateName } from './names.ts'

/**
 * Checks whether a host, as `URL` normalizes it, cannot be reached from the public internet: a private name, a name without a
 * dot, or an address that is not public unicast. Addresses that embed another one (IPv4-compatible, NAT64, 6to4, Teredo) are never
 * public.
 */
export const isPrivateHost = (hostname: string): boolean => {
  const name = hostname.replace(/^\[|\]$|\.$/g, '')
  if (!ipaddr.isValid(name)) return isPrivateName(name) || !name.includes('.')
  const address = ipaddr.process(name)
  return address.range() !== 'unicast' || (address instanceof ipaddr.IPv6 && isIpv4Compatible(address))
}

/** `::a.b.c.d` (RFC 4291 §2.5.5.1), which ipaddr.js takes for unicast. */
const isIpv4Compatible = ({ parts }: ipaddr.IPv6): boolean => parts.slice(0, 6).every(part => part === 0)

/** What is written like the name of a host or an address. */
const written = /[\p{L}\p{N}._-]+/gu

/** The longest name that DNS knows. */
const longest = 253

const v4 = /^(?:\d{1,3}\.){3}\d{1,3}$/

/** Addresses of private networks; of what else no client reaches, numbers of versions and masks are made. `….0` is a network. */
const privateV4PrivateNames =
  /^(?:10|127|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])|169\.254|172\.(?:1[6-9]|2\d|3[01])|192\.168)\.[\d.]*(?<!\.0)$/

/**
 * The hosts of private networks that a text names outside of URLs. A name without a point is a word like any other, one that
 * begins with a point is a file's, and what follows "version" is no address.
 */
export const findPrivateHosts = (text: string): string[] =>
  [...text.matchAll(written)].flatMap(({ 0: token, index }) => {
    const name = token.length > longest + 1 ? '' : token.replace(/\.$/, '')
    if (!/^[^.]+\./.test(name)) return []
    if (v4.test(name)) return privateV4PrivateNames.test(name) && !isVersion(text, index) ? [name] : []
    return /\p{L}[^.]*$/u.test(name) && isPrivateHost(name) ? [name] : []
  })

const isVersion = (text: string, index: number): boolean =>
  /version\W{0,3}$/.test(text.slice(Math.max(0, index - 10), index))

/** A URL as it stands in a text; the host of one that names none is ''. */
type UrlInText = { scheme: string; hostname: string; host: string }

/** Schemes whose URLs name a host, even one without a point. Others, such as those of MCP resources, name what they like. */
const webSchemes = new Set(['http', 'https', 'ws', 'wss', 'grpc', 'grpcs', 'ftp', 'ftps'])

/** All parts are bounded: no text takes long to read. */
const urls =
  /(?:(?<![a-z0-9+.-])([a-z][a-z0-9+.-]{0,15}):|(?<![\w:\\/]))[\\/]{2}(?:[^\s\\/?#@"'<>]{0,256}@)?(\[[^\]\s]{0,64}\]|[^\s\\/?#:@"'<>()[\]{},;]{1,256})(:\d{1,5})?/g

/** The hosts that the URLs in a text name, as `URL` spells them. */
export const extractUrls = (text: string): UrlInText[] =>
  [...text.replace(/[\\/]{3,}/g, '//').matchAll(urls)].flatMap(([, scheme = '', name = '', port = '']) => {
    // As a web address, whatever its scheme: only there does `URL` read a host in all its spellings.
    const url = URL.parse(`${scheme === 'https' ? 'https' : 'http'}://${name.replace(/\.+$/, '')}${port}`)
    if (url === null || (!webSchemes.has(scheme) && !/[.:]/.test(url.hostname))) return []
    return [{ scheme, hostname: url.hostname, host: url.host }]
  })

/** A text with what hides a host from a plain search taken out: other letters and points for the same name, and escapes. */
export const normalizeForSearch = (text: string): string => {
  let plain = text.normalize('NFKC').replace(/[。｡]/g, '.')
  for (let times = 0; times < mostEscapes && plain.includes('%'); times++)
    plain = plain.replace(/%([2-7][0-9a-f])/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
  return plain.toLowerCase()
}

/** A text plainly, as it is and without what nobody sees in it: that splits a name, or parts it from the word before. */
export const searchVariants = (text: string): string[] => [
  ...new Set([
    normalizeForSearch(text),
    normalizeForSearch(text.replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')),
  ]),
]

/** An escape can be escaped again, and again. */
const mostEscapes = 3
