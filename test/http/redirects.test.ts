import { describe, expect, it } from 'vitest'
import { type FetchFn, fetchFollowingRedirects, type GetHeaders } from '../../src/http/safe-fetch.ts'

/** A network in which each address redirects to the next; the others answer. */
const network = (redirects: Record<string, string | null | [status: number, location: string]>) => {
  const asked: { url: string; method: string | undefined; headers: unknown }[] = []
  const ask: FetchFn = async (url, { method, headers }) => {
    asked.push({ url, method, headers })
    if (url.startsWith('https://blocked.')) return { blocked: 'for a reason' }
    const to = redirects[url]
    if (to === undefined) return new Response('here')
    const [status, location] = Array.isArray(to) ? to : ([302, to] as const)
    return new Response(null, { status, ...(location !== null && { headers: { Location: location } }) })
  }
  return { ask, asked }
}

const a = 'https://a.example/card'
const get = ({ ask }: ReturnType<typeof network>, headers: GetHeaders = {}, address = a) =>
  fetchFollowingRedirects(address, headers, ask, { signal: AbortSignal.any([]) })

describe('a redirect', () => {
  it.each([
    ['none', {}, [a]],
    ['of 301', { [a]: [301, 'https://b.example/'] }, [a, 'https://b.example/']],
    ['of 302', { [a]: [302, 'https://b.example/'] }, [a, 'https://b.example/']],
    ['of 303', { [a]: [303, 'https://b.example/'] }, [a, 'https://b.example/']],
    ['of 307', { [a]: [307, 'https://b.example/'] }, [a, 'https://b.example/']],
    ['of 308', { [a]: [308, 'https://b.example/'] }, [a, 'https://b.example/']],
    ['to a path', { [a]: '/other?a=1' }, [a, 'https://a.example/other?a=1']],
    ['to a file beside', { [a]: 'other#part' }, [a, 'https://a.example/other']],
    ['to another host of the same scheme', { [a]: '//b.example' }, [a, 'https://b.example/']],
    [
      'three times',
      { [a]: '/1', 'https://a.example/1': '/2', 'https://a.example/2': '/3' },
      [a, 'https://a.example/1', 'https://a.example/2', 'https://a.example/3'],
    ],
  ] as const)('is followed: %s', async (_, redirects, urls) => {
    const net = network(redirects as never)
    const followed = await get(net)
    expect([
      'response' in followed && (await followed.response.text()),
      'redirected' in followed && followed.redirected,
      net.asked.map(({ url, method }) => `${method} ${url}`),
    ]).toEqual(['here', urls.length > 1, urls.map(url => `GET ${url}`)])
  })

  it.each([
    [
      'a fourth time',
      { [a]: '/1', 'https://a.example/1': '/2', 'https://a.example/2': '/3', 'https://a.example/3': '/4' },
      { failed: 'redirect', detail: 'more than 3 times' },
      4,
    ],
    ['to itself', { [a]: a }, { failed: 'redirect', detail: 'in a circle' }, 1],
    ['to a part of itself', { [a]: '#part' }, { failed: 'redirect', detail: 'in a circle' }, 1],
    ['back', { [a]: '/1', 'https://a.example/1': a }, { failed: 'redirect', detail: 'in a circle' }, 2],
    ['nowhere', { [a]: null }, { failed: 'redirect', detail: 'to no address' }, 1],
    ['to no URL', { [a]: 'https://' }, { failed: 'redirect', detail: 'to no address' }, 1],
    [
      'away from https',
      { [a]: 'http://a.example/card' },
      { failed: 'blocked', detail: 'a redirect away from https' },
      1,
    ],
    ['to a file', { [a]: 'file:///etc/passwd' }, { failed: 'blocked', detail: 'a redirect away from https' }, 1],
    ['to what is blocked', { [a]: 'https://blocked.example/' }, { failed: 'blocked', detail: 'for a reason' }, 2],
  ])('is not followed: %s', async (_, redirects, failure, count) => {
    const net = network(redirects)
    expect([await get(net), net.asked.length]).toEqual([failure, count])
  })

  it.each([[300], [304], [305], [306]])('is none: %s', async status => {
    const followed = await get(network({ [a]: [status, 'https://b.example/'] }))
    expect(followed).toMatchObject({ response: { status }, redirected: false })
  })
})

describe('what a request says of itself', () => {
  const headers = {
    headers: { Accept: 'x' },
    credentials: { Authorization: 'y' },
    validators: { 'If-None-Match': 'z' },
  }
  const everything = { Accept: 'x', Authorization: 'y', 'If-None-Match': 'z' }
  const known = { Accept: 'x', Authorization: 'y' }
  const stranger = { Accept: 'x' }
  it.each<[string, Record<string, string>, object[]]>([
    ['stays at the address', {}, [everything]],
    ['is but the validators on the same origin', { [a]: '/1' }, [everything, known]],
    ['is without credentials on another host', { [a]: 'https://b.example/' }, [everything, stranger]],
    ['is without credentials on a host below', { [a]: 'https://b.a.example/' }, [everything, stranger]],
    ['is without credentials on another port', { [a]: 'https://a.example:8443/' }, [everything, stranger]],
    [
      'is without credentials on the way back',
      { [a]: 'https://b.example/', 'https://b.example/': 'https://a.example/2' },
      [everything, stranger, stranger],
    ],
  ])('%s', async (_, redirects, sent) => {
    const net = network(redirects)
    await get(net, headers)
    expect(net.asked.map(each => each.headers)).toEqual(sent)
  })
})
