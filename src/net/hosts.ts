/** A URL as it stands in a text; the host of one that names none is ''. */
export type UrlInText = { scheme: string; hostname: string; host: string }

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
