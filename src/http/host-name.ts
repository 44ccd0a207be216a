/** The host name of a request. A name with the root's dot is the same name (RFC 1034 §3.1). */
export const requestHostname = ({ url }: Request): string => withoutDot(new URL(url).hostname)

/** A host name without the root's dot. */
export const withoutDot = (hostname: string): string => hostname.replace(/\.$/, '')
