/** More hops than any honest path has. */
const mostHops = 10

/**
 * The `Via` of a call that goes on from here (RFC 9110 §7.6.3), this hop under its pseudonym; undefined where the call was
 * here before, or has come too far. The pseudonym stands for one agent of one host: an agent may call another of the same host.
 */
export const appendVia = (via: string | null, pseudonym: string): string | undefined => {
  const here = `1.1 ${pseudonym}`
  if (via === null || via.trim() === '') return here
  if (via.split(',').length >= mostHops) return undefined
  return via
    .toLowerCase()
    .split(/[\s,]+/)
    .includes(pseudonym.toLowerCase())
    ? undefined
    : `${via}, ${here}`
}
