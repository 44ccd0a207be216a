import { flattenedVerify, importJWK } from 'jose'
import { RECEIPT_TYPE, type Receipt, type ServedReceipt } from '../../src/card/model/receipt.ts'
import { canonicalJson } from '../../src/json/canonical.ts'
import type { JsonObject } from '../../src/json/json.ts'
import type { PublicKey } from './responses.ts'

/** Whether the signature of a receipt is one of the host: `valid` with the name of its key, or why it proves nothing. */
export type ReceiptVerification =
  | { signature: 'valid'; kid: string }
  | { signature: 'none' | 'invalid'; reason: string }

/** Verifies the signature of a receipt with the keys that its host publishes. */
export const verifyReceipt = async (
  { receipt, signature, unsigned }: ServedReceipt,
  keys: readonly PublicKey[] | undefined,
): Promise<ReceiptVerification> => {
  if (signature === undefined) return { signature: 'none', reason: unsigned ?? 'The receipt has no signature.' }
  const [head = '', detached, value = ''] = signature.split('.')
  const invalid = { signature: 'invalid', reason: 'The signature is not one of this host over this receipt.' } as const
  if (detached !== '') return invalid
  try {
    const { protectedHeader } = await flattenedVerify(
      { protected: head, payload: toPayload(receipt), signature: value },
      async ({ kid, typ, alg } = {}) => {
        const key = keys?.find(key => key.kid === kid)
        if (key === undefined || typ !== RECEIPT_TYPE || alg !== 'ES256') throw new Error('another key or purpose')
        return importJWK(key, 'ES256')
      },
    )
    return { signature: 'valid', kid: protectedHeader?.kid ?? '' }
  } catch {
    // Whatever is wrong with it, the signature does not prove anything.
    return invalid
  }
}

const toPayload = (receipt: Receipt): string =>
  Buffer.from(canonicalJson(receipt as unknown as JsonObject)).toString('base64url')
