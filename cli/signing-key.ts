import { createHash, generateKeyPairSync } from 'node:crypto'

/** Creates a random private key for ES256 (RFC 7517). `nbf` is when it begins to sign, in seconds since 1970. */
export const createSigningKey = (nbf?: number) => {
  for (;;) {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { kty, crv, x, y, d } = privateKey.export({ format: 'jwk' })
    // RFC 7638: the required members in alphabetical order, without spaces.
    const kid = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
    // On a command line, an id that begins with a hyphen would be an option.
    if (!kid.startsWith('-'))
      return { kty, crv, x, y, d, kid, alg: 'ES256', use: 'sig', ...(nbf !== undefined && { nbf }) }
  }
}
