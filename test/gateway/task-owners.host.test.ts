import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { MAX_TASK_ID_LENGTH } from '../../src/limits.ts'
import { type CalledHost, type Received, type Sent, startCalledHost, useSharedHost } from '../support/called-host.ts'
import { call, codeOf, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken, type Host, startHost } from '../support/host.ts'
import { json, stream } from '../support/upstream.ts'

const agent = 'owned'
const pushing = { capabilities: { streaming: true, pushNotifications: true } }

let called: CalledHost<Host>
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

const taskOf = (id: string, contextId = `context-of-${id}`): JsonObject => ({
  id,
  contextId,
  status: { state: 'TASK_STATE_COMPLETED' },
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
const expectNotFound = ({ status, body }: Received, isRest = false) => {
  expect([status, codeOf(body)]).toEqual(isRest ? [404, expect.toBeOneOf([404, -32001])] : [200, -32001])
  expect(called.agent.requests).toEqual([])
}

const named = (more: JsonObject): JsonObject => ({ message: { ...(message().message as JsonObject), ...more } })
const namedV03 = (more: JsonObject): JsonObject => ({ message: { ...(messageV03().message as JsonObject), ...more } })
const v03 = { 'A2A-Version': '0.3' }
const callback = { url: 'https://hooks.example.com/' }

type Attack = [name: string, send: (task: string, own: string) => Promise<Received>]

/** Every call that reaches a task, in every spelling that some agent might read. */
const attacks: Attack[] = [
  ...(['GetTask', 'CancelTask', 'SubscribeToTask'] as const).flatMap((method): Attack[] => [
    [method, id => rpc(bob, call(method, { id }))],
    [`${method} with taskId`, (taskId, id) => rpc(bob, call(method, { id, taskId }))],
    [`${method} with task_id`, (task, id) => rpc(bob, call(method, { id, task_id: task }))],
    [`${method} with ID`, (ID, id) => rpc(bob, call(method, { id, ID }))],
    [`${method} with name`, (task, id) => rpc(bob, call(method, { id, name: `tasks/${task}` }))],
    [`${method} in a wrapper`, (task, id) => rpc(bob, call(method, { id, request: { id: task } }))],
  ]),
  ...(['tasks/get', 'tasks/cancel'] as const).map(
    (method): Attack => [method, id => rpc(bob, call(method, { id }), agent, v03)],
  ),
  ...(['Create', 'Get', 'Delete'] as const).map(
    (verb): Attack => [
      `${verb}TaskPushNotificationConfig`,
      taskId => rpc(bob, call(`${verb}TaskPushNotificationConfig`, { taskId, id: 'c', ...callback })),
    ],
  ),
  ['ListTaskPushNotificationConfigs', taskId => rpc(bob, call('ListTaskPushNotificationConfigs', { taskId }))],
  [
    'CreateTaskPushNotificationConfig with the task in the configuration',
    (taskId, own) =>
      rpc(bob, call('CreateTaskPushNotificationConfig', { taskId: own, config: { taskId, ...callback } })),
  ],
  [
    'CreateTaskPushNotificationConfig with parent',
    (task, taskId) =>
      rpc(bob, call('CreateTaskPushNotificationConfig', { taskId, parent: `tasks/${task}`, ...callback })),
  ],
  ...(['set', 'get', 'list', 'delete'] as const).flatMap((verb): Attack[] => [
    [
      `tasks/pushNotificationConfig/${verb} with id`,
      id =>
        rpc(bob, call(`tasks/pushNotificationConfig/${verb}`, { id, pushNotificationConfig: callback }), agent, v03),
    ],
    [
      `tasks/pushNotificationConfig/${verb} with taskId`,
      taskId =>
        rpc(
          bob,
          call(`tasks/pushNotificationConfig/${verb}`, { taskId, pushNotificationConfig: callback }),
          agent,
          v03,
        ),
    ],
  ]),
  ...(['SendMessage', 'SendStreamingMessage'] as const).flatMap((method): Attack[] => [
    [`${method} with taskId`, taskId => rpc(bob, call(method, named({ taskId })))],
    [`${method} with task_id`, id => rpc(bob, call(method, named({ task_id: id })))],
    [`${method} with contextId`, id => rpc(bob, call(method, named({ contextId: `context-of-${id}` })))],
    [`${method} with context_id`, id => rpc(bob, call(method, named({ context_id: `context-of-${id}` })))],
    [`${method} with its context in capitals`, id => rpc(bob, call(method, named({ contextId: `CONTEXT-OF-${id}` })))],
    [`${method} with spaces`, id => rpc(bob, call(method, named({ contextId: ` context-of-${id} ` })))],
    [`${method} with referenceTaskIds`, id => rpc(bob, call(method, named({ referenceTaskIds: [id] })))],
    [`${method} beside their own`, (id, own) => rpc(bob, call(method, named({ referenceTaskIds: [own, id] })))],
    [`${method} with TaskId`, (TaskId, taskId) => rpc(bob, call(method, named({ taskId, TaskId })))],
    [`${method} with id beside the message`, id => rpc(bob, call(method, { ...message(), id }))],
    [
      `${method} with the task in the push configuration`,
      taskId =>
        rpc(
          bob,
          call(method, message({ configuration: { taskPushNotificationConfig: { id: 'c', taskId, ...callback } } })),
        ),
    ],
  ]),
  ['message/send', taskId => rpc(bob, call('message/send', namedV03({ taskId })), agent, v03)],
  [
    'message/send with a context',
    id => rpc(bob, call('message/send', namedV03({ contextId: `context-of-${id}` })), agent, v03),
  ],
  ['a list of a context', id => rpc(bob, call('ListTasks', { contextId: `context-of-${id}` }))],
]

const restAttacks: Attack[] = [
  ...['', 'v1/'].flatMap((prefix): Attack[] => [
    [`GET ${prefix}tasks/{id}`, id => rest(bob, 'GET', `${prefix}tasks/${id}`)],
    [`GET ${prefix}tasks/{id}, encoded`, id => rest(bob, 'GET', `${prefix}tasks/${id.replace('t', '%74')}`)],
    [`GET ${prefix}tasks/{id} with a query`, (id, own) => rest(bob, 'GET', `${prefix}tasks/${own}?id=${id}`)],
    [`GET ${prefix}tasks/{id} with taskId`, (id, own) => rest(bob, 'GET', `${prefix}tasks/${own}?task_id=${id}`)],
    [`POST ${prefix}tasks/{id}:cancel`, id => rest(bob, 'POST', `${prefix}tasks/${id}:cancel`)],
    [
      `POST ${prefix}tasks/{id}:cancel with a body`,
      (id, own) => rest(bob, 'POST', `${prefix}tasks/${own}:cancel`, { id }),
    ],
    [`POST ${prefix}tasks/{id}:subscribe`, id => rest(bob, 'POST', `${prefix}tasks/${id}:subscribe`)],
    [`GET ${prefix}tasks/{id}:subscribe`, id => rest(bob, 'GET', `${prefix}tasks/${id}:subscribe`)],
    [`GET ${prefix}…/pushNotificationConfigs`, id => rest(bob, 'GET', `${prefix}tasks/${id}/pushNotificationConfigs`)],
    [`GET ${prefix}…/{config}`, id => rest(bob, 'GET', `${prefix}tasks/${id}/pushNotificationConfigs/c`)],
    [`DELETE ${prefix}…/{config}`, id => rest(bob, 'DELETE', `${prefix}tasks/${id}/pushNotificationConfigs/c`)],
    [
      `POST ${prefix}…/pushNotificationConfigs`,
      id => rest(bob, 'POST', `${prefix}tasks/${id}/pushNotificationConfigs`, callback),
    ],
    [
      `POST ${prefix}…/pushNotificationConfigs with taskId in the body`,
      (taskId, own) => rest(bob, 'POST', `${prefix}tasks/${own}/pushNotificationConfigs`, { taskId, ...callback }),
    ],
  ]),
  ['POST message:send', taskId => rest(bob, 'POST', 'message:send', named({ taskId }))],
  ['POST message:stream', taskId => rest(bob, 'POST', 'message:stream', named({ taskId }))],
  ['POST message:send with a query', id => rest(bob, 'POST', `message:send?taskId=${id}`, message())],
  [
    'POST v1/message:send',
    task_id => {
      const request = { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'a' }], task_id }
      return rest(bob, 'POST', 'v1/message:send', { request })
    },
  ],
  ['GET tasks of a context', id => rest(bob, 'GET', `tasks?contextId=context-of-${id}`)],
]

describe('a task of another caller', () => {
  let task: string
  let own: string
  beforeAll(async () => {
    task = await start(alice)
    own = await start(bob)
  })

  it.each(attacks)('is not reached by %s', async (_, attack) => {
    expectNotFound(await attack(task, own))
  })

  it.each(restAttacks)('is not reached by %s', async (_, attack) => {
    expectNotFound(await attack(task, own), true)
  })

  it.each(['GetTask', 'CancelTask', 'CreateTaskPushNotificationConfig'])(
    'is not reached by %s with a resource name that begins with their own',
    async method => {
      const params = { taskId: own, name: `tasks/${own}/tasks/${task}`, ...callback }
      expect([codeOf((await rpc(bob, call(method, params))).body), called.agent.requests]).toEqual([-32602, []])
    },
  )

  it.each([
    ['an anonymous caller', () => undefined],
    ['an administrator', () => adminToken],
  ])('is not reached by %s', async (_, token) => {
    expectNotFound(await get(token(), task))
  })

  it.each([
    ['message/stream', namedV03],
    ['tasks/resubscribe', ({ taskId }: JsonObject) => ({ id: taskId ?? '' })],
  ])('is not reached by %s, whose error is an event', async (method, write) => {
    const { headers, text } = await rpc(bob, call(method, write({ taskId: task })), agent, v03)
    expect([headers.get('Content-Type'), text]).toEqual(['text/event-stream', expect.stringContaining('-32001')])
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
  it.each([
    ['a token', () => alice],
    ['the admin token', () => adminToken],
  ])('is reached with %s, in both bindings', async (_, token) => {
    const id = await start(token())
    expect((await get(token(), id)).body).toMatchObject({ result: { id } })
    expect((await rest(token(), 'GET', `tasks/${id}`)).status).toBe(200)
    serve(() => ({ task: taskOf(id) }))
    const params = named({ taskId: id, contextId: `context-of-${id}` })
    expect((await rpc(token(), call('SendMessage', params))).body).toMatchObject({ result: { task: { id } } })
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

describe('the task of an anonymous caller', () => {
  it('is reached by whoever has its id', async () => {
    const id = await start(undefined)
    for (const token of [undefined, alice]) expect((await get(token, id)).body).toMatchObject({ result: { id } })
  })
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

  it('counts the tasks that one page has', async () => {
    const { token } = await called.issue({ scopes: ['read'] })
    const mine = await start(token)
    await start(token)
    serveList([mine, await start(alice)].slice(0, 2))
    serveList([mine])
    expect((await list(token)).page).toEqual({ nextPageToken: '', pageSize: 2, totalSize: 1 })
  })

  it.each([
    ['an anonymous caller', () => undefined],
    ['a caller without tasks', async () => (await called.issue({ scopes: ['read'] })).token],
  ])('is empty for %s', async (_, token) => {
    const ids = [await start(undefined), await start(alice), nextId()]
    serveList(ids)
    const { ids: listed, page } = await list(await token())
    expect([listed, page]).toEqual([[], { nextPageToken: '', pageSize: 2, totalSize: 0 }])
  })

  it.each([
    ["the agent's own", (_own: string, others: string) => others],
    ["another caller's", (own: string) => own],
  ])('is not continued with a page token that is %s', async (_, choose) => {
    const ids = [await start(alice), await start(bob), await start(alice), await start(bob)]
    serveList(ids)
    const { page } = await list(alice)
    expect(page.nextPageToken).not.toBe('')
    called.agent.requests.length = 0
    const { body } = await rpc(bob, call('ListTasks', { pageToken: choose(page.nextPageToken, ids[1] ?? '') }))
    expect([codeOf(body), called.agent.requests]).toEqual([-32602, []])
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

  it.each(['owned-shared', 'owned-open'])('that is shared lets every caller reach every task: %s', async id => {
    const task = await start(alice, nextId(), id)
    expect((await get(bob, task, id)).body).toMatchObject({ result: { id: task } })
    expect((await get(undefined, 'no-such-task', id)).body).toMatchObject({ result: { id: 'no-such-task' } })
  })

  it('may be owner for an agent without a credential', async () => {
    const task = await start(alice, nextId(), 'owned-hidden')
    expectNotFound(await get(bob, task, 'owned-hidden'))
    expect((await get(alice, task, 'owned-hidden')).body).toMatchObject({ result: { id: task } })
  })
})

describe('gate.responses: off', () => {
  it.each<[string, JsonObject, Json]>([
    ['a message', call('SendMessage'), { wrapped: { task: taskOf('unreadable') } }],
    ['a list', call('ListTasks', {}), { items: [taskOf('unreadable')] }],
  ])('passes no answer to %s that cannot be read, and so not be checked', async (_, body, result) => {
    serve(() => result)
    const { status, text } = await rpc(alice, body, 'owned-unchecked')
    expect([status, text.includes('unreadable'), text.includes('-32006')]).toEqual([502, false, true])
  })
})

describe('a restart of the host', () => {
  it('loses no owner', async () => {
    const storage = mkdtempSync(join(tmpdir(), 'calling-card-owners-'))
    const startAgain = () => startCalledHost({ AGENT_TOKEN: 'secret' }, vars => startHost(vars, { storage }))
    const shared = called
    try {
      called = (await startAgain()) as CalledHost<Host>
      await called.register(agent, { card: agentCard(called.agent.origin), upstream: { secret: 'AGENT_TOKEN' } })
      const { token } = await called.issue({ scopes: ['call'] })
      const task = await start(token)
      await called.close()
      called = (await startAgain()) as CalledHost<Host>
      await called.register(agent, { card: agentCard(called.agent.origin), upstream: { secret: 'AGENT_TOKEN' } })
      expect((await get(token, task)).body).toMatchObject({ result: { id: task } })
      expectNotFound(await get(adminToken, task))
      await called.close()
    } finally {
      called = shared
      rmSync(storage, { recursive: true, force: true })
    }
  }, 20_000)
})
