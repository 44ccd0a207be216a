import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { minimalCard } from '../support/cards/cards.ts'
import { type Host, sharedHost, token } from '../support/host.ts'

let host: Host
beforeAll(async () => {
  host = sharedHost()
  await host.put('malformed', minimalCard)
})

/** What a client does after it has sent everything. */
type End = 'waits' | 'closes' | 'resets'

/** Sends the parts of a request one by one, and returns the first line of the response; empty if there is none. */
const sendParts = (parts: (string | Buffer)[], end: End): Promise<string> =>
  new Promise(resolve => {
    const socket = connect(Number(host.url.port), host.url.hostname)
    let received = ''
    socket
      .on('data', chunk => {
        received += chunk.toString('latin1')
        // A host that answers before the end of a body may keep the connection open.
        if (end === 'waits' && received.includes('\r\n')) socket.destroy()
      })
      .on('error', () => undefined)
      .on('close', () => resolve(received.split('\r\n', 1)[0] ?? ''))
      .on('connect', async () => {
        for (const part of parts) {
          socket.write(part)
          await sleep(10)
        }
        if (end === 'closes') socket.end()
        if (end === 'resets') socket.resetAndDestroy()
      })
  })

const head = (method: string, path: string, headers: string, name = host.url.host): string =>
  `${method} ${path} HTTP/1.1\r\nHost: ${name}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`

/** Returns the lines of the log that no other test has caused: of errors that nothing in the host expects. */
const faults = () =>
  host
    .logged()
    .filter(line => !/^\{"event":/.test(line) || /^\{"event":"(?:unexpected|storage-unavailable)"/.test(line))

const json = JSON.stringify(minimalCard)
const notUtf8 = Buffer.from([0x7b, 0xff, 0xfe, 0x7d])
const chunked = 'Transfer-Encoding: chunked'
const uploads: [string, string, (string | Buffer)[], End][] = [
  ['a chunk without a size', chunked, ['zzz\r\n', json], 'waits'],
  ['a chunk of more bytes than a number can count', chunked, ['FFFFFFFFFFFFFFFFFF\r\n', json], 'waits'],
  ['half a chunk, and a reset', chunked, ['fff\r\n', json], 'resets'],
  ['fewer bytes than Content-Length', 'Content-Length: 5000', [json], 'closes'],
  ['more bytes than Content-Length', 'Content-Length: 5', [json], 'waits'],
  ['a negative Content-Length', 'Content-Length: -5', [json], 'waits'],
  ['two Content-Lengths', 'Content-Length: 5\r\nContent-Length: 6', [json], 'waits'],
  ['no UTF-8', 'Content-Length: 4', [notUtf8], 'waits'],
  ['nothing after 100-continue', 'Expect: 100-continue\r\nContent-Length: 50', [], 'resets'],
]
const endpoints = [
  ['PUT', '/agents/malformed'],
  ['POST', '/lint'],
  ['POST', '/agents/malformed/a2a/message:send'],
  ['POST', '/a2a'],
  ['POST', '/rpc'],
] as const

it('answers a malformed or aborted upload with 400 or not at all, which is no fault of the host', async () => {
  for (const [what, headers, parts, end] of uploads) {
    const requests = endpoints.map(([method, path]) => sendParts([head(method, path, headers), ...parts], end))
    for (const line of await Promise.all(requests)) expect(line, what).toMatch(/^(?:$|HTTP\/1\.1 (?:400|100) )/)
    expect(faults(), what).toEqual([])
  }
})

describe('a request without a valid URL', () => {
  it('is answered with 400 where the URL matters', async () => {
    expect(await sendParts([head('GET', '*', 'X: 1')], 'waits')).toBe('HTTP/1.1 400 Bad Request')
    for (const name of ['exa mple', '[::1']) {
      const get = (path: string) => sendParts([head('GET', path, 'X: 1', name)], 'waits')
      const upload = ([method, path]: (typeof endpoints)[number]) =>
        sendParts([head(method, path, `Content-Length: ${json.length}`, name), json], 'waits')
      const lines = await Promise.all(['/.well-known/agent.json', '/agents', '/nothing'].map(get))
      expect(lines, name).toEqual(Array(3).fill('HTTP/1.1 400 Bad Request'))
      for (const line of await Promise.all(endpoints.map(upload))) expect(line).toMatch(/^HTTP\/1\.1 (?:200|4\d\d) /)
      expect(faults(), name).toEqual([])
    }
  })
})
