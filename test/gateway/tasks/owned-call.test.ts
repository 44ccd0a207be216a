import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { CallError } from '../../../src/a2a/call-error.ts'
import type { A2ACall } from '../../../src/a2a/operations.ts'
import type { ResultFacts } from '../../../src/a2a/read-result.ts'
import type { Authentication } from '../../../src/auth/principal.ts'
import { checkTaskOwner, type OwnedCall } from '../../../src/gateway/tasks/owned-call.ts'
import type { AgentPage } from '../../../src/gateway/tasks/owner-store.ts'
import { type Ids, OwnerTable } from '../../../src/gateway/tasks/owner-table.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { MAX_CONTEXT_ID_LENGTH, MAX_PAGE_TOKEN_LENGTH, MAX_TASK_ID_LENGTH } from '../../../src/limits.ts'
import { callWith } from '../../support/calls.ts'
import { openSql } from '../../support/storage.ts'

const callerNamed = (subject: string): Authentication =>
  subject === ''
    ? { authenticated: false, reason: 'anonymous' }
    : { authenticated: true, subject, scopes: ['read'], agents: ['*'], tiers: [], strippedHeaders: [] }

let requests: string[]
let isDown: boolean
let env: Env
let agents = 0
/** An agent for each test, because the isolate remembers owners. */
let agent: string
beforeEach(() => {
  requests = []
  isDown = false
  agent = `agent-${agents++}`
  const table = new OwnerTable(openSql())
  const respond = (name: string, value: unknown) => {
    requests.push(name)
    return isDown ? Promise.reject(new Error('down')) : Promise.resolve(value || null)
  }
  const object = {
    use: (...args: Parameters<OwnerTable['use']>) => respond('use', table.use(...args)),
    record: (caller: string, ids: Ids) => respond('record', table.record([{ caller, ids }])[0]),
    openPage: (_caller: string, token: string) =>
      respond('openPage', token === 'sealed' && { token: 'agents', skip: 0, seen: 1 }),
    page: (caller: string, { tasks, next }: AgentPage) => {
      const { own, total } = table.own(caller, tasks)
      return respond('page', { own, totalSize: total, nextPageToken: next && 'sealed' })
    },
  }
  env = { TASK_OWNERS: { getByName: () => object } } as unknown as Env
})

const check = (subject: string, changes: Partial<A2ACall>) => checkFor(callerNamed(subject), changes)
const checkFor = (caller: Authentication, changes: Partial<A2ACall>) =>
  checkTaskOwner(callWith(changes), { agent, caller }, env)

const permitted = (result: OwnedCall | CallError): OwnedCall => {
  if ('kind' in result) throw new Error(result.kind)
  return result
}

const facts = (tasks: ResultFacts['tasks'], contexts: readonly string[] = []): ResultFacts => ({
  kind: 'task',
  tasks,
  contexts,
  mediaTypes: [],
})

/** Sends a message that starts a task. Returns the error of its answer. */
const start = async (subject: string, id: string, context = `context of ${id}`) =>
  permitted(await check(subject, {})).inspect(facts([{ id, contextId: context }], [context]))

const get = (subject: string, id: string) => check(subject, { operation: 'getTask', params: { id } })
const message = (more: JsonObject) => ({ message: { messageId: 'm', parts: [], ...more } })

describe('a task that a caller has started', () => {
  beforeEach(async () => {
    expect(await start('token:a', 'a1')).toBeUndefined()
  })

  it('is reached by that caller, without another request of the Durable Object', async () => {
    expect(await get('token:a', 'a1')).toMatchObject({ call: { params: { id: 'a1' } } })
    expect(requests).toEqual(['record'])
  })

  it('is refused to others, as an unknown one is', async () => {
    const notFound = { kind: 'task-not-found' }
    for (const subject of ['token:b', 'admin', ''])
      expect([await get(subject, 'a1'), await get(subject, 'unknown')]).toEqual([notFound, notFound])
    // The same requests, so that the time does not show the difference.
    expect(requests).toEqual(['record', ...Array(6).fill('use')])
  })

  it('is asked for in the Durable Object again after a minute, because it may have been cleared', async () => {
    vi.useFakeTimers({ now: Date.now() + 60_001 })
    await get('token:a', 'a1')
    expect(requests).toEqual(['record', 'use'])
  })
})

it('takes a caller whose issuer does not name its users for an anonymous one', async () => {
  const named = callerNamed('jwt:issuer.example:0') as Extract<Authentication, { authenticated: true }>
  const { inspect } = permitted(await checkFor({ ...named, oidcSubject: 'none' }, {}))
  await inspect(facts([{ id: 'u1' }]))
  expect(await get('token:b', 'u1')).toHaveProperty('call')
})

it('makes a context that an anonymous caller chooses that of the first known caller, which no isolate forgets', async () => {
  const params = message({ contextId: 'c' })
  for (const subject of ['', 'token:a']) expect(await check(subject, { params })).toHaveProperty('call')
  for (const subject of ['', 'token:b']) expect(await check(subject, { params })).toEqual({ kind: 'task-not-found' })
})

describe('an answer', () => {
  it('of a stream is recorded once for each task and context', async () => {
    const { inspect } = permitted(await check('token:a', { operation: 'stream' }))
    const event = facts([{ id: 'a1', contextId: 'c1' }], ['c1'])
    expect(await inspect(event)).toBeUndefined()
    for (let count = 0; count < 10; count++) expect(inspect(event)).toBeUndefined()
    // The stream lasts longer than the isolate remembers owners.
    vi.useFakeTimers({ now: Date.now() + 60_001 })
    expect(inspect(event)).toBeUndefined()
    expect(await inspect(facts([{ id: 'a2', contextId: 'c1' }], ['c1']))).toBeUndefined()
    expect(requests).toEqual(['record', 'record'])
  })

  it('is refused in the context of another caller', async () => {
    await start('token:a', 'a1', 'default')
    const clear = `npx sync-card tasks clear ${agent}`
    const detail = `An id of the agent belongs to another caller. If it restarted and uses ids again: ${clear}`
    expect(await start('token:b', 'b1', 'default')).toEqual({ kind: 'foreign-task', detail })
  })

  it('about a task shows no other one', async () => {
    await start('token:a', 'a1')
    const { inspect } = permitted(await get('token:a', 'a1'))
    expect(inspect(facts([{ id: 'a1' }]))).toBeUndefined()
    const detail = 'the answer is about another task'
    expect(inspect(facts([{ id: 'new' }]))).toEqual({ kind: 'invalid-response', status: 200, detail })
  })

  it('is withheld if an id is too long to be recorded', async () => {
    const [task, context] = ['x'.repeat(MAX_TASK_ID_LENGTH), 'c'.repeat(MAX_CONTEXT_ID_LENGTH)]
    const tooLong = { kind: 'invalid-response', status: 200, detail: 'the id of a task or context is too long' }
    expect(await start('token:a', task, context)).toBeUndefined()
    expect(await start('token:a', `${task}x`)).toEqual(tooLong)
    expect(await start('token:a', 'a1', `${context}c`)).toEqual(tooLong)
  })
})

describe('a list', () => {
  const list = (params: JsonObject) => check('token:a', { operation: 'listTasks', params })

  it('sends the agent its own page token, under every name that an agent may read', async () => {
    for (const name of ['pageToken', 'PAGE_TOKEN', 'pageToken[0]']) {
      const { call } = permitted(await list({ [name]: 'sealed', pageSize: 5 }))
      expect(call.params, name).toEqual({ pageToken: 'agents', pageSize: 50 })
    }
  })

  it('asks for pages of one size, which show little of how many tasks others have', async () => {
    for (const name of ['pageSize', 'PAGE_SIZE'])
      for (const size of [1, 100]) {
        const query = { [name]: `${size}`, status: 'x' }
        const sources = { path: {}, query, body: {} }
        const { call, inspect } = permitted(
          await check('token:a', { binding: 'HTTP+JSON', operation: 'listTasks', params: query, sources }),
        )
        expect(call.sources?.query, name).toEqual({ status: 'x', pageSize: '50' })
        expect(await inspect({ ...facts([]), kind: 'task-list' })).toMatchObject({ list: { pageSize: size } })
      }
  })

  it('is refused if its page token or size is invalid', async () => {
    const unsafe = JSON.rawJSON('1e400') as unknown as Json
    const invalid = [
      ...[{ pageToken: 'made up' }, { pageToken: 5 }, { pageToken: 'sealed', page_token: 'other' }],
      ...[-1, 101, 1.5, 'many', unsafe].map(pageSize => ({ pageSize })),
    ]
    for (const params of invalid)
      expect(await list(params as JsonObject), JSON.stringify(params)).toMatchObject({ kind: 'invalid-params' })
    requests = []
    expect(await list({ pageToken: 'x'.repeat(36_865) })).toMatchObject({
      violations: [{ field: 'pageToken', description: 'must be the `nextPageToken` of a page of this list' }],
    })
    expect(requests).toEqual([])
  })

  it('is withheld if the page token of the agent is too long', async () => {
    const { inspect } = permitted(await list({}))
    const page: ResultFacts = { ...facts([]), kind: 'task-list', nextPageToken: 'x'.repeat(MAX_PAGE_TOKEN_LENGTH) }
    expect(await inspect(page)).toMatchObject({ list: { nextPageToken: 'sealed' } })
    expect(await inspect({ ...page, nextPageToken: `${page.nextPageToken}x` })).toEqual({
      kind: 'invalid-response',
      status: 200,
      detail: 'nextPageToken is too long',
    })
  })

  it('is reduced to the own tasks of its caller', async () => {
    await start('token:a', 'a1')
    await start('token:b', 'b1')
    const { inspect } = permitted(await list({}))
    const page: ResultFacts = { ...facts([{ id: 'a1' }, { id: 'b1' }, { id: 'x' }]), kind: 'task-list' }
    expect(await inspect(page)).toEqual({
      list: { ids: new Set(['a1']), nextPageToken: '', pageSize: 50, totalSize: 1 },
    })
    isDown = true
    expect(await inspect(page)).toEqual({ kind: 'unavailable' })
  })

  it('passes the error of the agent', async () => {
    const { inspect } = permitted(await list({}))
    expect(await inspect({ ...facts([]), kind: 'error', error: { code: -32004 } })).toBeUndefined()
  })
})

describe('a call', () => {
  it('is refused, and its answer withheld, while the Durable Object does not respond', async () => {
    const { inspect } = permitted(await check('token:a', {}))
    isDown = true
    expect([await get('token:a', 'a1'), await inspect(facts([{ id: 'a1' }]))]).toEqual(
      Array(2).fill({ kind: 'unavailable' }),
    )
  })

  it('about a task is refused if it names none', async () => {
    expect(await check('token:a', { operation: 'cancel', params: {} })).toMatchObject({
      kind: 'invalid-params',
      violations: [{ field: 'id', description: 'must be the id of a task' }],
    })
  })

  it('about a task with too long an id is refused without a request', async () => {
    expect(await get('token:a', 'x'.repeat(MAX_TASK_ID_LENGTH + 1))).toEqual({ kind: 'task-not-found' })
    expect(requests).toEqual([])
  })
})
