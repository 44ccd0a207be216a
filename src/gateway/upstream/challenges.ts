/** The parameters of a challenge that are passed on, and the values that cannot reveal an address. */
const CHALLENGE_PARAMS: ReadonlyMap<string, RegExp> = new Map([
  ['realm', /^[\w -]{1,64}$/],
  ['error', /^[a-z_]{1,64}$/],
  ['scope', /^[\w:. -]{1,256}$/],
  ['charset', /^[\w-]{1,16}$/],
  // Digest (RFC 7616) cannot be answered without these.
  ...['algorithm', 'qop', 'nonce', 'opaque', 'stale'].map((name): [string, RegExp] => [name, /^[\w+/=, -]{1,256}$/]),
])

/** Longer than any real list of challenges, in characters. */
const MAX_CHALLENGES_LENGTH = 2048

/**
 * Rewrites an agent's challenges: keeps the scheme of each, and the parameters that cannot reveal where the agent is. Several header
 * lines arrive as one list (RFC 9110 §11.6.1), in which commas separate both challenges and their parameters.
 */
export const sanitizeChallenges = (header: string): string => {
  const challenges: { scheme: string; params: string[] }[] = []
  for (const [item] of header.slice(0, MAX_CHALLENGES_LENGTH).matchAll(/(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g)) {
    const [, scheme, name, quoted, token = ''] = challengeItem.exec(item.trim()) ?? []
    if (scheme !== undefined) challenges.push({ scheme, params: [] })
    const value = quoted ?? token
    if (name !== undefined && CHALLENGE_PARAMS.get(name.toLowerCase())?.test(value))
      challenges.at(-1)?.params.push(quoted === undefined ? `${name}=${value}` : `${name}="${value}"`)
  }
  return challenges.map(({ scheme, params }) => `${scheme} ${params.join(', ')}`.trim()).join(', ')
}

/** One item of the list: a scheme, a parameter, or a scheme with its first parameter. */
const challengeItem =
  /^(?:([\w-]{1,32})[\w-]*(?=\s|$)(?!\s*=)\s*)?(?:([a-z]{1,32})\s*=\s*(?:"([^"\\]*)"|([^\s",\\]*)))?/i
