import type { Blocked } from './safe-fetch.ts'

/** Makes one request and follows no redirect; rejects as `fetch` does. */
export type FetchFn = (url: string, init: RequestInit) => Promise<Response | Blocked>

/** What a GET says of itself, by how far it goes where redirects lead on. */
export type GetHeaders = {
  /** To whoever answers. */
  headers?: Record<string, string>
  /** To the address's own origin; once a redirect has led away from it, no more. */
  credentials?: Record<string, string> | undefined
  /** Of what the address itself answered before: to it alone. */
  validators?: Record<string, string> | undefined
}

/** The answer at the end of the redirects; or why there is none. */
export type Followed = { response: Response; redirected: boolean } | { failed: 'blocked' | 'redirect'; detail: string }

const redirects = new Set([301, 302, 303, 307, 308])

/** GETs an address, following at most `most` redirects by hand: each goes through `ask` like the first. Rejects as `ask` does. */
export const fetchFollowingRedirects = async (
  address: string,
  { headers, credentials, validators }: GetHeaders,
  ask: FetchFn,
  { most = 3, signal }: { most?: number; signal: AbortSignal },
): Promise<Followed> => {
  const seen = new Set<string>()
  let atHome = true
  for (let url = address; ; ) {
    const sent = { ...headers, ...(atHome && credentials), ...(seen.size === 0 && validators) }
    seen.add(url)
    const response = await ask(url, { method: 'GET', headers: sent, signal })
    if ('blocked' in response) return { failed: 'blocked', detail: response.blocked }
    if (!redirects.has(response.status)) return { response, redirected: seen.size > 1 }
    const next = whereTo(url, response.headers.get('Location'))
    if ('failed' in next) return next
    if (seen.has(next.url)) return { failed: 'redirect', detail: 'in a circle' }
    if (seen.size > most) return { failed: 'redirect', detail: `more than ${most} times` }
    atHome &&= new URL(next.url).origin === new URL(address).origin
    url = next.url
  }
}

/** A fragment is no part of what is asked for. */
const whereTo = (from: string, location: string | null): { url: string } | Extract<Followed, { failed: string }> => {
  const to = location === null ? null : URL.parse(location, from)
  if (to === null) return { failed: 'redirect', detail: 'to no address' }
  if (from.startsWith('https:') && to.protocol !== 'https:')
    return { failed: 'blocked', detail: 'a redirect away from https' }
  to.hash = ''
  return { url: to.href }
}
