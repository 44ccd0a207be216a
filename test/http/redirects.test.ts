import { describe, expect, it } from 'vitest'
import { type FetchFn, fetchFollowingRedirects, type GetHeaders } from '../../src/http/safe-fetch.ts'

/** Returns a `fetch` with the given redirects, which responds with 200 to all other URLs, and the requests it received. */
const startNetwork = (redirects: Record<string, string | null | [status: number, location: string]>) => {
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
const get = ({ fetchFn }: ReturnType<typeof startNetwork>, headers: GetHeaders = {}, address = a) =>
  fetchFollowingRedirects(address, headers, fetchFn, { signal: AbortSignal.any([]) })

describe('fetchFollowingRedirects', () => {
  it.each([
    ['no redirect', {}, [a]],
    ['a 301', { [a]: [301, 'https://b.example/'] }, [a, 'https://b.example/']],
    ['a 302', { [a]: [302, 'https://b.example/'] }, [a, 'https://b.example/']],
    ['a 303', { [a]: [303, 'https://b.example/'] }, [a, 'https://b.example/']],
    ['a 307', { [a]: [307, 'https://b.example/'] }, [a, 'https://b.example/']],
    ['a 308', { [a]: [308, 'https://b.example/'] }, [a, 'https://b.example/']],
    ['a redirect to a path', { [a]: '/other?a=1' }, [a, 'https://a.example/other?a=1']],
    ['a redirect to a relative reference', { [a]: 'other#part' }, [a, 'https://a.example/other']],
    ['a redirect to another host with the same scheme', { [a]: '//b.example' }, [a, 'https://b.example/']],
    [
      'three redirects',
      { [a]: '/1', 'https://a.example/1': '/2', 'https://a.example/2': '/3' },
      [a, 'https://a.example/1', 'https://a.example/2', 'https://a.example/3'],
    ],
  ] as const)('follows %s', async (_, redirects, urls) => {
    const network = startNetwork(redirects as never)
    const followed = await get(network)
    expect([
      'response' in followed && (await followed.response.text()),
      'redirected' in followed && followed.redirected,
      network.requests.map(({ url, method }) => `${method} ${url}`),
    ]).toEqual(['here', urls.length > 1, urls.map(url => `GET ${url}`)])
  })

  it.each([
    [
      'a fourth redirect',
      { [a]: '/1', 'https://a.example/1': '/2', 'https://a.example/2': '/3', 'https://a.example/3': '/4' },
      { failed: 'redirect', detail: 'more than 3 times' },
      4,
    ],
    ['a redirect to the same URL', { [a]: a }, { failed: 'redirect', detail: 'in a circle' }, 1],
    ['a redirect to a fragment of the same URL', { [a]: '#part' }, { failed: 'redirect', detail: 'in a circle' }, 1],
    ['a redirect back', { [a]: '/1', 'https://a.example/1': a }, { failed: 'redirect', detail: 'in a circle' }, 2],
    ['a redirect without a Location', { [a]: null }, { failed: 'redirect', detail: 'to no address' }, 1],
    ['a redirect to an invalid URL', { [a]: 'https://' }, { failed: 'redirect', detail: 'to no address' }, 1],
    [
      'a redirect from https to http',
      { [a]: 'http://a.example/card' },
      { failed: 'blocked', detail: 'a redirect away from https' },
      1,
    ],
    [
      'a redirect to a file',
      { [a]: 'file:///etc/passwd' },
      { failed: 'blocked', detail: 'a redirect away from https' },
      1,
    ],
    [
      'a redirect to a blocked URL',
      { [a]: 'https://blocked.example/' },
      { failed: 'blocked', detail: 'for a reason' },
      2,
    ],
  ])('rejects %s', async (_, redirects, failure, count) => {
    const network = startNetwork(redirects)
    expect([await get(network), network.requests.length]).toEqual([failure, count])
  })

  it.each([[300], [304], [305], [306]])('returns a response with the status %i, which is no redirect', async status => {
    const followed = await get(startNetwork({ [a]: [status, 'https://b.example/'] }))
    expect(followed).toMatchObject({ response: { status }, redirected: false })
  })
})

describe('the headers of redirected requests', () => {
  const headers = {
    headers: { Accept: 'x' },
    credentials: { Authorization: 'y' },
    validators: { 'If-None-Match': 'z' },
  }
  const all = { Accept: 'x', Authorization: 'y', 'If-None-Match': 'z' }
  const withoutValidators = { Accept: 'x', Authorization: 'y' }
  const withoutCredentials = { Accept: 'x' }
  it.each<[string, Record<string, string>, object[]]>([
    ['are all sent to the first URL', {}, [all]],
    ['include no validators after a redirect in the same origin', { [a]: '/1' }, [all, withoutValidators]],
    ['include no credentials for another host', { [a]: 'https://b.example/' }, [all, withoutCredentials]],
    ['include no credentials for a subdomain', { [a]: 'https://b.a.example/' }, [all, withoutCredentials]],
    ['include no credentials for another port', { [a]: 'https://a.example:8443/' }, [all, withoutCredentials]],
    [
      'include no credentials after a redirect back to the first origin',
      { [a]: 'https://b.example/', 'https://b.example/': 'https://a.example/2' },
      [all, withoutCredentials, withoutCredentials],
    ],
  ])('%s', async (_, redirects, expected) => {
    const network = startNetwork(redirects)
    await get(network, headers)
    expect(network.requests.map(({ headers }) => headers)).toEqual(expected)
  })
})
