import type { ServerResponse } from 'node:http'
import { createParser } from 'eventsource-parser'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toJsonRpcError, toRestError } from '../../src/a2a/error-response.ts'
import type { CallError } from '../../src/a2a/errors.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
import { answer, call, message, message0 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import type { Host } from '../support/host.ts'
import { json, reply, stream } from '../support/upstream.ts'

let called: CalledHost<Host>
let impatient: CalledHost<Host>
beforeAll(async () => {
  called = await useSharedHost()
  impatient = await useSharedHost('impatient')
  for (const each of [called, impatient])
    await each.register('calls-streams', { card: agentCard(each.agent.origin), route: 'gateway' })
})
afterAll(async () => {
  await called.close()
  await impatient.close()
})

/** The ways to ask for a stream, and the error that ends one in the place of its agent. */
const ways: [string, string, JsonObject, (why: CallError) => object][] = [
  [
    'JSON-RPC 1.0',
    '',
    call('SendStreamingMessage'),
    why => ({ data: { jsonrpc: '2.0', id: 7, error: toJsonRpcError(why, '1.0') } }),
  ],
  [
    'JSON-RPC 0.3',
    '',
    call('message/stream', message0()),
    why => ({ data: { jsonrpc: '2.0', id: 7, error: toJsonRpcError(why, '0.3') } }),
  ],
  [
    'JSON-RPC 1.0, coming back',
    '',
    call('SubscribeToTask', { id: 't' }),
    why => ({ data: { jsonrpc: '2.0', id: 7, error: toJsonRpcError(why, '1.0') } }),
  ],
  ['HTTP+JSON 1.0', '/message:stream', message(), why => ({ event: 'error', data: toRestError(why, '1.0') })],
  ['HTTP+JSON 0.3', '/v1/message:stream', message0(), why => ({ event: 'error', data: toRestError(why, '0.3') })],
]

const ask = ({ host }: CalledHost<Host>, path: string, body: JsonObject, init: RequestInit = {}) =>
  host.fetch(`/agents/calls-streams/a2a${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Accept-Encoding': 'identity' },
    body: JSON.stringify(body),
    ...init,
  })

const readerOf = (response: Response) => {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const read = async (): Promise<string> => {
    const { done, value } = await reader.read()
    if (done) return ''
    const text = Buffer.from(value).toString()
    // What keeps a silent stream alive is no event.
    return /^(?::\n\n)+$/.test(text) ? read() : text.replace(/^(?::\n\n)+/, '')
  }
  return { read, cancel: () => reader.cancel() }
}

const eventsIn = (text: string) => {
  const events: { event?: string; data: unknown }[] = []
  createParser({ onEvent: ({ event, data }) => events.push({ ...(event && { event }), data: JSON.parse(data) }) }).feed(
    text,
  )
  return events
}

describe.each(ways)('a stream by %s', (_, path, body, last) => {
  it('brings each event before the agent sends the next', async () => {
    let connection: ServerResponse | undefined
    called.agent.respond(response => {
      connection = response
      response.writeHead(200, { ...stream, 'Set-Cookie': 'a=1' }).write('data: {"n":0}\n\n')
    })
    const response = await ask(called, path, body)
    expect([
      response.status,
      response.headers.get('content-type'),
      response.headers.get('cache-control'),
      response.headers.get('set-cookie'),
    ]).toEqual([200, 'text/event-stream', 'no-store', null])
    const { read } = readerOf(response)
    for (let n = 0; n < 5; n++) {
      expect(await read()).toBe(`data: {"n":${n}}\n\n`)
      // The agent has heard that its event arrived; only then it sends the next.
      connection?.write(`data: {"n":${n + 1}}\n\n`)
    }
    expect(await read()).toBe('data: {"n":5}\n\n')
    connection?.end()
    expect(await read()).toBe('')
    expect(called.agent.requests[0]?.headers.accept).toBe('text/event-stream')
  })

  it('that the client leaves ends at the agent', async () => {
    called.agent.respond(response => void response.writeHead(200, stream).write('data: {"n":0}\n\n'))
    const client = new AbortController()
    const { read } = readerOf(await ask(called, path, body, { signal: client.signal }))
    expect(await read()).toBe('data: {"n":0}\n\n')
    client.abort()
    await called.agent.disconnected()
  })

  it('that the client leaves while the agent goes on sending ends at the agent', async () => {
    called.agent.respond(response => {
      response.writeHead(200, stream)
      const sending = setInterval(() => response.write('data: {"n":0}\n\n'), 5)
      response.on('close', () => clearInterval(sending))
    })
    const { read, cancel } = readerOf(await ask(called, path, body))
    await read()
    await cancel()
    await called.agent.disconnected()
  })

  it('that goes silent is ended with an event that says so, and the agent is told', async () => {
    impatient.agent.respond(response => void response.writeHead(200, stream).write('data: {"n":0}\n\n'))
    const text = await (await ask(impatient, path, body)).text()
    expect(eventsIn(text)).toEqual([{ data: { n: 0 } }, last({ kind: 'silent', seconds: 0.3 })])
    await impatient.agent.disconnected()
  })

  it('that outlasts the time for answers, but is never silent, goes on', async () => {
    impatient.agent.respond(response => {
      response.writeHead(200, stream)
      let n = 0
      const sending = setInterval(() => {
        response.write(`data: {"n":${n++}}\n\n`)
        if (n < 20) return
        clearInterval(sending)
        response.end()
      }, 20)
    })
    const text = await (await ask(impatient, path, body)).text()
    expect(eventsIn(text)).toEqual(Array.from({ length: 20 }, (_, n) => ({ data: { n } })))
  })

  it.each([
    ['between events', 'data: {"n":0}\n\n'],
    ['in the middle of an event', 'data: {"n":0}\n\ndata: {"n":'],
  ])('that the agent breaks off %s is ended with an event that says so', async (_, sent) => {
    called.agent.respond(response => void response.writeHead(200, stream).write(sent, () => response.destroy()))
    const text = await (await ask(called, path, body)).text()
    expect(eventsIn(text)).toEqual([{ data: { n: 0 } }, last({ kind: 'broken-off' })])
  })

  it('that never begins is given up in time', async () => {
    impatient.agent.respond(() => undefined)
    expect((await ask(impatient, path, body)).status).toBe(504)
    await impatient.agent.disconnected()
  })

  it('that the agent answers with JSON comes down as JSON', async () => {
    called.agent.respond(reply(200, json, JSON.stringify(answer)))
    const response = await ask(called, path, body)
    expect([response.headers.get('content-type'), await response.json()]).toEqual(['application/json', answer])
  })
})

it('after a hundred streams that clients left, the host serves the next request', async () => {
  called.agent.respond(response => void response.writeHead(200, stream).write('data: {"n":0}\n\n'))
  await Promise.all(
    Array.from({ length: 100 }, async () => {
      const { read, cancel } = readerOf(await ask(called, '', call('SendStreamingMessage')))
      await read()
      await cancel()
    }),
  )
  called.agent.respond(reply(200, json, JSON.stringify(answer)))
  expect((await called.send('/agents/calls-streams/a2a', { body: call() })).body).toEqual(answer)
})
