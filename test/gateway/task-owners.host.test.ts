import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { MAX_TASK_ID_LENGTH } from '../../src/limits.ts'
import { type CalledHost, type Received, type Sent, startCalledHost, useSharedHost } from '../support/called-host.ts'
import { call, codeOf, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken } from '../support/host.ts'
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
  await called.register('owned-open', { card })
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

const rpc = (token: string | undefined, body: JsonObject, id = agent, headers: Sent['headers'] = {}) =>
  called.send(`/agents/${id}/a2a`, { token, body, headers: { 'A2A-Version': '1.0', ...headers } })

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
const v03 = { 'A2A-Version': '0.3' }
const contentV03 = { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'a' }] }
const callback = { url: 'https://hooks.example.com/' }

/** Every call that reaches a task, over JSON-RPC. The spellings of its id: test/a2a/task-references.test.ts. */
const attacks = (task: string, own: string): [method: string, params: JsonObject][] => {
  const contextId = `context-of-${task}`
  return [
    ...['GetTask', 'CancelTask', 'SubscribeToTask', 'tasks/get', 'tasks/cancel'].map((method): [string, JsonObject] => [
      ...([method, { id: task }] as const),
    ]),
    ['GetTask', { id: own, taskId: task }],
    ...['Create', 'Get', 'Delete'].map((verb): [string, JsonObject] => [
      ...([`${verb}TaskPushNotificationConfig`, { taskId: task, id: 'c', ...callback }] as const),
    ]),
    ['ListTaskPushNotificationConfigs', { taskId: task }],
    ['CreateTaskPushNotificationConfig', { taskId: own, config: { taskId: task, ...callback } }],
    ...['set', 'get', 'list', 'delete'].map((verb): [string, JsonObject] => [
      ...([`tasks/pushNotificationConfig/${verb}`, { id: task, pushNotificationConfig: callback }] as const),
    ]),
    ...['SendMessage', 'SendStreamingMessage'].flatMap((method): [string, JsonObject][] => [
      ...[{ taskId: task }, { contextId }, { contextId: ` ${contextId} ` }, { referenceTaskIds: [own, task] }].map(
        (more): [string, JsonObject] => [method, named(more)],
      ),
      [method, message({ configuration: { taskPushNotificationConfig: { taskId: task, ...callback } } })],
    ]),
    ['message/send', namedV03({ taskId: task })],
    ['message/send', namedV03({ contextId })],
    ['ListTasks', { contextId }],
  ]
}

const restAttacks = (task: string, own: string): [method: string, path: string, body?: Json][] => [
  ...['', 'v1/'].flatMap((prefix): [string, string, Json?][] => {
    const [ofTask, ofOwn] = [`${prefix}tasks/${task}`, `${prefix}tasks/${own}`]
    return [
      ['GET', ofTask],
      ['GET', `${prefix}tasks/${task.replace('t', '%74')}`],
      ['GET', `${ofOwn}?id=${task}`],
      ['POST', `${ofTask}:cancel`],
      ['POST', `${ofOwn}:cancel`, { id: task }],
      ['GET', `${ofTask}:subscribe`],
      ['GET', `${ofTask}/pushNotificationConfigs`],
      ['GET', `${ofTask}/pushNotificationConfigs/c`],
      ['DELETE', `${ofTask}/pushNotificationConfigs/c`],
      ['POST', `${ofTask}/pushNotificationConfigs`, callback],
    ]
  }),
  ['POST', 'message:send', named({ taskId: task })],
  ['POST', 'message:stream', named({ taskId: task })],
  ['POST', `message:send?taskId=${task}`, message()],
  ['POST', 'v1/message:send', { request: { ...contentV03, task_id: task } }],
  ['GET', `tasks?contextId=context-of-${task}`],
]

describe('a task of another caller', () => {
  let task: string
  let own: string
  beforeAll(async () => {
    task = await start(alice)
    own = await start(bob)
  })

  it('is not reached by any call', async () => {
    for (const [method, params] of attacks(task, own)) {
      const headers = method.includes('/') ? v03 : {}
      expectNotFound(await rpc(bob, call(method, params), agent, headers), `${method} ${JSON.stringify(params)}`)
    }
    for (const [method, path, body] of restAttacks(task, own))
      expectNotFound(await rest(bob, method, path, body), `${method} ${path}`, true)
  })

  it('is not reached with a resource name that begins with their own', async () => {
    for (const method of ['GetTask', 'CancelTask', 'CreateTaskPushNotificationConfig']) {
      const params = { taskId: own, name: `tasks/${own}/tasks/${task}`, ...callback }
      const { body } = await rpc(bob, call(method, params))
      expect([codeOf(body), called.agent.requests], method).toEqual([-32602, []])
    }
  })

  it('is not reached by an anonymous caller or an administrator', async () => {
    for (const token of [undefined, adminToken]) expectNotFound(await get(token, task))
  })

  it('is not reached by a request for a stream in 0.3, whose error is an event', async () => {
    for (const [method, params] of [
      ['message/stream', namedV03({ taskId: task })],
      ['tasks/resubscribe', { id: task }],
    ] as const) {
      const { headers, text } = await rpc(bob, call(method, params), agent, v03)
      expect([headers.get('Content-Type'), text]).toEqual(['text/event-stream', expect.stringContaining('-32001')])
    }
    expect(called.agent.requests).toEqual([])
  })

  it('is refused as an unknown one is, to the letter', async () => {
    const [foreign, unknown] = [await get(bob, task), await get(bob, 'no-such-task')]
    expect([foreign.status, foreign.text]).toEqual([unknown.status, unknown.text])
    expectNotFound(await get(bob, 'x'.repeat(MAX_TASK_ID_LENGTH + 1)))
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

describe('the own task of a caller', () => {
  it('is reached with a token or the admin token, in both bindings', async () => {
    for (const token of [alice, adminToken]) {
      const id = await start(token)
      expect((await get(token, id)).body).toMatchObject({ result: { id } })
      expect((await rest(token, 'GET', `tasks/${id}`)).status).toBe(200)
      serve(() => ({ task: taskOf(id) }))
      const params = named({ taskId: id, contextId: `context-of-${id}` })
      expect((await rpc(token, call('SendMessage', params))).body).toMatchObject({ result: { task: { id } } })
    }
  })

  it('is lost with its token: the next one is another caller', async () => {
    const [first, second] = [await called.issue({ scopes: ['read'] }), await called.issue({ scopes: ['read'] })]
    const id = await start(first.token)
    await called.send(`/tokens/${first.id}`, { method: 'DELETE', token: adminToken })
    expectNotFound(await get(second.token, id))
  })

  it('is known once it was in an event of a stream', async () => {
    const id = nextId()
    called.agent.respond(response => {
      const status = { taskId: id, contextId: `context-of-${id}`, status: { state: 'TASK_STATE_WORKING' } }
      const event = { jsonrpc: '2.0', id: 7, result: { statusUpdate: status } }
      response.writeHead(200, stream).end(`data: ${JSON.stringify(event)}\n\n`)
    })
    expect((await rpc(alice, call('SendStreamingMessage'))).text).toContain(id)
    expect((await get(alice, id)).body).toMatchObject({ result: { id } })
    expectNotFound(await get(bob, id))
  })
})

it('lets whoever has its id reach the task of an anonymous caller', async () => {
  const id = await start(undefined)
  for (const token of [undefined, alice]) expect((await get(token, id)).body).toMatchObject({ result: { id } })
})

describe('the tenant that a caller names', () => {
  it('does not reach the agent, in parameters, body or query', async () => {
    const id = await start(alice)
    serve(() => ({ task: taskOf(id) }))
    const params = { ...message(), tenant: 'victim', agentName: 'Other' }
    await rpc(alice, call('SendMessage', params))
    await rest(alice, 'POST', 'message:send?tenant=victim&other=1', params)
    await rest(alice, 'GET', `tasks/${id}?tenant=victim`)
    const [overRpc, overRest, withoutBody] = called.agent.requests
    expect(JSON.parse(String(overRpc?.body))).toMatchObject({ params: message() })
    expect(JSON.parse(String(overRest?.body))).toEqual(message())
    expect([overRest?.path, withoutBody?.path]).toEqual(['/rest-1/message:send?other=1', `/rest-1/tasks/${id}`])
    expect(String(overRpc?.body)).not.toContain('victim')
  })

  it('reaches an agent that the caller opens with their own credentials', async () => {
    serve(() => ({ task: taskOf('t') }))
    called.agent.requests.length = 0
    await rpc(alice, call('SendMessage', { ...message(), tenant: 'mine' }), 'owned-open')
    expect(JSON.parse(String(called.agent.requests[0]?.body))).toMatchObject({ params: { tenant: 'mine' } })
  })
})

it('keeps the token of this host out of the query that the agent gets', async () => {
  const id = await start(alice)
  serve(() => taskOf(id))
  await rest(alice, 'GET', `tasks/${id}?access_token=${alice}&historyLength=1`)
  expect(called.agent.requests.map(({ path }) => path)).toEqual([`/rest-1/tasks/${id}?historyLength=1`])
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

describe('a list of tasks', () => {
  /** Answers lists with pages of two of the tasks. The agent's tokens are the ids after which a page begins. */
  const serveList = (ids: readonly string[]) =>
    serve(({ params }) => {
      const { pageToken } = params as { pageToken?: string }
      const from = pageToken === undefined ? 0 : ids.indexOf(pageToken) + 1
      const page = ids.slice(from, from + 2)
      const isLast = from + 2 >= ids.length
      const nextPageToken = isLast ? '' : (page.at(-1) ?? '')
      return { tasks: page.map(id => taskOf(id)), nextPageToken, pageSize: 2, totalSize: ids.length, leaked: [...ids] }
    })

  const list = async (token: string | undefined, params: JsonObject = {}) => {
    const { body, text } = await rpc(token, call('ListTasks', { pageSize: 2, ...params }))
    const { tasks, ...page } = (body as { result: { tasks: { id: string }[]; nextPageToken: string } }).result
    return { ids: tasks.map(({ id }) => id), page, text }
  }

  it("has the caller's own, page by page, and nothing of the others", async () => {
    const { token } = await called.issue({ scopes: ['read'] })
    const mine = [await start(token), await start(token)]
    const others = [await start(alice), await start(undefined), 'unknown', await start(alice)]
    serveList([others[0], others[1], mine[0], others[2], others[3], mine[1], others[0], others[1]] as string[])
    const pages = []
    let pageToken = ''
    do {
      const { ids, page, text } = await list(token, { pageToken })
      for (const other of others) expect(text).not.toContain(other)
      expect(page).toMatchObject({ pageSize: 2, totalSize: 2 })
      pages.push(ids)
      pageToken = page.nextPageToken
    } while (pageToken !== '')
    expect(pages).toEqual([[], [mine[0]], [mine[1]]])
  })

  it("is not continued with a page token of the agent, or another caller's", async () => {
    const ids = [await start(alice), await start(bob), await start(alice), await start(bob)]
    serveList(ids)
    const { page } = await list(alice)
    expect(page.nextPageToken).not.toBe('')
    called.agent.requests.length = 0
    for (const pageToken of [page.nextPageToken, ids[1] ?? '']) {
      const { body } = await rpc(bob, call('ListTasks', { pageToken }))
      expect([codeOf(body), called.agent.requests]).toEqual([-32602, []])
    }
  })

  it('is reduced over HTTP+JSON too, where the agent gets its own page token', async () => {
    const { token } = await called.issue({ scopes: ['read'] })
    const mine = [await start(token), await start(token)]
    serve(() => ({ tasks: [taskOf(mine[0] ?? ''), taskOf('unknown')], nextPageToken: 'after', totalSize: 9 }))
    const { body } = await rest(token, 'GET', 'tasks?pageSize=2')
    expect(body).toEqual({
      tasks: [taskOf(mine[0] ?? '')],
      nextPageToken: expect.stringMatching(/^[\w-]{20,}$/),
      pageSize: 2,
      totalSize: 2,
    })
    const { nextPageToken } = body as { nextPageToken: string }
    await rest(token, 'GET', `tasks?pageSize=2&pageToken=${nextPageToken}`)
    expect(called.agent.requests.map(({ path }) => path)).toEqual([
      '/rest-1/tasks?pageSize=50',
      '/rest-1/tasks?pageSize=50&pageToken=after',
    ])
  })

  it('that is no list of tasks is refused', async () => {
    serve(() => ({ tasks: [{ id: 5 }], secret: 'of others' }))
    const { body, text } = await rpc(alice, call('ListTasks', {}))
    expect([codeOf(body), text.includes('of others')]).toEqual([-32006, false])
  })
})

describe('gate.tasks', () => {
  it('is owner by default where a credential of the host opens the agent, which the report says', async () => {
    const card = agentCard(called.agent.origin)
    for (const [upstream, expected] of [
      [{ secret: 'AGENT_TOKEN' }, true],
      [{ service: 'ECHO' }, true],
      [undefined, false],
    ] as const) {
      const registered = await called.register('owned-report', { card, ...(upstream && { upstream }) })
      const { filled } = registered.report as { filled: { pointer: string }[] }
      expect(filled.some(({ pointer }) => pointer === '/gate/tasks')).toBe(expected)
    }
  })

  it('that is shared lets every caller reach every task', async () => {
    for (const id of ['owned-shared', 'owned-open']) {
      const task = await start(alice, nextId(), id)
      expect((await get(bob, task, id)).body).toMatchObject({ result: { id: task } })
      expect((await get(undefined, 'no-such-task', id)).body).toMatchObject({ result: { id: 'no-such-task' } })
    }
  })

  it('may be owner for an agent without a credential', async () => {
    const task = await start(alice, nextId(), 'owned-hidden')
    expectNotFound(await get(bob, task, 'owned-hidden'))
    expect((await get(alice, task, 'owned-hidden')).body).toMatchObject({ result: { id: task } })
  })
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

it('loses no owner when the host restarts', async () => {
  const storage = mkdtempSync(join(tmpdir(), 'calling-card-owners-'))
  const shared = called
  const startAgain = async () => {
    called = await startCalledHost({ AGENT_TOKEN: 'secret' }, { storage })
    await called.register(agent, { card: agentCard(called.agent.origin), upstream: { secret: 'AGENT_TOKEN' } })
  }
  try {
    await startAgain()
    const { token } = await called.issue({ scopes: ['call'] })
    const task = await start(token)
    await called.close()
    await startAgain()
    expect((await get(token, task)).body).toMatchObject({ result: { id: task } })
    expectNotFound(await get(adminToken, task))
    await called.close()
  } finally {
    called = shared
    rmSync(storage, { recursive: true, force: true })
  }
}, 60_000)
