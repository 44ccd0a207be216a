import { describe, expect, it } from 'vitest'
import { isPrivateHost } from '../../src/http/hosts.ts'
import { parseUrl } from '../../src/http/safe-fetch.ts'

describe('isPrivateHost', () => {
  const isPrivate = (host: string) => isPrivateHost(new URL(`https://${host}/`).hostname)

  it('returns true for names and addresses that are not public', () => {
    const hosts =
      `localhost localhost. LOCALHOST app.localhost printer.local tv.home printer.corp a.intranet b.private c.localdomain
      api.internal metadata.google.internal box.lan nas.home.arpa vault.svc agent.onion metadata.tencentyun.com
      intranet agent kubernetes.default.svc.local a.test b.invalid 127.0.0.1 127.1 2130706433 0x7f000001 017700000001 0.0.0.0
      10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.254 169.254.169.254 172.16.0.1 172.31.255.255 192.168.1.1 192.0.0.8
      198.18.0.1 198.19.255.255 224.0.0.1 240.0.0.1 255.255.255.255 [::] [::1] [::ffff:127.0.0.1] [::ffff:10.0.0.1]
      [::127.0.0.1] [64:ff9b::10.0.0.1] [64:ff9b::7f00:1] [fc00::1] [fd00:ec2::254] [fe80::1] [febf::1] [fec0::1] [ff02::1]
      [2002:a00:1::] [2002::1] [64:ff9b:1::a00:1] [64:ff9b::1.1.1.1] [::ffff:0:10.0.0.1] [2001:0:a00:1::] [2001:db8::1]
      [3fff::1] [100::1] 192.0.2.1 198.51.100.1 203.0.113.7 192.88.99.1`.split(/\s+/)
    expect(hosts.filter(host => !isPrivate(host))).toEqual([])
  })

  it('returns false for public ones', () => {
    const hosts =
      `example.com agent.example local.example.com localhost.example.com internal.acme.com my-localhost.dev homes.co test.io
      1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.0.0.1 128.0.0.1 169.253.0.1 169.255.0.1 172.15.0.1
      172.32.0.1 192.167.0.1 192.169.0.1 192.0.1.1 198.17.0.1 198.20.0.1 223.255.255.255 10.example.com
      [2606:4700::1111] [2606:4700::7f00:1] [::ffff:1.1.1.1] [2a00:1450::1]`.split(/\s+/)
    expect(hosts.filter(isPrivate)).toEqual([])
  })
})

describe('parseUrl', () => {
  const label = 'a'.repeat(61)
  const longest = `${label}.${label}.${label}.${label}.com`

  it('parses and resolves as URL.parse does', () => {
    for (const [text, hostname] of [
      [`https://${longest}:8443/path`, longest],
      [`https://a.example/${'b'.repeat(1000)}`, 'a.example'],
      [`https://a.example?${'b'.repeat(1000)}`, 'a.example'],
      [`https://a.example#${'b'.repeat(1000)}`, 'a.example'],
      ['https://bücher.example/', 'xn--bcher-kva.example'],
      ['/path', undefined],
    ] as const)
      expect(parseUrl(text)?.hostname, text).toBe(hostname)
    for (const [text, href] of [
      ['/path', 'https://a.example/path'],
      ['//b.example/', 'https://b.example/'],
      ['b'.repeat(1000), `https://a.example/${'b'.repeat(1000)}`],
    ] as const)
      expect(parseUrl(text, 'https://a.example/c')?.href).toBe(href)
  })

  it('parses and resolves no host longer than a name in DNS', () => {
    for (const prefix of ['https://', 'HTTP:', ' https:\\', 'ht\ntps:\t//', 'https:///']) {
      expect(parseUrl(`${prefix}${'\u0301\u0316'.repeat(130)}.example/`), prefix).toBeNull()
      expect(parseUrl(`${prefix}a.example/`)?.hostname).toBe('a.example')
    }
    for (const prefix of ['//', '\\\\', '/\t/'])
      expect(parseUrl(`${prefix}${'b'.repeat(300)}`, 'https://a.example/'), prefix).toBeNull()
  })
})
