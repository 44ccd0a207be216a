import type { FetchJson } from '../card/signatures/index.ts'
import { describeFailure, fetchText } from '../http/fetch-resource.ts'
import { isJsonType } from '../http/media-type.ts'
import type { FetchFn } from '../http/safe-fetch.ts'
import { parseJson } from '../json/parse.ts'
import { KEY_SET_TIMEOUT_SECONDS, MAX_KEY_SET_BYTES } from '../limits.ts'

/**
 * Returns a function that fetches key sets and DID documents from public addresses, or with `fetch`. It follows no redirect: the address
 * is the trust.
 */
export const createKeyFetch =
  (env: Pick<Env, 'ALLOWED_ORIGINS'>, fetch?: FetchFn): FetchJson =>
  async url => {
    const fetched = await fetchText(url, {
      headers: { Accept: 'application/jwk-set+json, application/did+json, application/json' },
      accepts: isJsonType,
      allowedOrigins: env.ALLOWED_ORIGINS,
      ...(fetch && { fetch }),
      maxBytes: MAX_KEY_SET_BYTES,
      timeoutSeconds: KEY_SET_TIMEOUT_SECONDS,
      maxRedirects: 0,
    })
    if ('failed' in fetched) return { error: describeFailure(fetched, MAX_KEY_SET_BYTES) }
    const parsed = parseJson(fetched.content, 'a key set')
    return 'value' in parsed ? { document: parsed.value } : { error: 'responded with invalid JSON' }
  }
