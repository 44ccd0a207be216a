import { type CryptoKey, flattenedVerify, importJWK, type JWK, type JWSHeaderParameters } from 'jose'
import { RECEIPT_TYPE, type Receipt, type ServedReceipt } from '../../src/card/model/index.ts'
import { canonicalJson } from '../../src/json/index.ts'
import type { HostClient } from './host-client.ts'

export { ApiError, isProblem, type ResponseOf } from '../../src/api/client/index.ts'
export * from './host-client.ts'
export { blockedPortMessage, fetchDocument, isBlockedPort, isFetchable } from './http.ts'

/** Returns the public keys with which the host's signatures are verified; undefined if it has none. */
export const readKeys = async ({ call }: HostClient): Promise<readonly JWK[] | undefined> =>
  (await call('GET /.well-known/jwks.json', { anonymous: true, ignore: 'no-signing-key' }))?.keys

/** Imports the key of a host that a signature names. Throws for an unknown key or another type than `typ`. */
export const importHostKey = async (
  keys: readonly JWK[] | undefined,
  header: JWSHeaderParameters | undefined,
  typ: string,
): Promise<CryptoKey | Uint8Array> => {
  const key = keys?.find(({ kid }) => kid === header?.kid)
  if (key === undefined || header?.typ !== typ || header.alg !== 'ES256') throw new Error('another key or purpose')
  return importJWK(key, 'ES256')
}

/** The signature of a receipt: `valid` with the name of the host's key, or why it proves nothing. */
export type ReceiptVerification =
  | { signature: 'valid'; kid: string }
  | { signature: 'none' | 'invalid'; reason: string }

/** Verifies the signature of a receipt with the keys that its host publishes. */
export const verifyReceipt = async (
  { receipt, signature, unsigned }: ServedReceipt,
  keys: readonly JWK[] | undefined,
): Promise<ReceiptVerification> => {
  if (signature === undefined) return { signature: 'none', reason: unsigned ?? 'The receipt has no signature.' }
  const [head = '', detached, value = ''] = signature.split('.')
  const invalid = { signature: 'invalid', reason: 'The signature is not one of this host over this receipt.' } as const
  if (detached !== '') return invalid
  try {
    const { protectedHeader } = await flattenedVerify(
      { protected: head, payload: toPayload(receipt), signature: value },
      header => importHostKey(keys, header, RECEIPT_TYPE),
    )
    return { signature: 'valid', kid: protectedHeader?.kid ?? '' }
  } catch {
    // Whatever is wrong with it, the signature does not prove anything.
    return invalid
  }
}

const toPayload = (receipt: Receipt): string => Buffer.from(canonicalJson(receipt)).toString('base64url')
