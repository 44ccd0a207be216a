import ipaddr from 'ipaddr.js'
import { isPrivateName } from './names.ts'

/**
 * Checks whether a host, as `URL` normalizes it, cannot be reached from the public internet: a private name, a name without a
 * dot, or an address that is not public unicast. Addresses that embed another one (IPv4-compatible, NAT64, 6to4, Teredo) are never
 * public.
 */
export const isPrivateHost = (hostname: string): boolean => {
  const name = hostname.replace(/^\[|\]$|\.$/g, '')
  if (!isAddress(name)) return isPrivateName(name) || !name.includes('.')
  const address = ipaddr.process(name)
  return address.range() !== 'unicast' || (address instanceof ipaddr.IPv6 && isIpv4Compatible(address))
}

/** Does what `ipaddr.isValid` does, which throws and catches an error for every name. */
const isAddress = (name: string): boolean =>
  ipaddr.IPv6.isValid(name) || (ipaddr.IPv4.isIPv4(name) && ipaddr.IPv4.isValid(name))

/** `::a.b.c.d` (RFC 4291 §2.5.5.1), which ipaddr.js takes for unicast. */
const isIpv4Compatible = ({ parts }: ipaddr.IPv6): boolean => parts.slice(0, 6).every(part => part === 0)
