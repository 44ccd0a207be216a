import { describeFailure, type FetchOptions, fetchText } from '../../src/http/fetch-resource.ts'
import { isJsonType } from '../../src/http/media-type.ts'
import type { Json } from '../../src/json/json.ts'
import { parseJson } from '../../src/json/parse.ts'
import { parseUrl } from '../../src/net/urls.ts'
import { isUnencrypted } from '../hosts/index.ts'
import { describeNetworkError } from './http.ts'

/** A JSON document with the headers of its response; or why there is none, in words that complete a sentence about its address. */
export type FetchedDocument = { document: Json; headers: Headers } | { error: string }

/** Fetches a JSON document of any server, of a bounded size and within a bounded time. */
export const fetchDocument = async (
  url: string,
  options: Omit<FetchOptions, 'accepts' | 'fetch'> & { accepts?: FetchOptions['accepts'] },
  { fetch }: { fetch: typeof globalThis.fetch },
): Promise<FetchedDocument> => {
  const fetched = await fetchText(url, {
    accepts: isJsonType,
    ...options,
    fetch: (to, init) =>
      fetch(to, { ...init, redirect: 'manual' }).catch((error: unknown) => {
        throw error instanceof Error ? new Error(describeNetworkError(error), { cause: error }) : error
      }),
  })
  if ('failed' in fetched)
    return {
      error:
        fetched.failed === 'unreachable'
          ? `cannot be reached: ${fetched.detail}`
          : describeFailure(fetched, options.maxBytes),
    }
  const parsed = parseJson(fetched.content, 'a document')
  return 'value' in parsed
    ? { document: parsed.value, headers: fetched.headers }
    : { error: 'responded with invalid JSON' }
}

/** Whether nobody on the way to a URL can replace what it responds with. */
export const isFetchable = (url: string): boolean => parseUrl(url) !== null && !isUnencrypted(url)
