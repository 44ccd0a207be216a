import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { CallError } from '../../src/a2a/errors.ts'
import type { A2ACall } from '../../src/a2a/operations.ts'
import type { ResultFacts } from '../../src/a2a/results.ts'
import type { Authentication } from '../../src/auth/principal.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { MAX_PAGE_TOKEN_LENGTH, MAX_TASK_ID_LENGTH } from '../../src/limits.ts'
import type { OwnedCall } from '../../src/task-owners/agent-owners.ts'
import { checkTaskOwner } from '../../src/task-owners/owned-call.ts'
import type { AgentPage } from '../../src/task-owners/owner-store.ts'
import { OwnerTable } from '../../src/task-owners/owner-table.ts'
import { MAX_SEALED_LENGTH } from '../../src/task-owners/page-tokens.ts'
import { callWith } from '../support/calls.ts'
import { openSql } from '../support/storage.ts'

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
    record: (...args: Parameters<OwnerTable['record']>) => respond('record', table.record(...args)),
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

  it.each(['token:b', 'admin', ''])('is refused to others, as an unknown one is: "%s"', async subject => {
    expect(await get(subject, 'a1')).toEqual({ kind: 'task-not-found' })
    expect(await get(subject, 'unknown')).toEqual({ kind: 'task-not-found' })
    // The same requests, so that the time does not show the difference.
    expect(requests).toEqual(['record', 'use', 'use'])
  })

  it.each<[string, JsonObject]>([
    ['continues it', { taskId: 'a1' }],
    ['continues its context', { contextId: 'context of a1' }],
    ['refers to it', { referenceTaskIds: ['a1'] }],
  ])('is refused to the message of another caller that %s', async (_, more) => {
    expect(await check('token:b', { params: message(more) })).toEqual({ kind: 'task-not-found' })
    expect(await check('token:a', { params: message(more) })).toHaveProperty('call')
  })

  it('is not shown to another caller, whatever the agent answers', async () => {
    const { inspect } = permitted(await check('token:b', {}))
    expect(await inspect(facts([{ id: 'b1' }, { id: 'a1' }]))).toMatchObject({ kind: 'foreign-task' })
    expect(await get('token:b', 'b1')).toEqual({ kind: 'task-not-found' })
  })

  it('is asked for in the Durable Object again after a minute, because it may have been cleared', async () => {
    vi.useFakeTimers({ now: Date.now() + 60_001 })
    await get('token:a', 'a1')
    expect(requests).toEqual(['record', 'use'])
  })
})

describe('a task that an anonymous caller has started', () => {
  it.each(['token:b', ''])('is reached by whoever has its id: "%s"', async subject => {
    await start('', 'n1')
    expect(await get(subject, 'n1')).toHaveProperty('call')
    expect(await check(subject, { params: message({ taskId: 'n1', contextId: 'context of n1' }) })).toHaveProperty(
      'call',
    )
  })
})

it('takes a caller whose issuer does not name its users for an anonymous one', async () => {
  const named = callerNamed('jwt:issuer.example:0') as Extract<Authentication, { authenticated: true }>
  const { inspect } = permitted(await checkFor({ ...named, oidcSubject: 'none' }, {}))
  await inspect(facts([{ id: 'u1' }]))
  expect(await get('token:b', 'u1')).toHaveProperty('call')
})

describe('a context that a caller chooses', () => {
  it('is claimed before the call is forwarded', async () => {
    expect(await check('token:a', { params: message({ contextId: 'c' }) })).toHaveProperty('call')
    expect(await check('token:b', { params: message({ contextId: 'c' }) })).toEqual({ kind: 'task-not-found' })
  })
})

describe('a context that an anonymous caller chooses', () => {
  it('becomes that of the first known caller, which no isolate forgets', async () => {
    const params = message({ contextId: 'c' })
    expect(await check('', { params })).toHaveProperty('call')
    expect(await check('token:a', { params })).toHaveProperty('call')
    expect(await check('', { params })).toEqual({ kind: 'task-not-found' })
    expect(await check('token:b', { params })).toEqual({ kind: 'task-not-found' })
  })
})

describe('an answer', () => {
  it('of a stream is recorded once for each task and context', async () => {
    const { inspect } = permitted(await check('token:a', { operation: 'stream' }))
    const event = facts([{ id: 'a1', contextId: 'c1' }], ['c1'])
    expect(await inspect(event)).toBeUndefined()
    for (let count = 0; count < 10; count++) expect(inspect(event)).toBeUndefined()
    expect(await inspect(facts([{ id: 'a2', contextId: 'c1' }], ['c1']))).toBeUndefined()
    expect(requests).toEqual(['record', 'record'])
  })

  it.each(['token:b', ''])('is refused in the context of another caller: "%s"', async subject => {
    await start('token:a', 'a1', 'default')
    expect(await start(subject, 'b1', 'default')).toEqual({
      kind: 'foreign-task',
      detail: `An id of the agent belongs to another caller. If it restarted and uses ids again: npx sync-card tasks clear ${agent}`,
    })
    expect(await get(subject, 'b1')).toEqual({ kind: 'task-not-found' })
  })

  it('about a task shows no other one', async () => {
    await start('token:a', 'a1')
    const { inspect } = permitted(await get('token:a', 'a1'))
    expect(inspect(facts([{ id: 'a1' }]))).toBeUndefined()
    expect(inspect(facts([{ id: 'new' }]))).toMatchObject({ kind: 'invalid-response', status: 200 })
  })

  it('is withheld if an id is too long to be recorded', async () => {
    expect(await start('token:a', 'x'.repeat(MAX_TASK_ID_LENGTH + 1))).toMatchObject({ kind: 'invalid-response' })
  })

  it('is withheld while the Durable Object does not respond', async () => {
    const { inspect } = permitted(await check('token:a', {}))
    isDown = true
    expect(await inspect(facts([{ id: 'a1' }]))).toEqual({ kind: 'unavailable' })
  })
})

describe('a list', () => {
  const list = (params: JsonObject) => check('token:a', { operation: 'listTasks', params })

  it.each(['pageToken', 'page_token', 'PAGETOKEN', 'page-token', 'pageToken[]', 'pageToken[0]', 'pageToKen'])(
    'sends the agent its own page token, in place of %s',
    async name => {
      const { call } = permitted(await list({ [name]: 'sealed', pageSize: 5 }))
      expect(call.params).toEqual({ pageToken: 'agents', pageSize: 50 })
    },
  )

  it.each<[string, JsonObject]>([
    ['another', { pageToken: 'made up' }],
    ['no string', { pageToken: 5 }],
    ['present twice, with different values', { pageToken: 'sealed', page_token: 'other' }],
  ])('is refused if its page token is %s', async (_, params) => {
    expect(await list(params)).toMatchObject({ kind: 'invalid-params' })
  })

  it.each(['pageSize', 'page_size', 'PAGESIZE', 'pageSize[]'])(
    'asks for pages of one size, which show little of how many tasks others have, in place of %s',
    async name => {
      for (const size of [1, 100]) {
        const query = { [name]: `${size}`, status: 'x' }
        const { call, inspect } = permitted(
          await check('token:a', {
            binding: 'HTTP+JSON',
            operation: 'listTasks',
            params: query,
            sources: { path: {}, query, body: {} },
          }),
        )
        expect(call.sources?.query).toEqual({ status: 'x', pageSize: '50' })
        expect(await inspect({ ...facts([]), kind: 'task-list' })).toMatchObject({ list: { pageSize: size } })
      }
    },
  )

  it.each<[string, Json]>([
    ['negative', -1],
    ['over 100', 101],
    ['no integer', 1.5],
    ['no number', 'many'],
    ['an unsafe number', JSON.rawJSON('1e400') as unknown as Json],
  ])('is refused if its page size is %s', async (_, pageSize) => {
    expect(await list({ pageSize })).toMatchObject({ kind: 'invalid-params' })
  })

  it('is refused if its page token is too long', async () => {
    expect(await list({ pageToken: 'x'.repeat(MAX_SEALED_LENGTH + 1) })).toMatchObject({ kind: 'invalid-params' })
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
  it('without tasks costs no request of the Durable Object', async () => {
    await check('token:a', {})
    expect(requests).toEqual([])
  })

  it('is refused while the Durable Object does not respond', async () => {
    isDown = true
    expect(await get('token:a', 'a1')).toEqual({ kind: 'unavailable' })
  })

  it('about a task is refused if it names none', async () => {
    expect(await check('token:a', { operation: 'cancel', params: {} })).toMatchObject({ kind: 'invalid-params' })
  })

  it('about a task with too long an id is refused without a request', async () => {
    expect(await get('token:a', 'x'.repeat(MAX_TASK_ID_LENGTH + 1))).toEqual({ kind: 'task-not-found' })
    expect(requests).toEqual([])
  })
})
