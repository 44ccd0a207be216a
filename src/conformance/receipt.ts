import { RECEIPT_TYPE, type Receipt, type StoredReceipt } from '../card/model/index.ts'
import { KEY_SET_PATH } from '../card/signatures/index.ts'
import { parseUrl } from '../http/index.ts'
import { isJsonObject } from '../json/index.ts'
import type { StoredManifest } from '../registry/tables/index.ts'
import { findSigningKeys, isOwnOrigin, signDetached } from '../signing/index.ts'

/** Signs a receipt with the current key of this host. Without one, the receipt is stored as it is, and reports that. */
export const signReceipt = async (receipt: Receipt, manifest: StoredManifest, env: Env): Promise<StoredReceipt> => {
  const keys = await findSigningKeys(env)
  if (!keys) return { receipt, unsigned: 'This host has no key to sign with.' }
  if (!isOwnOrigin(receipt.host, { hosts: hostsOf(manifest) }, env))
    return { receipt, unsigned: 'This host does not know under which name it is public.' }
  const header = { typ: RECEIPT_TYPE, kid: keys.current.kid, jku: `${receipt.host}${KEY_SET_PATH}` }
  return { receipt, signature: await signDetached(receipt, header, keys.current) }
}

/** Returns the origin that a receipt names as its host: never that of the request, which is the caller's choice. */
export const receiptHost = ({ origin }: StoredManifest, { PUBLIC_URL }: Pick<Env, 'PUBLIC_URL'>): string =>
  parseUrl(PUBLIC_URL)?.origin ?? origin

/** A bare card has no host names. */
const hostsOf = ({ manifest }: StoredManifest): string[] => {
  const document: unknown = JSON.parse(manifest)
  const hosts = isJsonObject(document) && Array.isArray(document.hosts) ? document.hosts : []
  return hosts.filter(host => typeof host === 'string')
}
