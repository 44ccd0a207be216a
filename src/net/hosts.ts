/** Top-level names that resolve only in the network where they were written, or nowhere. */
const localName = /(?:^|\.)(?:local(?:host|domain)?|internal|intranet|private|corp|home|lan|test|invalid|home\.arpa)$/

/** IPv4 networks that the public cannot reach: this host, private, shared, link-local, benchmark, multicast, reserved. */
const privateV4 =
  /^(?:0|10|127|2(?:2[4-9]|[3-5]\d)|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])|169\.254|172\.(?:1[6-9]|2\d|3[01])|192\.(?:168|0\.0)|198\.1[89])\.[\d.]+$/

/** IPv6 networks that the public cannot reach: unique local, link-local, site-local, multicast. */
const privateV6 = /^\[(?:f[cd]..|fe[89a-f].|ff..):/

/** IPv6 addresses that carry an IPv4 address, as `URL` spells them: mapped, NAT64, compatible (with loopback). */
const carriedV4 = /^\[(?:64:ff9b)?::(?:ffff:)?(?:([\da-f]{1,4}):)?([\da-f]{0,4})\]$/

const dotted = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join('.')

/** Whether a host, as `URL` spells it, can be reached only from the machine or network where it was written. */
export const isPrivateHost = (hostname: string): boolean => {
  const carried = carriedV4.exec(hostname)
  if (carried) return privateV4.test(dotted(Number(`0x${carried[1] ?? 0}`), Number(`0x${carried[2] || 0}`)))
  const name = hostname.replace(/\.$/, '')
  return privateV6.test(name) || privateV4.test(name) || localName.test(name) || !/[.:]/.test(name)
}

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
