import { FlattenedSign } from 'jose'
import { canonicalJson, type Json } from '../json/index.ts'
import type { HostKey } from './keys.ts'

/** What a protected header has besides the algorithm. `typ` distinguishes it from all else that the key signs (RFC 8725 §3.11). */
type DetachedHeader = { typ: string; kid: string; jku?: string }

/** Signs a document in the canonical form of RFC 8785. Returns a compact JWS without its payload (RFC 7515, appendix F). */
export const signDetached = async (
  document: Json,
  header: DetachedHeader,
  { privateKey }: Pick<HostKey, 'privateKey'>,
): Promise<string> => {
  const payload = new TextEncoder().encode(canonicalJson(document))
  const jws = await new FlattenedSign(payload).setProtectedHeader({ alg: 'ES256', ...header }).sign(privateKey)
  return `${jws.protected}..${jws.signature}`
}
