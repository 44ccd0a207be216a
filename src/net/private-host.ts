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
