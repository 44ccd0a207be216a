import { compactVerify, importJWK, type JWK } from 'jose'
import type { HostClient } from './host-client.ts'

export { ApiError, isProblem, type ResponseOf } from '../../src/api/client/index.ts'
export * from './host-client.ts'
export { blockedPortMessage, fetchDocument, isBlockedPort, isFetchable } from './http.ts'

/** Returns the public keys with which the host's signatures are verified; undefined if it has none. */
export const readKeys = async ({ call }: HostClient): Promise<readonly JWK[] | undefined> =>
  (await call('GET /.well-known/jwks.json', { anonymous: true, ignore: 'no-signing-key' }))?.keys

/** Returns what a host has signed as JSON of the type `typ`, and with which of its keys; undefined if it has not. */
export const verifySignature = async (jws: string, keys: readonly JWK[] | undefined, typ: string) => {
  try {
    const { payload, protectedHeader } = await compactVerify(jws, header => {
      const key = keys?.find(({ kid }) => kid === header.kid)
      if (key === undefined || header.typ !== typ || header.alg !== 'ES256') throw new Error('another key or purpose')
      return importJWK(key, 'ES256')
    })
    return { kid: protectedHeader.kid ?? '', value: JSON.parse(new TextDecoder().decode(payload)) }
  } catch {
    // Whatever is wrong with it, the signature does not prove anything.
    return undefined
  }
}
