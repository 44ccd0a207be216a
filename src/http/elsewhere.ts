import type { FetchFn } from './follow.ts'

/** Tells whether an address is at one of some origins; what is no URL is none of them. */
export const originMatcher = (origins: readonly string[]): ((url: string) => boolean) => {
  const own = new Set(origins.map(origin => URL.parse(origin)?.origin))
  own.delete(undefined)
  return url => own.has(URL.parse(url)?.origin)
}

/** Makes requests of whatever is not this host itself, which would ask again, and again. A redirect may lead there, too. */
export const blockOrigins =
  (ask: FetchFn, isOwn: (url: string) => boolean): FetchFn =>
  async (url, init) =>
    isOwn(url) ? { blocked: 'this host itself' } : ask(url, init)
