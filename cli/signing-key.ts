import { createHash, generateKeyPairSync } from 'node:crypto'

/** A private key for ES256 (RFC 7517), as the Worker's secret `SIGNING_KEY` has it. */
export type SigningKey = ReturnType<typeof createSigningKey>

/** Creates a random signing key. */
export const createSigningKey = () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '', d = '' } = privateKey.export({ format: 'jwk' })
  // RFC 7638: the required members in alphabetical order, without spaces.
  const thumbprint = createHash('sha256')
    .update(JSON.stringify({ crv: 'P-256', kty: 'EC', x, y }))
    .digest('base64url')
  return { kty: 'EC', crv: 'P-256', x, y, d, kid: thumbprint, alg: 'ES256', use: 'sig' } as const
}
