import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { guardedFetch, whyBlocked } from '../../src/http/fetch-guard.ts'

describe('the addresses that this host calls', () => {
  it.each([
    ['https://agent.example.com/a2a'],
    ['https://agent.example.com:443/a2a?tenant=1#part'],
    ['HTTPS://AGENT.EXAMPLE.COM'],
    ['https://xn--bcher-kva.example/a2a'],
    ['https://10.example.com'],
    ['https://internal.example.com'],
    ['https://localhost.example.com'],
    ['https://mylocal.de'],
  ])('are public https ones: %s', address => {
    expect(whyBlocked(address)).toBeUndefined()
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
    ['https://user@agent.example.com/', 'holds a user name or password'],
    ['https://user:secret@agent.example.com/', 'holds a user name or password'],
    ['https://:secret@agent.example.com/', 'holds a user name or password'],
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
    ['https://agent.invalid/', 'not a public name'],
  ])('are not %j: %s', (address, why) => {
    expect(whyBlocked(address)).toBe(why)
  })

  it.each([
    ['http://localhost:9999/a2a', 'http://localhost:9999'],
    ['http://localhost:9999/a2a', 'http://127.0.0.1:8787 http://localhost:9999'],
    ['http://localhost:9999/a2a', ' http://127.0.0.1:8787,http://localhost:9999/ ,'],
    ['https://[::1]:8443/', 'https://[::1]:8443'],
    ['https://agent.example.com:8443/', 'https://agent.example.com:8443'],
    ['http://0x7f.1:80/', 'http://127.0.0.1'],
  ])('are also those of an allowed origin: %s of %j', (address, allowed) => {
    expect(whyBlocked(address, allowed)).toBeUndefined()
  })

  it.each([
    ['another port', 'http://localhost:9998/', 'http://localhost:9999'],
    ['another scheme', 'https://localhost:9999/', 'http://localhost:9999'],
    ['a name that ends like it', 'http://evil-localhost:9999/', 'http://localhost:9999'],
    ['a name that starts like it', 'http://localhost.example.com:9999/', 'http://localhost:9999'],
    ['its password', 'http://user:secret@localhost:9999/', 'http://localhost:9999'],
    ['a blob of it', 'blob:http://localhost:9999/1', 'http://localhost:9999'],
    ['what has no origin', 'file:///etc/passwd', 'file:///'],
    ['a list of nonsense', 'http://localhost:9999/', '* null localhost:9999 //localhost:9999'],
    ['an empty list', 'http://localhost:9999/', ''],
  ])('are not exempt for %s', (_, address, allowed) => {
    expect(whyBlocked(address, allowed)).toBeTypeOf('string')
  })
})

describe('guardedFetch', () => {
  const requests: string[] = []
  const server = createServer(({ url = '' }, response) => {
    requests.push(url)
    response.writeHead(307, { Location: '/elsewhere' }).end()
  })
  let origin: string
  beforeAll(async () => {
    await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => void server.close())

  it('makes no request of a blocked address, and tells every reason in the same way', async () => {
    const spy = vi.spyOn(globalThis, 'fetch')
    expect(await guardedFetch(`${origin}/`, {})).toEqual({ blocked: 'not https' })
    expect(await guardedFetch('https://localhost/', {})).toEqual({ blocked: 'not a public name' })
    expect([spy.mock.calls, requests]).toEqual([[], []])
    spy.mockRestore()
  })

  it('hands a redirect back and does not follow it, whatever the request says', async () => {
    const response = await guardedFetch(`${origin}/first`, { redirect: 'follow' }, origin)
    expect([response instanceof Response && response.status, requests]).toEqual([307, ['/first']])
  })
})
