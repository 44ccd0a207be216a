import { describe, expect, it } from 'vitest'
import { compile } from '../../src/card/compile/index.ts'
import { extractUrls, normalizeForSearch } from '../../src/net/hosts.ts'

describe('the hosts of the URLs in a text', () => {
  it.each<[string, string[]]>([
    ['https://a.example/x', ['a.example']],
    ['see http://a.example:80, wss://b.example:8443/y.', ['a.example', 'b.example:8443']],
    ['(https://a.example) <https://b.example>', ['a.example', 'b.example']],
    ['https://a.example./', ['a.example']],
    ['https://me:secret@a.example/', ['a.example']],
    ['http:////a.example', ['a.example']],
    ['http://0x7f.1/', ['127.0.0.1']],
    ['http://bücher.example', ['xn--bcher-kva.example']],
    ['https://a.example/?u=https://b.example', ['a.example', 'b.example']],
    ['//a.example/x', ['a.example']],
    ['test://static/x and note://a.b/x', ['a.b']],
    ['file:///etc/hosts', []],
    ['https://{host}/x, https://, either//or, 1 // 2', []],
  ])('%s', (text, hosts) => {
    expect(extractUrls(text).map(({ host }) => host)).toStrictEqual(hosts)
  })
})

describe('a text as it is searched', () => {
  it.each([
    ['HTTPS%3A%2F%2FA.example', 'https://a.example'],
    ['https%253A%252F%252Fa.example', 'https://a.example'],
    ['ａ．example。org', 'a.example.org'],
    ['100 % sure, %zz', '100 % sure, %zz'],
  ])('%s', (text, plain) => {
    expect(normalizeForSearch(text)).toBe(plain)
  })
})

describe('a text that is made to take long', () => {
  const upstream = { card: 'https://up.example/card.json', url: 'https://up.example/a2a/' }
  const most = 16 * 1000
  const endings = ['', 'x', '/', '.', ' up.example']

  it.each(
    [
      '/',
      '.',
      'a',
      'a:',
      '://',
      'a//',
      'http://',
      'http://a',
      '//@',
      '%25',
      '%2525',
      '[',
      '//[',
      'a.',
      '。',
      'ﷺ',
      'up.',
      'é.',
      'éa',
      '1.',
      '\u00ad',
      'version ',
    ].flatMap(part => [[part], [`https://up.example/${part}`]]),
  )('does not: %s again and again', part => {
    const text = part + part.slice(-2).repeat(Math.floor(most / 2))
    const fields = Object.fromEntries(endings.map((ending, n) => [`x${n}`, text.slice(0, most) + ending]))
    const started = performance.now()
    compile(
      { upstream, route: 'gateway' },
      { id: 'a', requestOrigin: 'https://h.example', fetched: { name: 'A', description: 'B', ...fields } },
    )
    expect(performance.now() - started).toBeLessThan(1000)
  })
})
