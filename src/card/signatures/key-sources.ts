import type { Json, JsonObject } from '../../json/json.ts'
import { didDocumentUrl } from '../../net/did-web.ts'
import { type KeysResult, type PublicKey, readDidDocument, readKeys } from './public-keys.ts'

/** Where a verifier has its keys from: a JWK, the URL of a JWK Set, or a DID of the method `web`. */
export type KeySource = JsonObject | string

/** The path of the keys of a host (RFC 7517). */
export const KEY_SET_PATH = '/.well-known/jwks.json'

/** The path of the key of narrow signatures, which verifiers must not find among the others. */
export const NARROW_KEY_SET_PATH = '/.well-known/narrow-jwks.json'

/** Fetches a JSON document. The error completes a sentence that begins with the URL. */
export type FetchJson = (url: string) => Promise<{ document: Json } | { error: string }>

/** The keys of all sources that could be read, and why others could not. */
export type ResolvedKeys = { keys: PublicKey[]; errors: string[] }

/** Reads the keys of each source. `owner` is where a JWK that is a source itself is from. */
export const resolveKeys = async (
  sources: readonly KeySource[],
  fetchJson: FetchJson,
  owner = 'manifest',
): Promise<ResolvedKeys> => {
  const results = await Promise.all(sources.map(source => resolveSource(source, fetchJson, owner)))
  return {
    keys: results.flatMap(result => ('keys' in result ? result.keys : [])),
    errors: results.flatMap(result => ('error' in result ? [result.error] : [])),
  }
}

const resolveSource = async (source: KeySource, fetchJson: FetchJson, owner: string): Promise<KeysResult> => {
  if (typeof source !== 'string') return readKeys(source, owner)
  const didUrl = didDocumentUrl(source)
  const fetched = await fetchJson(didUrl ?? source)
  if ('error' in fetched) return { error: `${source} ${fetched.error}` }
  return didUrl === undefined ? readKeys(fetched.document, source) : readDidDocument(fetched.document, source)
}
