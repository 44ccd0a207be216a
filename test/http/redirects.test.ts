import { describe, expect, it } from 'vitest'
import { type FetchOptions, fetchFollowingRedirects } from '../../src/http/fetch-resource.ts'
import type { FetchFn } from '../../src/http/safe-fetch.ts'

type Redirects = Record<string, string | null | [status: number, location: string]>

/** Returns a `fetch` with the given redirects, which responds with 200 to all other URLs, and the requests it received. */
const startNetwork = (redirects: Redirects) => {
  const requests: { url: string; method: string | undefined; headers: unknown }[] = []
  const fetchFn: FetchFn = async (url, { method, headers }) => {
    requests.push({ url, method, headers })
    if (url.startsWith('https://blocked.')) return { blocked: 'for a reason' }
    const target = redirects[url]
    if (target === undefined) return new Response('here')
    const [status, location] = Array.isArray(target) ? target : ([302, target] as const)
    return new Response(null, { status, ...(location !== null && { headers: { Location: location } }) })
  }
  return { fetchFn, requests }
}

const a = 'https://a.example/card'
const b = 'https://b.example/'
const at = (path: string) => `https://a.example/${path}`
const get = ({ fetchFn }: ReturnType<typeof startNetwork>, headers: Omit<FetchOptions, 'accepts'> = {}) =>
  fetchFollowingRedirects(a, headers, fetchFn, AbortSignal.any([]))
const chain = { [a]: '/1', [at('1')]: '/2', [at('2')]: '/3' }

describe('fetchFollowingRedirects', () => {
  it('follows up to three redirects, with GET', async () => {
    for (const [redirects, ...urls] of [
      [{}],
      [{ [a]: [301, b] }, b],
      [{ [a]: [302, b] }, b],
      [{ [a]: [303, b] }, b],
      [{ [a]: [307, b] }, b],
      [{ [a]: [308, b] }, b],
      [{ [a]: '/other?a=1' }, at('other?a=1')],
      [{ [a]: 'other#part' }, at('other')],
      [{ [a]: '//b.example' }, b],
      [chain, at('1'), at('2'), at('3')],
    ] as [Redirects, ...string[]][]) {
      const network = startNetwork(redirects)
      const followed = await get(network)
      expect(followed).toMatchObject({ redirected: urls.length > 0, url: urls.at(-1) ?? a })
      expect('response' in followed && (await followed.response.text())).toBe('here')
      expect(network.requests.map(({ url, method }) => `${method} ${url}`)).toEqual(
        [a, ...urls].map(url => `GET ${url}`),
      )
    }
  })

  it('rejects more redirects, circles, and redirects to no address or to a blocked one', async () => {
    const inCircle = { failed: 'redirect', detail: 'in a circle' }
    const noAddress = { failed: 'redirect', detail: 'to no address' }
    const notHttps = { failed: 'blocked', detail: 'a redirect away from https' }
    for (const [redirects, failure, count] of [
      [{ ...chain, [at('3')]: '/4' }, { failed: 'redirect', detail: 'more than 3 times' }, 4],
      [{ [a]: a }, inCircle, 1],
      [{ [a]: '#part' }, inCircle, 1],
      [{ [a]: '/1', [at('1')]: a }, inCircle, 2],
      [{ [a]: null }, noAddress, 1],
      [{ [a]: 'https://' }, noAddress, 1],
      [{ [a]: 'http://a.example/card' }, notHttps, 1],
      [{ [a]: 'file:///etc/passwd' }, notHttps, 1],
      [{ [a]: 'https://blocked.example/' }, { failed: 'blocked', detail: 'for a reason' }, 2],
    ] as [Redirects, object, number][]) {
      const network = startNetwork(redirects)
      expect([redirects, await get(network), network.requests.length]).toEqual([redirects, failure, count])
    }
  })

  it('returns a response with another status, which is no redirect', async () => {
    for (const status of [300, 304, 305, 306])
      expect(await get(startNetwork({ [a]: [status, b] }))).toMatchObject({ response: { status }, redirected: false })
  })
})

describe('the headers of redirected requests', () => {
  it('include validators for the first URL only, and credentials until the first request to another origin', async () => {
    const headers = {
      headers: { Accept: 'x' },
      credentials: { Authorization: 'y' },
      validators: { 'If-None-Match': 'z' },
    }
    const all = { Accept: 'x', Authorization: 'y', 'If-None-Match': 'z' }
    const withoutCredentials = { Accept: 'x' }
    for (const [redirects, ...expected] of [
      [{}],
      [{ [a]: '/1' }, { Accept: 'x', Authorization: 'y' }],
      [{ [a]: b }, withoutCredentials],
      [{ [a]: 'https://b.a.example/' }, withoutCredentials],
      [{ [a]: 'https://a.example:8443/' }, withoutCredentials],
      [{ [a]: b, [b]: at('2') }, withoutCredentials, withoutCredentials],
    ] as [Redirects, ...object[]][]) {
      const network = startNetwork(redirects)
      await get(network, headers)
      expect([redirects, ...network.requests.map(({ headers }) => headers)]).toEqual([redirects, all, ...expected])
    }
  })
})
