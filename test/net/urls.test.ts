import { describe, expect, it } from 'vitest'
import { parseUrl } from '../../src/net/urls.ts'

describe('parseUrl', () => {
  const label = 'a'.repeat(61)
  const longest = `${label}.${label}.${label}.${label}.com`

  it.each([
    [`https://${longest}:8443/path`, longest],
    [`https://a.example/${'b'.repeat(1000)}`, 'a.example'],
    [`https://a.example?${'b'.repeat(1000)}`, 'a.example'],
    [`https://a.example#${'b'.repeat(1000)}`, 'a.example'],
    ['https://bücher.example/', 'xn--bcher-kva.example'],
    ['/path', undefined],
  ])('parses %s as URL.parse does', (text, hostname) => {
    expect(parseUrl(text)?.hostname).toBe(hostname)
  })

  it.each(['https://', 'HTTP:', ' https:\\', 'ht\ntps:\t//', 'https:///'])(
    'parses no host longer than a name in DNS after %j',
    prefix => {
      expect(parseUrl(`${prefix}${'\u0301\u0316'.repeat(130)}.example/`)).toBeNull()
      expect(parseUrl(`${prefix}a.example/`)?.hostname).toBe('a.example')
    },
  )

  it.each([
    ['/path', 'https://a.example/path'],
    ['//b.example/', 'https://b.example/'],
    [`${'b'.repeat(1000)}`, `https://a.example/${'b'.repeat(1000)}`],
  ])('resolves %s', (text, href) => {
    expect(parseUrl(text, 'https://a.example/c')?.href).toBe(href)
  })

  it.each(['//', '\\\\', '/\t/'])('resolves no long host after %j', prefix => {
    expect(parseUrl(`${prefix}${'b'.repeat(300)}`, 'https://a.example/')).toBeNull()
  })
})
