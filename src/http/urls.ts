/**
 * Parses an absolute URL as `URL.parse` does, but none with a longer host than a DNS name and a port: the time to normalize a host
 * name in Unicode grows with the square of its length. With `base`, the URL may be relative.
 */
export const parseUrl = (text: string, base?: string): URL | null =>
  longHost.test(text) ? null : URL.parse(text, base)

/** Follows the URL standard: white space around the scheme is ignored, and a backslash is a slash. */
const longHost = /^[\0- ]*(?:[a-z][a-z\d+.\t\n\r-]*:[/\\\t\n\r]*|[/\\\t\n\r]{2,})[^/\\?#]{260}/i

/** Returns the address of an interface as a URL: what only gRPC has, `host:port` and `grpc://host:port`, with https. */
export const toHttpUrl = (address: string): string => address.replace(grpcAddress, 'https://$1')

const grpcAddress = /^(?:grpcs?:\/\/|(?=.*:\d+$))((?:[^\s\p{Cc}\\/?#@:%[\]<>{}]+|\[[\da-f:.]+\])(?::\d+)?)\/?$/iu
