import ipaddr from 'ipaddr.js'
import { isPrivateName } from './safe-fetch.ts'

/**
 * Checks whether a host, as `URL` normalizes it, cannot be reached from the public internet: a private name, a name
 * without a dot, or an address that is not public unicast, or that embeds another one.
 */
export const isPrivateHost = (hostname: string): boolean => {
  const name = hostname.replace(/^\[|\]$|\.$/g, '')
  if (!isAddress(name)) return isPrivateName(name) || !name.includes('.')
  const address = ipaddr.process(name)
  return address.range() !== 'unicast' || (address instanceof ipaddr.IPv6 && isIpv4Compatible(address))
}

/** Does what `ipaddr.isValid` does, which throws and catches an error for every name. */
const isAddress = (name: string) => ipaddr.IPv6.isValid(name) || (ipaddr.IPv4.isIPv4(name) && ipaddr.IPv4.isValid(name))

/** `::a.b.c.d` (RFC 4291 §2.5.5.1), which ipaddr.js takes for unicast. */
const isIpv4Compatible = ({ parts }: ipaddr.IPv6): boolean => parts.slice(0, 6).every(part => part === 0)

/** Returns the DID of the method `web` for a host, `cards.example.com` or `127.0.0.1:8787`. */
export const toDidWeb = (host: string): string => `did:web:${host.replace(':', '%3A')}`

/** Returns the URL of the document of a DID of the method `web`; undefined for any other text. */
export const didDocumentUrl = (did: string): string | undefined => {
  const [, host = '', path = ''] = /^did:web:([a-zA-Z0-9.-]+(?:%3A\d{1,5})?)((?::[\w.~%-]+)*)$/.exec(did) ?? []
  if (host === '') return undefined
  const folder = path === '' ? '/.well-known' : path.replaceAll(':', '/')
  return `https://${host.replace('%3A', ':')}${folder}/did.json`
}
