import { compactVerify, importJWK, type JWK } from 'jose'
import { RECEIPT_TYPE, type ServedReceipt } from '../../src/card/model/index.ts'
import { canonicalJson } from '../../src/json/index.ts'
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

/** The signature of a receipt: `valid` with the name of the host's key, or why it proves nothing. */
export type ReceiptVerification =
  | { signature: 'valid'; kid: string }
  | { signature: 'none' | 'invalid'; reason: string }

/** Verifies the signature of a receipt with the keys that its host publishes. */
export const verifyReceipt = async (served: ServedReceipt, keys?: readonly JWK[]): Promise<ReceiptVerification> => {
  const { receipt, signature, unsigned } = served
  if (signature === undefined) return { signature: 'none', reason: unsigned ?? 'The receipt has no signature.' }
  const [head, detached, value] = signature.split('.')
  const payload = Buffer.from(canonicalJson(receipt)).toString('base64url')
  const verified = detached === '' && (await verifySignature(`${head}.${payload}.${value}`, keys, RECEIPT_TYPE))
  if (verified) return { signature: 'valid', kid: verified.kid }
  return { signature: 'invalid', reason: 'The signature is not one of this host over this receipt.' }
}
