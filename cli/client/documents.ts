import {
  describeFailure,
  type FetchedJson,
  type FetchFailure,
  type FetchOptions,
  fetchJson,
  parseUrl,
} from '../../src/http/shared.ts'
import { isUnencrypted } from '../hosts/index.ts'
import { describeNetworkError } from './http.ts'

/** Fetches a JSON document of any server, of a bounded size and within a bounded time. */
export const fetchDocument = (
  url: string,
  options: Omit<FetchOptions, 'accepts' | 'fetch'>,
  { fetch }: { fetch: typeof globalThis.fetch },
): Promise<FetchedJson> => fetchJson(url, { ...options, fetch: withReason(fetch) }, describeWithReason)

/** Adds the reason of the system, such as an unknown host name, to errors of the network. */
const withReason =
  (fetch: typeof globalThis.fetch): NonNullable<FetchOptions['fetch']> =>
  (to, init) =>
    fetch(to, { ...init, redirect: 'manual' }).catch((error: unknown) => {
      throw error instanceof Error ? new Error(describeNetworkError(error, String(to)), { cause: error }) : error
    })

const describeWithReason = (failure: FetchFailure, maxBytes?: number): string =>
  failure.failed === 'unreachable' ? `cannot be reached: ${failure.detail}` : describeFailure(failure, maxBytes)

/** Checks whether nobody on the way to a URL can replace what it responds with. */
export const isFetchable = (url: string): boolean => parseUrl(url) !== null && !isUnencrypted(url)
