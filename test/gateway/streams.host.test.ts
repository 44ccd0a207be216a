import type { ServerResponse } from 'node:http'
import { createParser } from 'eventsource-parser'
import { describe, expect, it, type TestContext } from 'vitest'
import { toJsonRpcError, toRestError } from '../../src/a2a/error-response.ts'
import type { CallError } from '../../src/a2a/errors.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { answerCalls, answerTo, numberedEvent, restAnswerTo } from '../support/answers.ts'
import { agentResponse, call, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { type Host, sharedHost, startSharedUpstream } from '../support/host.ts'
import { stream, type UpstreamServer } from '../support/upstream.ts'

/** An agent for one test behind a host, because tests run concurrently. */
type Weather = { host: Host; id: string; agent: UpstreamServer }
const startWeather = async (
  context: TestContext,
  hostName: 'standard' | 'short-timeouts' = 'standard',
): Promise<Weather> => {
  const host = sharedHost(hostName)
  const agent = await startSharedUpstream()
  context.onTestFinished(() => agent.close())
  const id = `streams-${context.task.id.replaceAll('_', '-')}`
  const registered = await host.put(id, { card: agentCard(agent.origin), route: 'gateway' })
  if (!registered.ok) throw new Error(await registered.text())
  return { host, id, agent }
}

/** The ways to request a stream, and the event with which the host ends one that fails. */
const forms: [string, string, JsonObject, (error: CallError) => object][] = [
  [
    'JSON-RPC 1.0',
    '',
    call('SendStreamingMessage'),
    error => ({ data: { jsonrpc: '2.0', id: 7, error: toJsonRpcError(error, '1.0') } }),
  ],
  [
    'JSON-RPC 0.3',
    '',
    call('message/stream', messageV03()),
    error => ({ data: { jsonrpc: '2.0', id: 7, error: toJsonRpcError(error, '0.3') } }),
  ],
  [
    'JSON-RPC 1.0, subscribing',
    '',
    call('SubscribeToTask', { id: 't' }),
    error => ({ data: { jsonrpc: '2.0', id: 7, error: toJsonRpcError(error, '1.0') } }),
  ],
  ['HTTP+JSON 1.0', '/message:stream', message(), error => ({ event: 'error', data: toRestError(error, '1.0') })],
  ['HTTP+JSON 0.3', '/v1/message:stream', messageV03(), error => ({ event: 'error', data: toRestError(error, '0.3') })],
]

const openStream = ({ host, id }: Weather, path: string, body: JsonObject, init: RequestInit = {}) =>
  host.fetch(`/agents/${id}/a2a${path}`, {
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
    // Heartbeats are not events.
    return /^(?::\n\n)+$/.test(text) ? read() : text.replace(/^(?::\n\n)+/, '')
  }
  return { read, cancel: () => reader.cancel() }
}

const parseEvents = (text: string) => {
  const events: { event?: string; data: unknown }[] = []
  createParser({ onEvent: ({ event, data }) => events.push({ ...(event && { event }), data: JSON.parse(data) }) }).feed(
    text,
  )
  return events
}

describe.concurrent.each(forms)('a stream over %s', (form, path, body, errorEvent) => {
  const dataOf = (number: number) =>
    numberedEvent(number, path === '' ? 'JSONRPC' : 'HTTP+JSON', form.includes('0.3') ? '0.3' : '1.0')
  const event = (number: number) => `data: ${JSON.stringify(dataOf(number))}\n\n`

  it('delivers each event before the agent sends the next', async context => {
    const weather = await startWeather(context)
    let connection: ServerResponse | undefined
    weather.agent.respond(response => {
      connection = response
      response.writeHead(200, { ...stream, 'Set-Cookie': 'a=1' }).write(event(0))
    })
    const response = await openStream(weather, path, body)
    expect([
      response.status,
      response.headers.get('content-type'),
      response.headers.get('cache-control'),
      response.headers.get('set-cookie'),
    ]).toEqual([200, 'text/event-stream', 'no-store', null])
    const { read } = readerOf(response)
    for (let n = 0; n < 5; n++) {
      expect(await read()).toBe(event(n))
      // The agent sends the next event only after this one arrived.
      connection?.write(event(n + 1))
    }
    expect(await read()).toBe(event(5))
    connection?.end()
    expect(await read()).toBe('')
    expect(weather.agent.requests[0]?.headers.accept).toBe('text/event-stream')
  })

  // A client that leaves while the agent is silent is noticed with the next heartbeat: forward-in-workerd.host.test.ts.
  it('is closed at the agent when the client disconnects while the agent is sending', async context => {
    const weather = await startWeather(context)
    weather.agent.respond(response => {
      response.writeHead(200, stream)
      const sending = setInterval(() => response.write(event(0)), 5)
      response.on('close', () => clearInterval(sending))
    })
    const { read, cancel } = readerOf(await openStream(weather, path, body))
    await read()
    await cancel()
    await weather.agent.disconnected()
  })

  it('ends with an error event when the agent falls silent, and is closed at the agent', async context => {
    const weather = await startWeather(context, 'short-timeouts')
    weather.agent.respond(response => void response.writeHead(200, stream).write(event(0)))
    const text = await (await openStream(weather, path, body)).text()
    expect(parseEvents(text)).toEqual([{ data: dataOf(0) }, errorEvent({ kind: 'silent', seconds: 1 })])
    await weather.agent.disconnected()
  })

  it('may last longer than the timeout of a response while events arrive', async context => {
    const weather = await startWeather(context, 'short-timeouts')
    weather.agent.respond(response => {
      response.writeHead(200, stream)
      let n = 0
      const sending = setInterval(() => {
        response.write(event(n++))
        if (n < 35) return
        clearInterval(sending)
        response.end()
      }, 20)
    })
    const text = await (await openStream(weather, path, body)).text()
    expect(parseEvents(text)).toEqual(Array.from({ length: 35 }, (_, n) => ({ data: dataOf(n) })))
  })

  it.for([
    ['between events', ''],
    ['in the middle of an event', 'data: {"n":'],
  ])('ends with an error event when the agent breaks off %s', async ([, partial], context) => {
    const weather = await startWeather(context)
    weather.agent.respond(
      response => void response.writeHead(200, stream).write(event(0) + partial, () => response.destroy()),
    )
    const text = await (await openStream(weather, path, body)).text()
    expect(parseEvents(text)).toEqual([{ data: dataOf(0) }, errorEvent({ kind: 'broken-off' })])
  })

  it('that never begins returns 504, and is closed at the agent', async context => {
    const weather = await startWeather(context, 'short-timeouts')
    weather.agent.respond(() => undefined)
    expect((await openStream(weather, path, body)).status).toBe(504)
    await weather.agent.disconnected()
  })

  it('is JSON when the agent responds with JSON', async context => {
    const weather = await startWeather(context)
    weather.agent.respond(answerCalls)
    const response = await openStream(weather, path, body)
    const answer = path === '' ? answerTo(body) : restAnswerTo('POST', path.slice(1))
    expect([response.headers.get('content-type'), await response.json()]).toEqual(['application/json', answer])
  })
})

it('serves the next request after a hundred abandoned streams', async context => {
  const weather = await startWeather(context)
  const firstEvent = `data: ${JSON.stringify(numberedEvent(0, 'JSONRPC', '1.0'))}\n\n`
  weather.agent.respond(response => void response.writeHead(200, stream).write(firstEvent))
  await Promise.all(
    Array.from({ length: 100 }, async () => {
      const { read, cancel } = readerOf(await openStream(weather, '', call('SendStreamingMessage')))
      await read()
      await cancel()
    }),
  )
  weather.agent.respond(answerCalls)
  expect(await (await openStream(weather, '', call())).json()).toEqual(agentResponse)
})
