import { createParser } from 'eventsource-parser'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { type BridgedAgent, calls, message, startBridgedAgent } from './bridged-agent.ts'

/** The Durable Object speaks JSON-RPC; calls over HTTP+JSON are translated for it. */
let agent: BridgedAgent
beforeAll(async () => {
  agent = await startBridgedAgent({
    say_it: {
      inputSchema: { properties: { text: { type: 'string' } }, required: ['text'] },
      run: ({ text = '' }) => ({ content: [{ type: 'text', text: `You said ${text}.` }] }),
    },
  })
})
afterAll(() => agent.close())

const send = (path: string, body?: Json) =>
  agent.host.fetch(`/agents/tools/a2a/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

const tool = { skillId: 'say_it', arguments: { text: 'hi' } }
const v03Message = { message: { messageId: 'm', role: 'ROLE_USER', content: [{ data: { data: tool } }] } }

describe('the tools of an MCP server over HTTP+JSON', () => {
  it.each<[string, string, Json]>([
    ['1.0', '', message(calls('say_it', { text: 'hi' }))],
    ['0.3', 'v1/', v03Message],
  ])('are called by a message of %s, and its task is found', async (_, prefix, body) => {
    const { task } = (await (await send(`${prefix}message:send`, body)).json()) as { task: JsonObject }
    expect(task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text: 'You said hi.' }] }],
    })
    const found = (await (await send(`${prefix}tasks/${task.id}`)).json()) as JsonObject
    expect(found).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_COMPLETED' } })
  })

  it('answer with a stream', async () => {
    const states: Json[] = []
    const response = await send('message:stream', message(calls('say_it', { text: 'hi' })))
    createParser({
      onEvent: ({ data }) => states.push(JSON.parse(data).statusUpdate?.status.state ?? null),
    }).feed(await response.text())
    expect([response.status, states.at(-1)]).toEqual([200, 'TASK_STATE_COMPLETED'])
  })

  it('refuse a tool that does not exist', async () => {
    const response = await send('message:send', message(calls('shout')))
    expect([response.status, await response.json()]).toMatchObject([400, { error: { status: 'INVALID_ARGUMENT' } }])
  })
})
