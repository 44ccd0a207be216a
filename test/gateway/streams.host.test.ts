import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toJsonRpcError, toRestError } from '../../src/a2a/error-response.ts'
import type { CallError } from '../../src/a2a/errors.ts'
import type { CallBinding, WireVersion } from '../../src/card/model/calls.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { answerCalls, answerTo, numberedEvent, restAnswerTo } from '../support/answers.ts'
import { call, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { parseEvents } from '../support/event-stream.ts'
import { sharedHost, startSharedUpstream } from '../support/host.ts'
import { stream, type UpstreamServer } from '../support/upstream.ts'

/** A way to request a stream, and the event with which the host ends one that fails. */
type Form = {
  name: string
  path: string
  body: JsonObject
  binding: CallBinding
  version: WireVersion
  errorEvent: (error: CallError) => object
}
const rpcForm = (version: WireVersion, body: JsonObject): Form => ({
  ...{ name: String(body.method), path: '', body, binding: 'JSONRPC', version },
  errorEvent: error => ({ data: { jsonrpc: '2.0', id: 7, error: toJsonRpcError(error, version) } }),
})
const restForm = (version: WireVersion, path: string, body: JsonObject): Form => ({
  ...{ name: path, path, body, binding: 'HTTP+JSON', version },
  errorEvent: error => ({ event: 'error', data: toRestError(error, version) }),
})
const forms: Form[] = [
  rpcForm('1.0', call('SendStreamingMessage')),
  rpcForm('0.3', call('message/stream', messageV03())),
  rpcForm('1.0', call('SubscribeToTask', { id: 't' })),
  restForm('1.0', '/message:stream', message()),
  restForm('0.3', '/v1/message:stream', messageV03()),
]

const hosts = ['standard', 'short-timeouts'] as const
/** For each form, an agent behind two hosts: its forms are tested at once. */
const agents: UpstreamServer[] = []
beforeAll(async () => {
  for (const index of forms.keys()) {
    const agent = await startSharedUpstream()
    agents.push(agent)
    for (const name of hosts) {
      const manifest = { card: agentCard(agent.origin), route: 'gateway' }
      expect((await sharedHost(name).put(`streams-${index}`, manifest)).ok).toBe(true)
    }
  }
})
afterAll(() => Promise.all(agents.map(agent => agent.close())))

/** An agent that is called in a form. */
type Stream = Form & {
  agent: UpstreamServer
  open: () => Promise<Response>
  dataOf: (number: number) => JsonObject
  event: (number: number) => string
}

/** Tests several forms at once. */
const inForms = (
  test: (stream: Stream) => Promise<void>,
  host: (typeof hosts)[number] = 'standard',
): Promise<unknown> =>
  Promise.all(
    forms.map(async (form, index) => {
      const agent = agents[index] as UpstreamServer
      const open = () =>
        sharedHost(host).fetch(`/agents/streams-${index}/a2a${form.path}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'Accept-Encoding': 'identity' },
          body: JSON.stringify(form.body),
        })
      const dataOf = (number: number) => numberedEvent(number, form.binding, form.version)
      await test({ ...form, agent, open, dataOf, event: number => `data: ${JSON.stringify(dataOf(number))}\n\n` })
    }),
  )

const readerOf = (response: Response) => {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const read = async (): Promise<string> => {
    const { done, value } = await reader.read()
    if (done) return ''
    const text = Buffer.from(value).toString()
    // Heartbeats are not events.
    return /^(?::\n\n)+$/.test(text) ? read() : text.replace(/^(?::\n\n)+/, '')
  }
  return { read, cancel: () => reader.cancel() }
}

describe('a stream', () => {
  it('delivers each event before the agent sends the next, in every form', () =>
    inForms(async ({ agent, open, event, name }) => {
      let connection: ServerResponse | undefined
      agent.respond(response => {
        connection = response
        response.writeHead(200, { ...stream, 'Set-Cookie': 'a=1' }).write(event(0))
      })
      const response = await open()
      const { status, headers } = response
      expect(
        [status, headers.get('content-type'), headers.get('cache-control'), headers.get('set-cookie')],
        name,
      ).toEqual([200, 'text/event-stream', 'no-store', null])
      const { read } = readerOf(response)
      for (let n = 0; n < 5; n++) {
        expect(await read(), name).toBe(event(n))
        // The agent sends the next event only after this one arrived.
        connection?.write(event(n + 1))
      }
      expect(await read(), name).toBe(event(5))
      connection?.end()
      expect(await read(), name).toBe('')
      expect(agent.requests[0]?.headers.accept, name).toBe('text/event-stream')
    }))

  // A client that leaves while the agent is silent is noticed with the next heartbeat: forward-in-workerd.host.test.ts.
  it('is closed at the agent when the client disconnects while the agent is sending', () =>
    inForms(async ({ agent, open, event }) => {
      agent.respond(response => {
        response.writeHead(200, stream)
        const sending = setInterval(() => response.write(event(0)), 5)
        response.on('close', () => clearInterval(sending))
      })
      const { read, cancel } = readerOf(await open())
      await read()
      await cancel()
      await agent.disconnected()
    }))

  it('ends with an error event when the agent falls silent, and is closed at the agent', () =>
    inForms(async ({ agent, open, event, dataOf, errorEvent, name }) => {
      agent.respond(response => void response.writeHead(200, stream).write(event(0)))
      const events = parseEvents(await (await open()).text())
      expect(events, name).toEqual([{ data: dataOf(0) }, errorEvent({ kind: 'silent', seconds: 1 })])
      await agent.disconnected()
    }, 'short-timeouts'))

  it('is JSON when the agent responds with JSON', () =>
    inForms(async ({ agent, open, path, body, name }) => {
      agent.respond(answerCalls)
      const response = await open()
      const answer = path === '' ? answerTo(body) : restAnswerTo('POST', path.slice(1))
      expect([response.headers.get('content-type'), await response.json()], name).toEqual(['application/json', answer])
    }))

  it('that never begins returns 504, and is closed at the agent', () =>
    inForms(async ({ agent, open }) => {
      agent.respond(() => undefined)
      expect((await open()).status).toBe(504)
      await agent.disconnected()
    }, 'short-timeouts'))

  it('leaves the host able to serve the next request after a hundred abandoned ones', () =>
    inForms(async ({ agent, open, event, name }) => {
      agent.respond(response => void response.writeHead(200, stream).write(event(0)))
      const abandon = async () => {
        const { read, cancel } = readerOf(await open())
        await read()
        await cancel()
      }
      await Promise.all(Array.from({ length: 20 }, abandon))
      agent.respond(answerCalls)
      expect((await open()).status, name).toBe(200)
    }))
})
