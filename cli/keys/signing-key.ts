import { createHash, generateKeyPairSync } from 'node:crypto'

/** A private key for ES256 (RFC 7517), as a Worker secret has it. `nbf` is from when on it signs, in seconds since 1970. */
export type SigningKey = ReturnType<typeof createSigningKey>

/** Creates a random signing key. Without `nbf`, it signs from the beginning. */
export const createSigningKey = (nbf?: number) => {
  for (;;) {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { x = '', y = '', d = '' } = privateKey.export({ format: 'jwk' })
    // RFC 7638: the required members in alphabetical order, without spaces.
    const kid = createHash('sha256')
      .update(JSON.stringify({ crv: 'P-256', kty: 'EC', x, y }))
      .digest('base64url')
    // On a command line, an id that begins with a hyphen would be an option.
    if (kid.startsWith('-')) continue
    return {
      kty: 'EC',
      crv: 'P-256',
      x,
      y,
      d,
      kid,
      alg: 'ES256',
      use: 'sig',
      ...(nbf !== undefined && { nbf }),
    } as const
  }
}
