/**
 * Domain names that exist only inside a machine, a local network or a cloud, or nowhere: special-use names (RFC 6761, RFC 8375),
 * names that networks are given by custom, and the metadata services of clouds. Case and a trailing dot do not matter.
 */
export const isPrivateName = (hostname: string): boolean => privateName.test(hostname)

const privateName =
  /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|private|corp|home|lan|svc|docker|consul|test|invalid|alt|onion|arpa|metadata\.goog|metadata\.tencentyun\.com)\.?$/i

/** Public domains whose subdomains resolve to the address that is written in them, or to the local machine. */
export const isWildcardDnsName = (hostname: string): boolean => wildcardDns.test(hostname)

const wildcardDns = /(?:^|\.)(?:nip\.io|sslip\.io|xip\.io|traefik\.me|localtest\.me|lvh\.me|vcap\.me|lacolhost\.com)$/

/** Whether a host, as `URL` normalizes it, is a name of this machine or an address: no certificate is issued for a public name of it. */
export const isLocalName = (hostname: string): boolean => /^(?:(?:.+\.)?localhost|[\d.]+|\[.+\])$/.test(hostname)
