import { a2a } from 'a2a-ai-provider'
import { A2AClient } from 'a2a-sdk-v0.3/client'
import { generateText, streamText } from 'ai'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
import { call, messageV03 } from '../support/calls.ts'
import { json, stream } from '../support/upstream.ts'

// The answers of agents in the field, as their servers write them: @voltagent/a2a-server 2.0.3 and @voltagent/server-hono,
// @reactive-agents/a2a 0.9.0, and @mastra/server 1.67.0.

const text = (value: string, more: JsonObject = {}): JsonObject => ({ parts: [{ kind: 'text', text: value }], ...more })
const ids = { taskId: 't-1', contextId: 'c-1' }
const timestamp = '2026-11-22T23:05:38.588Z'

/** VoltAgent's task has no `kind`. Its stream is the task over and over. */
const voltTask = (state: string, answer = ''): JsonObject => ({
  ...{ id: 't-1', contextId: 'c-1' },
  history: [{ kind: 'message', messageId: 'm', role: 'user', ...text('Does it rain?'), ...ids }],
  status: {
    ...{ state, timestamp },
    message: { kind: 'message', role: 'agent', messageId: 'm-2', ...text(answer), ...ids },
  },
})

const artifacts = [{ artifactId: 'a-1', name: 'response', ...text('It rains') }]
const doneTask = { kind: 'task', id: 't-1', contextId: 'c-1', status: { state: 'completed', timestamp }, artifacts }

type Answers = { send: JsonObject; events: (id: Json) => string }

const events = (prefix: string, id: Json, ...results: JsonObject[]): string =>
  results.map(result => `data: ${prefix}${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`).join('')

const agents: Readonly<Record<string, Answers>> = {
  volt: {
    send: { result: voltTask('completed', 'It rains') },
    // Up to version 1, each event begins with a record separator.
    events: id =>
      events('\u001e', id, voltTask('working'), voltTask('working', 'It '), voltTask('completed', 'It rains')),
  },
  reactive: {
    send: { id: null, result: doneTask },
    // The artifact follows what is marked as the end.
    events: () =>
      events(
        '',
        1,
        { kind: 'status-update', ...ids, status: { state: 'completed', timestamp }, final: true },
        { kind: 'artifact-update', ...ids, artifact: artifacts[0] as JsonObject, append: false, lastChunk: true },
      ),
  },
  mastra: {
    send: { result: doneTask },
    events: id => {
      const message = { messageId: 'm-2', kind: 'message', role: 'agent', ...text('Generating response...') }
      const chunk = (part: string, more: JsonObject) => ({
        kind: 'artifact-update',
        ...ids,
        ...more,
        artifact: { artifactId: 't-1:response:text', name: 'response.txt', ...text(part) },
      })
      return events(
        '',
        id,
        {
          ...{ id: 't-1', contextId: 'c-1', status: { state: 'working', timestamp, message } },
          ...{ artifacts: [], history: [], metadata: { resourceId: 'weather' }, kind: 'task' },
        },
        chunk('It ', { lastChunk: false }),
        chunk('rains', { append: true, lastChunk: true }),
        { kind: 'status-update', ...ids, status: { state: 'completed', timestamp }, final: true },
      )
    },
  },
}
const names = Object.keys(agents)

let called: CalledHost
beforeAll(async () => {
  called = await useSharedHost()
  for (const name of names) {
    const card = {
      name,
      description: 'The weather of any place',
      version: '1.0',
      url: `${called.agent.origin}/${name}`,
      capabilities: { streaming: true, pushNotifications: true, stateTransitionHistory: false },
      defaultInputModes: ['text', 'application/json'],
      defaultOutputModes: ['text'],
      skills: [{ id: 'now', name: 'now', description: 'The weather now', tags: ['tool'] }],
    }
    await called.register(`field-${name}`, { card, route: 'gateway' })
  }
})
afterAll(() => called.close())
beforeEach(() =>
  called.agent.respond((response, request, body) => {
    const { id = null, method } = JSON.parse(body.toString()) as JsonObject
    const answers = agents[(request.url ?? '').slice(1)]
    if (answers === undefined) return void response.writeHead(404).end()
    if (method === 'message/stream') return void response.writeHead(200, stream).end(answers.events(id))
    response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, ...answers.send }))
  }),
)

const cardUrl = (name: string): string =>
  new URL(`/agents/field-${name}/.well-known/agent-card.json`, called.host.url).href
const repairsOf = (header: string | null): string | null => header?.match(/repaired \(.*?\)/)?.[0] ?? null
const send = (name: string, params: JsonObject = messageV03(), headers: Record<string, string> = {}) =>
  called.send(`/agents/field-${name}/a2a`, { body: call('message/send', params), headers })

describe('the answer of a framework in the field', () => {
  it('is a task of 0.3 with the id of the call', async () => {
    for (const [name, repaired] of [
      ['volt', 'repaired (kind)'],
      ['reactive', 'repaired (id)'],
      ['mastra', null],
    ] as const) {
      const { status, headers, body } = await send(name)
      expect([status, body], name).toEqual([
        200,
        { jsonrpc: '2.0', id: 7, result: expect.objectContaining({ kind: 'task', id: 't-1' }) },
      ])
      expect(repairsOf(headers.get('gate-warning'))).toBe(repaired)
    }
  })

  it.each(names)('is a stream that the official SDK of 0.3 reads to its end: %s', async name => {
    const client = await A2AClient.fromCardUrl(cardUrl(name))
    const states: string[] = []
    for await (const event of client.sendMessageStream(messageV03() as never)) {
      expect(event.kind).toMatch(/^(?:task|status-update|artifact-update)$/)
      if ('status' in event) states.push(event.status.state)
    }
    expect(states.at(-1)).toBe('completed')
  })
})

describe('the A2A provider of the AI SDK', () => {
  // It writes each event to the console, and the AI SDK that the provider is of an older version.
  beforeEach(() => {
    vi.spyOn(console, 'log').mockImplementation(() => undefined)
    vi.stubGlobal('AI_SDK_LOG_WARNINGS', false)
  })

  it.each(names)('generates and streams a text of %s', async name => {
    const asked = { model: a2a(cardUrl(name)), prompt: 'Does it rain?' }
    expect((await generateText(asked)).text).toBe('It rains')
    const { textStream, finishReason } = streamText(asked)
    const chunks = await Array.fromAsync(textStream)
    expect([chunks.join(''), await finishReason]).toEqual([expect.stringMatching(/It rains$/), 'stop'])
  })
})

describe('the calls of clients in the field', () => {
  const forwarded = (): JsonObject => JSON.parse(called.agent.requests.at(-1)?.body ?? '')

  it('reach the agent as AdCP sends them, with a skill as data and a callback, and wait for the task', async () => {
    const message = {
      messageId: 'msg_1763851538588_x7k2m9q4z',
      role: 'user',
      kind: 'message',
      parts: [{ kind: 'data', data: { skill: 'get_products', parameters: { brief: 'Umbrellas' } } }],
    }
    const pushNotificationConfig = {
      url: 'https://buyer.example.com/webhooks/adcp',
      authentication: { schemes: ['Bearer'], credentials: 'secret' },
    }
    const { status, body } = await send('mastra', { message, configuration: { pushNotificationConfig } })
    expect([status, (body as JsonObject).result]).toEqual([200, expect.objectContaining({ kind: 'task' })])
    expect(forwarded().params).toEqual({ message, configuration: { pushNotificationConfig, blocking: true } })
  })
})
