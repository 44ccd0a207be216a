import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { blockReason, parseOrigins, safeFetch } from '../../src/http/safe-fetch.ts'
import { reply, startUpstream, type UpstreamServer } from '../support/upstream.ts'

/** Addresses by the reason for which they are blocked: hosts stand for https URLs. */
const blocked: Record<string, string> = {
  'not a URL': `
    /a2a https:// 1.2.3.4.5 256.1.1.1 agent.example.com%40127.0.0.1 127.0.0.1%00.example.com agent.example.0x7f
    agent.example.1 https://[fe80::1%25eth0]/ https://[::1].example.com/`,
  'not https': `
    http://agent.example.com/ ftp://agent.example.com/ file:///etc/passwd data:application/json,{}
    blob:https://agent.example.com/1`,
  'contains a user name or password': `
    https://user@agent.example.com/ https://user:secret@agent.example.com/ https://:secret@agent.example.com/
    https://agent.example.com@127.0.0.1/`,
  'a port other than 443': `
    https://agent.example.com:8443/ https://agent.example.com:80/`,
  'an IP address': `
    127.0.0.1 127.0.0.1. 127.1 2130706433 0x7f000001 0x7f.0.0.1 0177.0.0.1 017700000001 %31%32%37.0.0.1 ①②⑦.⓪.⓪.①
    127。0。0。1 8.8.8.8 https://169.254.169.254/latest/meta-data 0 0 127.0.1 0x7F.0x0.0x0.0x1 0x7f.1 0177.1
    00000177.0.0.01 127.0x000001 https://0xA9FEA9FE/latest/meta-data https://2852039166/latest/meta-data
    0251.0376.0251.0376 0xa9.254.0251.254 169.254.43518 １２７.０.０.１ 127．0．0．1 127｡0｡0｡1 ①②⑦.0.0.① 𝟙𝟚𝟟.𝟘.𝟘.𝟙
    ⑯⑨.254.⑯⑨.254 0ｘ7f.1 https:127.0.0.1 https:/127.0.0.1 https:///127.0.0.1 https://127.0.0.1#@agent.example.com/
    https://127.0.0.1?@agent.example.com/ 127.0.0.1.. 10.0.0.1 100.64.0.1 https://100.100.100.200/latest/meta-data
    172.16.0.1 192.168.1.1 224.0.0.1 255.255.255.255 https://[::]/ https://[0:0:0:0:0:0:0:1]/
    https://[0000:0000:0000:0000:0000:0000:0000:0001]/ https://[::127.0.0.1]/ https://[::ffff:7f00:1]/
    https://[::FFFF:0:127.0.0.1]/ https://[64:ff9b::127.0.0.1]/ https://[2002:7f00:1::]/ https://[64:ff9b:1::a00:1]/
    https://[::ffff:0:10.0.0.1]/ https://[2001:0:a00:1::]/ https://[2001:db8::1]/ https://[100::1]/ 192.0.2.1
    https://[fe80::1]/ https://[fd00:ec2::254]/ https://[ff02::1]/ https://[::1]/ https://[::ffff:127.0.0.1]/
    https://[2606:4700::1111]/ https://[fd00::1]/`,
  'not a public name': `
    localhost LOCALHOST ｌｏｃａｌｈｏｓｔ localhost. agent.example.com. intranet printer.local app.localhost
    localhost.localdomain https://metadata.google.internal/computeMetadata/v1/ METADATA.google.INTERNAL
    metadata.goog kubernetes.default.svc kubernetes.default.svc.cluster.local nas.home.arpa 1.0.0.127.in-addr.arpa
    router.lan wiki.corp agent.test ｍetadata.goo𝗀 instance-data instance-data.ec2.internal metadata.tencentyun.com
    host.docker.internal agent.service.consul agent.intranet agent.onion b.local。 b.%6cocal b.LOCAL agent.invalid`,
  'a name for any address': `
    127.0.0.1.nip.io 7f000001.sslip.io localtest.me agent.lvh.me`,
}
/** Addresses with spaces, line breaks or backslashes, by the same reasons. */
const blockedAsWritten: [address: string, reason: string][] = [
  ['', 'not a URL'],
  ['https://127.0.0.1 .example.com/', 'not a URL'],
  ['https://127.0\u00ad.0.1/', 'an IP address'],
  ['https://127.0.0\u200b.1/', 'an IP address'],
  ['https://1\t27.0.0.1/', 'an IP address'],
  ['https://127.0.\n0.1/', 'an IP address'],
  [' https://127.0.0.1/ ', 'an IP address'],
  ['https:\\\\127.0.0.1\\a', 'an IP address'],
  ['https://127.0.0.1\\@agent.example.com/', 'an IP address'],
  ['https://b.lo\u00adcal/', 'not a public name'],
]

describe('blockReason', () => {
  it('returns undefined for a public https URL', () => {
    for (const address of [
      'https://agent.example.com/a2a',
      'https://agent.example.com:443/a2a?tenant=1#part',
      'HTTPS://AGENT.EXAMPLE.COM',
      'https://xn--bcher-kva.example/a2a',
      'https://10.example.com',
      'https://internal.example.com',
      'https://localhost.example.com',
      'https://mylocal.de',
    ])
      expect(blockReason(address), address).toBeUndefined()
  })

  it('returns why any other address is blocked', () => {
    const inLists = Object.entries(blocked).flatMap(([reason, list]) =>
      list
        .split(/\s+/)
        .filter(Boolean)
        .map((text): [string, string] => [/^[\w+.-]+:|^\//.test(text) ? text : `https://${text}/`, reason]),
    )
    expect(inLists).toHaveLength(123)
    for (const [address, reason] of [...inLists, ...blockedAsWritten])
      expect([address, blockReason(address)]).toEqual([address, reason])
  })

  it('returns undefined for a URL of an allowed origin', () => {
    for (const [address, allowed] of [
      ['http://localhost:9999/a2a', 'http://localhost:9999'],
      ['http://localhost:9999/a2a', 'http://127.0.0.1:8787 http://localhost:9999'],
      ['http://localhost:9999/a2a', ' http://127.0.0.1:8787,http://localhost:9999/ ,'],
      ['https://[::1]:8443/', 'https://[::1]:8443'],
      ['https://agent.example.com:8443/', 'https://agent.example.com:8443'],
      ['http://0x7f.1:80/', 'http://127.0.0.1'],
    ] as const)
      expect([address, blockReason(address, parseOrigins(allowed))]).toEqual([address, undefined])
  })

  it('exempts no other URL, whose port, scheme or host differs or which has credentials or no origin', () => {
    for (const [address, reason, allowed] of [
      ['http://localhost:9998/', 'not https', 'http://localhost:9999'],
      ['https://localhost:9999/', 'a port other than 443', 'http://localhost:9999'],
      ['http://evil-localhost:9999/', 'not https', 'http://localhost:9999'],
      ['http://localhost.example.com:9999/', 'not https', 'http://localhost:9999'],
      ['http://user:secret@localhost:9999/', 'contains a user name or password', 'http://localhost:9999'],
      ['blob:http://localhost:9999/1', 'not https', 'http://localhost:9999'],
      ['file:///etc/passwd', 'not https', 'file:///'],
      ['http://localhost:9999/', 'not https', '* null localhost:9999 //localhost:9999'],
      ['http://localhost:9999/', 'not https', ''],
    ] as const)
      expect([address, blockReason(address, parseOrigins(allowed))]).toEqual([address, reason])
  })
})

describe('safeFetch', () => {
  let server: UpstreamServer
  let origin: string
  beforeAll(async () => {
    server = await startUpstream()
    server.respond(reply(307, { Location: '/other' }, ''))
    origin = server.origin
  })
  afterAll(() => server.close())
  const paths = () => server.requests.map(({ path }) => path)

  it('makes no request for a blocked URL, and returns every reason in the same form', async () => {
    const spy = vi.spyOn(globalThis, 'fetch')
    expect(await safeFetch(`${origin}/`, {})).toEqual({ blocked: 'not https' })
    expect(await safeFetch('https://localhost/', {})).toEqual({ blocked: 'not a public name' })
    expect([spy.mock.calls, paths()]).toEqual([[], []])
  })

  it('returns a redirect without following it, even with redirect: "follow"', async () => {
    const response = await safeFetch(`${origin}/first`, { redirect: 'follow' }, new Set([origin]))
    expect([response instanceof Response && response.status, paths()]).toEqual([307, ['/first']])
  })
})
