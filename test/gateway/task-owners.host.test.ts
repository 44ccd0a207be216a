import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { type CalledHost, type Received, senderTo, useSharedHost } from '../support/called-host.ts'
import { call, codeOf, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken, type OwnHost, startHost } from '../support/host.ts'
import { json, stream } from '../support/upstream.ts'

const agent = 'owned'
const pushing = { capabilities: { streaming: true, pushNotifications: true } }

let called: CalledHost
let alice: string
let bob: string
beforeAll(async () => {
  called = await useSharedHost()
  const card = agentCard(called.agent.origin, pushing)
  const upstream = { secret: 'AGENT_TOKEN' }
  const open = { card, upstream, callers: 'anyone' }
  await called.register(agent, open)
  await called.register('owned-shared', { ...open, gate: { tasks: 'shared' } })
  await called.register('owned-unchecked', { ...open, gate: { responses: 'off' } })
  await called.register('owned-hidden', { card, gate: { tasks: 'owner' } })
  const issued = [1, 2].map(() => called.issue({ scopes: ['read'], agents: ['owned*'] }))
  ;[alice = '', bob = ''] = (await Promise.all(issued)).map(({ token }) => token)
})
afterAll(() => called.close())
beforeEach(() => {
  serve(() => ({}))
})

let counter = 0
const nextId = () => `task-${counter++}`

const taskOf = (id: string): JsonObject => ({
  ...{ id, contextId: `context-of-${id}`, status: { state: 'TASK_STATE_COMPLETED' } },
})

/** Answers calls with the results that the test gives for their JSON-RPC request, or for their path over HTTP+JSON. */
const serve = (resultOf: (request: JsonObject) => Json) =>
  called.agent.respond((response, { url = '' }, body) => {
    const request = (body.length > 0 ? JSON.parse(body.toString()) : {}) as JsonObject
    const result = resultOf(request)
    const answer = url.startsWith('/rpc') ? { jsonrpc: '2.0', id: request.id, result } : result
    response.writeHead(200, json).end(JSON.stringify(answer))
  })

const rpc = (token: string | undefined, body: JsonObject, id = agent, version = '1.0') =>
  called.send(`/agents/${id}/a2a`, { token, body, headers: { 'A2A-Version': version } })

const rest = (token: string | undefined, method: string, path: string, body?: Json) =>
  called.send(`/agents/${agent}/a2a/${path}`, { token, method, ...(body !== undefined && { body }) })

/** Starts a task, and returns its id. */
const start = async (token: string | undefined, id = nextId(), to = agent): Promise<string> => {
  serve(() => ({ task: taskOf(id) }))
  const { body } = await rpc(token, call('SendMessage'), to)
  expect(body).toMatchObject({ result: { task: { id } } })
  called.agent.requests.length = 0
  return id
}

const callAt = (host: OwnHost, body: JsonObject) =>
  senderTo(host)(`/agents/${agent}/a2a`, { token: adminToken, body, headers: { 'A2A-Version': '1.0' } })

/** Returns the values of those that are fulfilled. */
const settled = async <Value>(promises: Promise<Value>[]): Promise<Value[]> =>
  (await Promise.allSettled(promises)).flatMap(each => (each.status === 'fulfilled' ? [each.value] : []))

const get = (token: string | undefined, id: string, to = agent) => {
  serve(() => taskOf(id))
  return rpc(token, call('GetTask', { id }), to)
}

/** Expects the error of a task that does not exist, and that nothing was forwarded. */
const expectNotFound = ({ status, body }: Received, name = '', isRest = false) => {
  expect([status, codeOf(body)], name).toEqual(isRest ? [404, expect.toBeOneOf([404, -32001])] : [200, -32001])
  expect(called.agent.requests, name).toEqual([])
}

const named = (more: JsonObject): JsonObject => ({ message: { ...(message().message as JsonObject), ...more } })
const namedV03 = (more: JsonObject): JsonObject => ({ message: { ...(messageV03().message as JsonObject), ...more } })
const callback = { url: 'https://hooks.example.com/' }

describe('a task of another caller', () => {
  let task: string
  let own: string
  beforeAll(async () => {
    task = await start(alice)
    own = await start(bob)
  })

  // All names of a task: test/a2a/task-references.test.ts.
  it('is not reached by any call', async () => {
    for (const [method, params, version] of [
      ['GetTask', { id: own, taskId: task }],
      ['CancelTask', { id: task }],
      ['tasks/get', { id: task }, '0.3'],
      ['CreateTaskPushNotificationConfig', { taskId: task, ...callback }],
      ['SendMessage', named({ taskId: task })],
      ['message/send', namedV03({ contextId: `context-of-${task}` }), '0.3'],
      ['ListTasks', { contextId: `context-of-${task}` }],
    ] as [string, JsonObject, string?][])
      expectNotFound(await rpc(bob, call(method, params), agent, version), method)
    for (const [method, path, body] of [
      ['GET', `tasks/${task.replace('t', '%74')}`],
      ['GET', `tasks/${own}?id=${task}`],
      ['POST', `tasks/${own}:cancel`, { id: task }],
      ['DELETE', `v1/tasks/${task}/pushNotificationConfigs/c`],
      ['POST', `message:send?taskId=${task}`, message()],
    ] as const)
      expectNotFound(await rest(bob, method, path, body), path, true)
    for (const token of [undefined, adminToken]) expectNotFound(await get(token, task))
  })

  it('is not reached by a request for a stream in 0.3, whose error is an event', async () => {
    const { headers, text } = await rpc(bob, call('tasks/resubscribe', { id: task }), agent, '0.3')
    expect([headers.get('Content-Type'), text]).toEqual(['text/event-stream', expect.stringContaining('-32001')])
    expect(called.agent.requests).toEqual([])
  })

  it('is refused as an unknown one is, to the letter', async () => {
    const [foreign, unknown] = [await get(bob, task), await get(bob, 'no-such-task')]
    expect([foreign.status, foreign.text]).toEqual([unknown.status, unknown.text])
  })

  it('is not shown by the answer of the agent', async () => {
    serve(() => ({ task: taskOf(task) }))
    const { status, body, text } = await rpc(bob, call('SendMessage'))
    expect([status, codeOf(body), text.includes(task)]).toEqual([502, -32006, false])
    expect(text).toContain(
      "The agent's response names a task or context that is not yours. If the agent has restarted and uses ids again, its owner must clear the old ones.",
    )
  })

  it('is not shown by an event of a stream, which ends', async () => {
    const shown = nextId()
    called.agent.respond(response => {
      const events = [taskOf(shown), taskOf(task)].map(each => ({ jsonrpc: '2.0', id: 7, result: { task: each } }))
      response.writeHead(200, stream).end(events.map(each => `data: ${JSON.stringify(each)}\n\n`).join(''))
    })
    const { text } = await rpc(bob, call('SendStreamingMessage'))
    expect([text.includes(shown), text.includes(task), text.includes('-32006')]).toEqual([true, false, true])
    expect((await get(bob, shown)).body).toMatchObject({ result: { id: shown } })
  })
})

describe('messages that are sent at the same time', () => {
  const startMany = (tokens: string[], idOf: (index: number) => string) => {
    let count = 0
    serve(() => ({ task: taskOf(idOf(count++)) }))
    return Promise.all(tokens.map(token => rpc(token, call('SendMessage'))))
  }

  it('start tasks that each belong to the caller who sees them', async () => {
    const prefix = nextId()
    const tokens = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? alice : bob))
    const responses = await startMany(tokens, index => `${prefix}-${index}`)
    for (const [index, { body }] of responses.entries()) {
      const { id } = (body as { result: { task: { id: string } } }).result.task
      const [own, other] = index % 2 === 0 ? [alice, bob] : [bob, alice]
      expect((await get(own, id)).body).toMatchObject({ result: { id } })
      called.agent.requests.length = 0
      expectNotFound(await get(other, id), id)
    }
  })

  it('never show one task to two callers', async () => {
    const id = nextId()
    const tokens = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? alice : bob))
    const responses = await startMany(tokens, () => id)
    const shown = tokens.filter((_, index) => responses[index]?.text.includes(id))
    expect([shown.length, new Set(shown).size]).toEqual([10, 1])
  })
})

it('forgets no task that a caller has seen when its process is killed', async () => {
  const storage = await mkdtemp(join(tmpdir(), 'calling-card-owners-'))
  const startAgain = () => startHost({ ALLOWED_ORIGINS: called.agent.origin }, { storage })
  const killed = await startAgain()
  const card = agentCard(called.agent.origin, pushing)
  await killed.put(agent, { card, callers: 'anyone', gate: { tasks: 'owner' } })
  let count = 0
  serve(() => ({ task: taskOf(`killed-${count++}`) }))
  const messages = Array.from({ length: 20 }, async () => {
    const { body } = await callAt(killed, call('SendMessage'))
    return (body as { result: { task: { id: string } } }).result.task.id
  })
  const seen = await Promise.race(messages)
  await Promise.all([killed.close(), Promise.allSettled(messages)])
  const host = await startAgain()
  for (const id of [seen, ...(await settled(messages))]) {
    serve(() => taskOf(id))
    expect((await callAt(host, call('GetTask', { id }))).body, id).toMatchObject({ result: { id } })
  }
  await host.close()
  await rm(storage, { recursive: true })
})

it('tells ids apart that differ in a control character, and takes those with lone surrogates for one', async () => {
  const id = nextId()
  for (const own of [`${id}\u0000`, `${id}\u0000b`, `${id}\ud800`]) await start(alice, own)
  await start(bob, `${id}\u0000c`)
  serve(() => ({ task: taskOf(`${id}\ud801`) }))
  expect(codeOf((await rpc(bob, call('SendMessage'))).body)).toBe(-32006)
})

it('lets a caller reach its own task, with a token or the admin token, in both bindings', async () => {
  for (const token of [alice, adminToken]) {
    const id = await start(token)
    expect((await get(token, id)).body).toMatchObject({ result: { id } })
    expect((await rest(token, 'GET', `tasks/${id}`)).status).toBe(200)
    serve(() => ({ task: taskOf(id) }))
    const params = named({ taskId: id, contextId: `context-of-${id}` })
    expect((await rpc(token, call('SendMessage', params))).body).toMatchObject({ result: { task: { id } } })
  }
})

it('keeps the tenant that a caller names, and the token of this host, out of what the agent gets', async () => {
  const id = await start(alice)
  serve(() => ({ task: taskOf(id) }))
  await rpc(alice, call('SendMessage', { ...message(), tenant: 'victim', agentName: 'Other' }))
  await rest(alice, 'GET', `tasks/${id}?tenant=victim&access_token=${alice}&historyLength=1`)
  const [overRpc, overRest] = called.agent.requests
  expect([JSON.parse(String(overRpc?.body)).params, overRest?.path]).toEqual([
    ...[message(), `/rest-1/tasks/${id}?historyLength=1`],
  ])
})

describe('DELETE /agents/{id}/tasks', () => {
  const clear = (token: string, id: string) => called.send(`/agents/${id}/tasks`, { token, method: 'DELETE' })

  it('lets the owner of an agent release its tasks, and is in the audit', async () => {
    const id = 'owned-again'
    await called.register(id, { card: agentCard(called.agent.origin, pushing), gate: { tasks: 'owner' } })
    await start(alice, 'again-1', id)
    const listOf = async (token: string) => {
      serve(() => ({ tasks: [taskOf('again-1')], nextPageToken: '', pageSize: 1, totalSize: 1 }))
      return ((await rpc(token, call('ListTasks'), id)).body as { result: { tasks: Json[] } }).result.tasks.length
    }
    expect(await listOf(alice)).toBe(1)
    const { token: writer, id: actor } = await called.issue({ scopes: ['write'], agents: [id] })
    expect((await clear(writer, id)).status).toBe(204)
    expect([await listOf(alice), await listOf(bob)]).toEqual([0, 0])
    const audit = await called.send(`/audit?agent=${id}&limit=1`, { token: adminToken, method: 'GET' })
    expect(audit.body).toMatchObject({ entries: [{ what: 'tasks-cleared', actor, agent: id }] })
  })

  it('needs the scope write for an agent that exists', async () => {
    expect((await clear(alice, agent)).status).toBe(403)
    expect((await clear(adminToken, 'owned-none')).status).toBe(404)
  })
})

it("lists the caller's own tasks, page by page, and nothing of the others", async () => {
  const { token } = await called.issue({ scopes: ['read'] })
  const mine = [await start(token), await start(token)]
  const others = [await start(alice), await start(undefined), 'unknown', await start(alice)]
  const ids = [others[0], others[1], mine[0], others[2], others[3], mine[1], others[0], others[1]] as string[]
  // Pages of two tasks. The agent's tokens are the ids after which a page begins.
  serve(({ params }) => {
    const { pageToken } = params as { pageToken?: string }
    const from = pageToken === undefined ? 0 : ids.indexOf(pageToken) + 1
    const page = ids.slice(from, from + 2)
    const nextPageToken = from + 2 >= ids.length ? '' : (page.at(-1) ?? '')
    return { tasks: page.map(id => taskOf(id)), nextPageToken, pageSize: 2, totalSize: ids.length, leaked: ids }
  })
  const pages = []
  let pageToken = ''
  do {
    const { body, text } = await rpc(token, call('ListTasks', { pageSize: 2, pageToken }))
    for (const other of others) expect(text).not.toContain(other)
    const { result } = body as { result: { tasks: { id: string }[]; nextPageToken: string } }
    expect(result).toMatchObject({ pageSize: 2, totalSize: 2 })
    pages.push(result.tasks.map(({ id }) => id))
    pageToken = result.nextPageToken
  } while (pageToken !== '')
  expect(pages).toEqual([[], [mine[0]], [mine[1]]])
})

it('lets every caller reach every task with `gate.tasks: shared`, and only their own with owner, the reported default', async () => {
  const shared = await start(alice, nextId(), 'owned-shared')
  expect((await get(bob, shared, 'owned-shared')).body).toMatchObject({ result: { id: shared } })
  // For an agent without a credential of the host.
  const hidden = await start(alice, nextId(), 'owned-hidden')
  expectNotFound(await get(bob, hidden, 'owned-hidden'))
  const card = agentCard(called.agent.origin)
  for (const [upstream, count] of [
    [{ secret: 'AGENT_TOKEN' }, 1],
    [{}, 0],
  ] as const) {
    const { report } = await called.register('owned-report', { card, upstream })
    const { filled } = report as { filled: { pointer: string }[] }
    expect(filled.filter(({ pointer }) => pointer === '/gate/tasks')).toHaveLength(count)
  }
})

it('passes no answer that cannot be read, and so not be checked, with `gate.responses: off`', async () => {
  for (const [body, result] of [
    [call('SendMessage'), { wrapped: { task: taskOf('unreadable') } }],
    [call('ListTasks', {}), { items: [taskOf('unreadable')] }],
  ] as [JsonObject, Json][]) {
    serve(() => result)
    const { status, text } = await rpc(alice, body, 'owned-unchecked')
    expect([status, text.includes('unreadable'), text.includes('-32006')]).toEqual([502, false, true])
  }
})
