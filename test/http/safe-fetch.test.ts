import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { blockReason, safeFetch } from '../../src/http/safe-fetch.ts'
import { reply, startUpstream, type UpstreamServer } from '../support/upstream.ts'

describe('blockReason', () => {
  it.each([
    ['https://agent.example.com/a2a'],
    ['https://agent.example.com:443/a2a?tenant=1#part'],
    ['HTTPS://AGENT.EXAMPLE.COM'],
    ['https://xn--bcher-kva.example/a2a'],
    ['https://10.example.com'],
    ['https://internal.example.com'],
    ['https://localhost.example.com'],
    ['https://mylocal.de'],
  ])('returns undefined for a public https URL: %s', address => {
    expect(blockReason(address)).toBeUndefined()
  })

  it.each([
    ['', 'not a URL'],
    ['/a2a', 'not a URL'],
    ['https://', 'not a URL'],
    ['https://1.2.3.4.5/', 'not a URL'],
    ['https://256.1.1.1/', 'not a URL'],
    ['http://agent.example.com/', 'not https'],
    ['ftp://agent.example.com/', 'not https'],
    ['file:///etc/passwd', 'not https'],
    ['data:application/json,{}', 'not https'],
    ['blob:https://agent.example.com/1', 'not https'],
    ['https://user@agent.example.com/', 'contains a user name or password'],
    ['https://user:secret@agent.example.com/', 'contains a user name or password'],
    ['https://:secret@agent.example.com/', 'contains a user name or password'],
    ['https://agent.example.com:8443/', 'a port other than 443'],
    ['https://agent.example.com:80/', 'a port other than 443'],
    ['https://127.0.0.1/', 'an IP address'],
    ['https://127.0.0.1./', 'an IP address'],
    ['https://127.1/', 'an IP address'],
    ['https://2130706433/', 'an IP address'],
    ['https://0x7f000001/', 'an IP address'],
    ['https://0x7f.0.0.1/', 'an IP address'],
    ['https://0177.0.0.1/', 'an IP address'],
    ['https://017700000001/', 'an IP address'],
    ['https://%31%32%37.0.0.1/', 'an IP address'],
    ['https://①②⑦.⓪.⓪.①/', 'an IP address'],
    ['https://127。0。0。1/', 'an IP address'],
    ['https://8.8.8.8/', 'an IP address'],
    ['https://169.254.169.254/latest/meta-data', 'an IP address'],
    ['https://0/', 'an IP address'],
    ['https://0', 'an IP address'],
    ['https://127.0.1', 'an IP address'],
    ['https://0x7F.0x0.0x0.0x1', 'an IP address'],
    ['https://0x7f.1', 'an IP address'],
    ['https://0177.1', 'an IP address'],
    ['https://00000177.0.0.01', 'an IP address'],
    ['https://127.0x000001', 'an IP address'],
    ['https://0xA9FEA9FE/latest/meta-data', 'an IP address'],
    ['https://2852039166/latest/meta-data', 'an IP address'],
    ['https://0251.0376.0251.0376', 'an IP address'],
    ['https://0xa9.254.0251.254', 'an IP address'],
    ['https://169.254.43518', 'an IP address'],
    ['https://１２７.０.０.１/', 'an IP address'],
    ['https://127．0．0．1/', 'an IP address'],
    ['https://127｡0｡0｡1/', 'an IP address'],
    ['https://①②⑦.0.0.①/', 'an IP address'],
    ['https://𝟙𝟚𝟟.𝟘.𝟘.𝟙/', 'an IP address'],
    ['https://⑯⑨.254.⑯⑨.254/', 'an IP address'],
    ['https://0ｘ7f.1/', 'an IP address'],
    ['https://127.0\u00ad.0.1/', 'an IP address'],
    ['https://127.0.0\u200b.1/', 'an IP address'],
    ['https://1\t27.0.0.1/', 'an IP address'],
    ['https://127.0.\n0.1/', 'an IP address'],
    [' https://127.0.0.1/ ', 'an IP address'],
    ['https:127.0.0.1', 'an IP address'],
    ['https:/127.0.0.1', 'an IP address'],
    ['https:///127.0.0.1', 'an IP address'],
    ['https:\\\\127.0.0.1\\a', 'an IP address'],
    ['https://127.0.0.1\\@agent.example.com/', 'an IP address'],
    ['https://127.0.0.1#@agent.example.com/', 'an IP address'],
    ['https://127.0.0.1?@agent.example.com/', 'an IP address'],
    ['https://agent.example.com@127.0.0.1/', 'contains a user name or password'],
    ['https://agent.example.com%40127.0.0.1/', 'not a URL'],
    ['https://127.0.0.1%00.example.com/', 'not a URL'],
    ['https://127.0.0.1 .example.com/', 'not a URL'],
    ['https://agent.example.0x7f/', 'not a URL'],
    ['https://agent.example.1/', 'not a URL'],
    ['https://127.0.0.1..', 'an IP address'],
    ['https://10.0.0.1/', 'an IP address'],
    ['https://100.64.0.1/', 'an IP address'],
    ['https://100.100.100.200/latest/meta-data', 'an IP address'],
    ['https://172.16.0.1/', 'an IP address'],
    ['https://192.168.1.1/', 'an IP address'],
    ['https://224.0.0.1/', 'an IP address'],
    ['https://255.255.255.255/', 'an IP address'],
    ['https://[::]/', 'an IP address'],
    ['https://[0:0:0:0:0:0:0:1]/', 'an IP address'],
    ['https://[0000:0000:0000:0000:0000:0000:0000:0001]/', 'an IP address'],
    ['https://[::127.0.0.1]/', 'an IP address'],
    ['https://[::ffff:7f00:1]/', 'an IP address'],
    ['https://[::FFFF:0:127.0.0.1]/', 'an IP address'],
    ['https://[64:ff9b::127.0.0.1]/', 'an IP address'],
    ['https://[2002:7f00:1::]/', 'an IP address'],
    ['https://[64:ff9b:1::a00:1]/', 'an IP address'],
    ['https://[::ffff:0:10.0.0.1]/', 'an IP address'],
    ['https://[2001:0:a00:1::]/', 'an IP address'],
    ['https://[2001:db8::1]/', 'an IP address'],
    ['https://[100::1]/', 'an IP address'],
    ['https://192.0.2.1/', 'an IP address'],
    ['https://[fe80::1]/', 'an IP address'],
    ['https://[fe80::1%25eth0]/', 'not a URL'],
    ['https://[fd00:ec2::254]/', 'an IP address'],
    ['https://[ff02::1]/', 'an IP address'],
    ['https://[::1].example.com/', 'not a URL'],
    ['https://[::1]/', 'an IP address'],
    ['https://[::ffff:127.0.0.1]/', 'an IP address'],
    ['https://[2606:4700::1111]/', 'an IP address'],
    ['https://[fd00::1]/', 'an IP address'],
    ['https://localhost/', 'not a public name'],
    ['https://LOCALHOST/', 'not a public name'],
    ['https://ｌｏｃａｌｈｏｓｔ/', 'not a public name'],
    ['https://localhost./', 'not a public name'],
    ['https://agent.example.com./', 'not a public name'],
    ['https://intranet/', 'not a public name'],
    ['https://printer.local/', 'not a public name'],
    ['https://app.localhost/', 'not a public name'],
    ['https://localhost.localdomain/', 'not a public name'],
    ['https://metadata.google.internal/computeMetadata/v1/', 'not a public name'],
    ['https://METADATA.google.INTERNAL/', 'not a public name'],
    ['https://metadata.goog/', 'not a public name'],
    ['https://kubernetes.default.svc/', 'not a public name'],
    ['https://kubernetes.default.svc.cluster.local/', 'not a public name'],
    ['https://nas.home.arpa/', 'not a public name'],
    ['https://1.0.0.127.in-addr.arpa/', 'not a public name'],
    ['https://router.lan/', 'not a public name'],
    ['https://wiki.corp/', 'not a public name'],
    ['https://agent.test/', 'not a public name'],
    ['https://ｍetadata.goo𝗀/', 'not a public name'],
    ['https://instance-data/', 'not a public name'],
    ['https://instance-data.ec2.internal/', 'not a public name'],
    ['https://metadata.tencentyun.com/', 'not a public name'],
    ['https://host.docker.internal/', 'not a public name'],
    ['https://agent.service.consul/', 'not a public name'],
    ['https://agent.intranet/', 'not a public name'],
    ['https://agent.onion/', 'not a public name'],
    ['https://b.local。/', 'not a public name'],
    ['https://b.%6cocal/', 'not a public name'],
    ['https://b.lo\u00adcal/', 'not a public name'],
    ['https://b.LOCAL/', 'not a public name'],
    ['https://127.0.0.1.nip.io/', 'a name for any address'],
    ['https://7f000001.sslip.io/', 'a name for any address'],
    ['https://localtest.me/', 'a name for any address'],
    ['https://agent.lvh.me/', 'a name for any address'],
    ['https://agent.invalid/', 'not a public name'],
  ])('blocks %j: %s', (address, reason) => {
    expect(blockReason(address)).toBe(reason)
  })

  it('blocks IPv4 addresses in every notation', () => {
    const part = (value: number) =>
      fc.constantFrom(`${value}`, `0${value.toString(8)}`, `0x${value.toString(16)}`, `0X00${value.toString(16)}`)
    const address = fc.tuple(fc.nat(2 ** 32 - 1), fc.integer({ min: 1, max: 4 })).chain(([number, parts]) => {
      const bytes = [24, 16, 8].slice(0, parts - 1).map(shift => (number >>> shift) & 255)
      const rest = number % 2 ** (8 * (5 - parts))
      return fc.tuple(...[...bytes, rest].map(part), fc.constantFrom('', '.')).map(texts => {
        const dot = texts.pop()
        return texts.join('.') + dot
      })
    })
    fc.assert(fc.property(address, host => blockReason(`https://${host}/`) === 'an IP address'))
  })

  it.each([
    ['http://localhost:9999/a2a', 'http://localhost:9999'],
    ['http://localhost:9999/a2a', 'http://127.0.0.1:8787 http://localhost:9999'],
    ['http://localhost:9999/a2a', ' http://127.0.0.1:8787,http://localhost:9999/ ,'],
    ['https://[::1]:8443/', 'https://[::1]:8443'],
    ['https://agent.example.com:8443/', 'https://agent.example.com:8443'],
    ['http://0x7f.1:80/', 'http://127.0.0.1'],
  ])('returns undefined for a URL of an allowed origin: %s of %j', (address, allowed) => {
    expect(blockReason(address, allowed)).toBeUndefined()
  })

  it.each([
    ['another port', 'http://localhost:9998/', 'http://localhost:9999'],
    ['another scheme', 'https://localhost:9999/', 'http://localhost:9999'],
    ['a host name with the same suffix', 'http://evil-localhost:9999/', 'http://localhost:9999'],
    ['a host name with the same prefix', 'http://localhost.example.com:9999/', 'http://localhost:9999'],
    ['a URL with credentials', 'http://user:secret@localhost:9999/', 'http://localhost:9999'],
    ['a blob URL', 'blob:http://localhost:9999/1', 'http://localhost:9999'],
    ['a URL without an origin', 'file:///etc/passwd', 'file:///'],
    ['a list of invalid origins', 'http://localhost:9999/', '* null localhost:9999 //localhost:9999'],
    ['an empty list', 'http://localhost:9999/', ''],
  ])('does not exempt %s', (_, address, allowed) => {
    expect(blockReason(address, allowed)).toBeTypeOf('string')
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
    const response = await safeFetch(`${origin}/first`, { redirect: 'follow' }, origin)
    expect([response instanceof Response && response.status, paths()]).toEqual([307, ['/first']])
  })
})
