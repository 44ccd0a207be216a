import { generateKeyPairSync } from 'node:crypto'
import type { JWK } from 'jose'

/** Makes a private P-256 key as a JWK, as the secret `SIGNING_KEY` has it. */
export const makeSigningKey = (): JWK & { x: string; y: string; d: string; nbf?: number } => {
  const {
    x = '',
    y = '',
    d = '',
  } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    format: 'jwk',
  })
  return { kty: 'EC', crv: 'P-256', x, y, d }
}
