import { describe, expect, it, vi } from 'vitest'
import type { AnswerPlace, Inspected } from '../../src/a2a/results.ts'
import { type AnswerPolicy, checkAnswer, checkEvent } from '../../src/gateway/upstream/check-answer.ts'
import type { AnsweredCall } from '../../src/gateway/upstream/request.ts'
import type { Json } from '../../src/json/json.ts'
import { MAX_EVENT_BYTES, MAX_JSON_DEPTH } from '../../src/limits.ts'
import { resultOf } from '../support/answers.ts'

const policyWith = (changes: Partial<AnswerPolicy> = {}) => ({
  level: 'enforce' as const,
  warn: vi.fn(),
  status: 200,
  ...changes,
})

const callWith = (changes: Partial<AnsweredCall> = {}): AnsweredCall => ({
  binding: 'JSONRPC',
  version: '1.0',
  operation: 'send',
  id: 7,
  ...changes,
})

const check = (
  text: string,
  { call, place = 'response', ...changes }: Partial<AnswerPolicy> & { call?: AnsweredCall; place?: AnswerPlace } = {},
) => checkAnswer(text, place, call ?? callWith(), policyWith(changes))

const result = JSON.stringify(resultOf('send', '1.0'))
const answer = (id: string) => `{ "jsonrpc": "2.0", ${id} "result": ${result}, "n": 1.0 }`

describe('the id of a JSON-RPC answer', () => {
  it.each<[Json, string]>([
    [7, '7'],
    ['7', '"7"'],
    ['ü', '"\\u00fc"'],
    [0, '0'],
    [null, 'null'],
    [JSON.rawJSON('12345678901234567890') as Json, '12345678901234567890'],
    [1.5, '1.5'],
  ])('that is the id of the caller passes byte for byte: %j', async (id, text) => {
    expect(await check(answer(`"id": ${text},`), { call: callWith({ id }) })).toBeUndefined()
  })

  it.each<[Json, string, string]>([
    [7, '"id": 8,', '7'],
    [7, '"id": "7",', '7'],
    [7, '"id": null,', '7'],
    [7, '"id": {"a": [7]},', '7'],
    ['7', '"id": 7,', '"7"'],
    [null, '"id": 7,', 'null'],
    [JSON.rawJSON('12345678901234567890') as Json, '"id": 12345678901234567000,', '12345678901234567890'],
    [2 ** 53, '"id": 9007199254740993,', '9007199254740992'],
  ])('is restored: %j instead of %s', async (id, member, expected) => {
    expect(await check(answer(member), { call: callWith({ id }) })).toEqual({
      text: `{"jsonrpc":"2.0","id":${expected},"result":${result},"n":1.0}`,
    })
  })

  it('is restored where there is none', async () => {
    expect(await check(answer(''))).toEqual({ text: `{"jsonrpc":"2.0","result":${result},"n":1.0,"id":7}` })
  })

  it('is restored in an error and in an event', async () => {
    const error = (id: string) => `{"jsonrpc":"2.0","id":${id},"error":{"code":-32001,"message":"x","data":1e400}}`
    expect(await check(error('null'))).toEqual({ text: error('7') })
    expect(await check(error('8'), { place: 'event', call: callWith({ operation: 'stream' }) })).toEqual({
      text: error('7'),
    })
  })

  it('is not there over HTTP+JSON', async () => {
    expect(await check(result, { call: callWith({ binding: 'HTTP+JSON', id: null }) })).toBeUndefined()
  })

  it.each(['response', 'event'] as const)('is not restored with warn, but reported, as %s', async place => {
    const warn = vi.fn()
    expect(await check(answer('"id": 7,'), { level: 'warn', warn, place })).toBeUndefined()
    expect(warn).not.toHaveBeenCalled()
    expect(await check(answer('"id": 8,'), { level: 'warn', warn, place })).toBeUndefined()
    const detail = 'id must be that of the call'
    expect(warn).toHaveBeenCalledExactlyOnceWith({ kind: 'invalid-response', status: 200, detail }, place)
  })

  it('is reported after the inspection, because the answer is one of A2A', () => {
    const order: string[] = []
    check(answer('"id": 8,'), {
      level: 'warn',
      inspect: () => void order.push('inspect'),
      warn: () => order.push('warn'),
    })
    expect(order).toEqual(['inspect', 'warn'])
  })

  it('is neither restored nor reported with off', async () => {
    const warn = vi.fn()
    const inspect = () => undefined
    expect(await check(answer('"id": 8,'), { level: 'off', warn, inspect })).toBeUndefined()
    expect(warn).not.toHaveBeenCalled()
  })
})

describe('an answer that is not A2A', () => {
  const bad = '{"jsonrpc":"2.0","id":7}'
  const error = { kind: 'invalid-response', status: 200, detail: 'result or error must be present' }

  it('is an error with enforce, passes with a warning with warn, and passes with off', async () => {
    expect(await check(bad)).toEqual(error)
    const warn = vi.fn()
    expect(await check(bad, { level: 'warn', warn })).toBeUndefined()
    expect(warn).toHaveBeenCalledExactlyOnceWith(error, 'response')
    expect(await check(bad, { level: 'off' })).toBeUndefined()
  })

  it.each(['enforce', 'warn', 'off'] as const)('is an error with %s if it is not JSON', async level => {
    const invalid = { kind: 'invalid-response', status: 200, detail: 'the body must be JSON' }
    for (const text of ['', '<html>', '{"jsonrpc":']) expect(await check(text, { level })).toEqual(invalid)
  })

  it('passes as an event that is not JSON unless the level is enforce', async () => {
    const warn = vi.fn()
    expect(await check('<html>', { level: 'warn', warn, place: 'event' })).toBeUndefined()
    expect(warn).toHaveBeenCalledOnce()
    expect(await check('<html>', { place: 'event' })).toMatchObject({ kind: 'invalid-response' })
  })

  it('has no text of the agent in its reason', async () => {
    const marker = 'zzmarkerzz'
    for (const text of [
      `{"jsonrpc":"${marker}"}`,
      `{"jsonrpc":"2.0","result":{"${marker}":"${marker}"}}`,
      `{"jsonrpc":"2.0","error":{"code":"${marker}","${marker}":1}}`,
      `{"jsonrpc":"2.0","result":{"message":{"messageId":"1","parts":[{"${marker}":1}]}}}`,
      marker,
    ])
      expect(JSON.stringify(await check(text))).not.toContain(marker)
  })
})

describe('an answer that nests too deeply', () => {
  /** An answer whose innermost array is at a depth. */
  const nested = (depth: number, id = '7') =>
    `{"jsonrpc":"2.0","id":${id},"result":${result},"x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
  const error = {
    kind: 'invalid-response',
    status: 200,
    detail: `the body must not nest deeper than ${MAX_JSON_DEPTH} levels`,
  }

  it.each(['response', 'error-response', 'event'] as const)('is an error with enforce, as %s', async place => {
    expect(await check(nested(MAX_JSON_DEPTH), { place })).toBeUndefined()
    for (const id of ['7', '8']) expect(await check(nested(MAX_JSON_DEPTH + 1, id), { place })).toEqual(error)
    expect(await check(nested(100_000), { place })).toEqual(error)
  })

  it('passes with a warning with warn, and passes with off', async () => {
    const warn = vi.fn()
    expect(await check(nested(MAX_JSON_DEPTH + 1), { level: 'warn', warn })).toBeUndefined()
    expect(warn).toHaveBeenCalledExactlyOnceWith(error, 'response')
    expect(await check(nested(MAX_JSON_DEPTH + 1), { level: 'off' })).toBeUndefined()
  })

  it('is no JSON if a part of it is missing, whatever the level', async () => {
    for (const level of ['enforce', 'warn', 'off'] as const)
      expect(await check('['.repeat(MAX_JSON_DEPTH + 1), { level })).toMatchObject({ detail: 'the body must be JSON' })
  })
})

describe('an answer with a name twice in one object', () => {
  const rest = callWith({ binding: 'HTTP+JSON', id: null })
  const getTask = callWith({ operation: 'getTask' })
  const task = (members: string) =>
    `{"jsonrpc":"2.0","id":7,"result":{${members},"status":{"state":"TASK_STATE_WORKING"}}}`
  const error = { kind: 'invalid-response', status: 200, detail: 'the body must not have a name twice in one object' }

  it.each<[string, string, AnswerPlace, AnsweredCall?]>([
    ['result', `{"jsonrpc":"2.0","id":7,"result":{"message":{}},"result":${result}}`, 'response'],
    ['result, pretty-printed', `{\n "jsonrpc": "2.0", "id": 7,\n "result": {},\n "result" : ${result}\n}`, 'response'],
    ['an escaped result', `{"jsonrpc":"2.0","id":7,"r\\u0065sult":{},"result":${result}}`, 'response'],
    ['id', `{"jsonrpc":"2.0","id":8,"id":7,"result":${result}}`, 'response'],
    ['error', '{"jsonrpc":"2.0","id":7,"error":{},"error":{"code":-32001,"message":"x"}}', 'error-response'],
    ['id of a task', task('"id":"theirs","id":"mine"'), 'response', getTask],
    ['contextId', task('"id":"mine","contextId":"theirs","contextId":"mine"'), 'response', getTask],
    ['a name in metadata', task('"id":"mine","metadata":{"a":[{"b":1,"b":1}]}'), 'response', getTask],
    ['result, in an event', `{"jsonrpc":"2.0","id":7,"result":{},"result":${result}}`, 'event'],
    ['message, over HTTP+JSON', `{"message":{},${result.slice(1)}`, 'response', rest],
  ])('is an error with enforce: %s', async (_, text, place, call) => {
    expect(await check(text, { place, ...(call && { call }) })).toEqual(error)
  })

  it('passes with a warning with warn, and passes with off', async () => {
    const warn = vi.fn()
    const text = task('"id":"theirs","id":"mine"')
    expect(await check(text, { call: getTask, level: 'warn', warn })).toBeUndefined()
    expect(warn).toHaveBeenCalledExactlyOnceWith(error, 'response')
    expect(await check(text, { call: getTask, level: 'off' })).toBeUndefined()
  })

  it('is written again with one value where something else in it is repaired', async () => {
    const text = '{"jsonrpc":"2.0","id":7,"error":{"code":1,"code":2,"message":"x","data":{"stack":"at a"}}}'
    expect(await check(text)).toEqual({
      text: '{"jsonrpc":"2.0","id":7,"error":{"code":2,"message":"x","data":{}}}',
    })
  })

  it('is not one with equal names in several objects, or in texts', async () => {
    const parts = '[{"text":"{\\"text\\":1,\\"text\\":2} \\\\"},{"text":"a","metadata":{"text":{"text":1e2}}}]'
    const message = `{"messageId":"m","role":"ROLE_AGENT","parts" : ${parts}}`
    const text = `{"jsonrpc":"2.0","id":7,\t"result":{"message":${message}}}`
    expect(await check(text)).toBeUndefined()
  })
})

describe('a push configuration that is read back', () => {
  const secret = { token: 's-1', authentication: { scheme: 'Bearer', credentials: 's-2' } }
  const config = { id: 'p', taskId: 't', url: 'https://client.example/push', ...secret }
  const { token: _, ...shown } = { ...config, authentication: { scheme: 'Bearer' } }
  const inner = { id: 'p', url: 'https://client.example/push', ...secret }
  const { token: __, ...shownInner } = { ...inner, authentication: { scheme: 'Bearer' } }
  const named = { name: 'tasks/t/pushNotificationConfigs/p' }
  const rpc = (result: unknown) => ({ jsonrpc: '2.0', id: 7, result })

  it.each<[string, Partial<AnsweredCall>, unknown, unknown]>([
    ['Get in 1.0', { operation: 'getPushConfig' }, rpc(config), rpc(shown)],
    [
      'List in 1.0',
      { operation: 'listPushConfigs' },
      rpc({ configs: [config, config], nextPageToken: 'n' }),
      rpc({ configs: [shown, shown], nextPageToken: 'n' }),
    ],
    ['Get in 1.0 over HTTP+JSON', { operation: 'getPushConfig', binding: 'HTTP+JSON' }, config, shown],
    [
      'get in 0.3',
      { operation: 'getPushConfig', version: '0.3' },
      rpc({ taskId: 't', pushNotificationConfig: inner }),
      rpc({ taskId: 't', pushNotificationConfig: shownInner }),
    ],
    [
      'list in 0.3',
      { operation: 'listPushConfigs', version: '0.3' },
      rpc([{ taskId: 't', pushNotificationConfig: inner }]),
      rpc([{ taskId: 't', pushNotificationConfig: shownInner }]),
    ],
    [
      'get in 0.3 over HTTP+JSON',
      { operation: 'getPushConfig', version: '0.3', binding: 'HTTP+JSON' },
      { ...named, pushNotificationConfig: inner },
      { ...named, pushNotificationConfig: shownInner },
    ],
  ])('has no secrets at any level: %s', async (_name, changes, sent, expected) => {
    for (const level of ['enforce', 'warn', 'off'] as const)
      expect(await check(JSON.stringify(sent), { call: callWith(changes), level })).toEqual({
        text: JSON.stringify(expected),
      })
  })

  it.each([
    [
      'under a name that is there twice',
      '{"jsonrpc":"2.0","id":7,"result":{"taskId":"t","url":"u","token":"a","token":"b","n":1.0}}',
    ],
    [
      'in another form than that of its version',
      '{"jsonrpc":"2.0","id":7,"result":{"taskId":"t","url":"u","n":1.0,"Token":"a"}}',
    ],
  ])('has none that passes at a lower level %s', async (_name, text) => {
    const expected = '{"jsonrpc":"2.0","id":7,"result":{"taskId":"t","url":"u","n":1.0}}'
    for (const level of ['warn', 'off'] as const)
      expect(await check(text, { call: callWith({ operation: 'getPushConfig' }), level })).toEqual({ text: expected })
  })

  it('is refused if it cannot be read', async () => {
    const deep = `${'['.repeat(MAX_JSON_DEPTH + 1)}${']'.repeat(MAX_JSON_DEPTH + 1)}`
    const call = callWith({ operation: 'getPushConfig' })
    expect(await check(deep, { call, level: 'off' })).toMatchObject({ kind: 'invalid-response' })
  })

  it('is whole for the caller who creates it', async () => {
    expect(
      await check(JSON.stringify(rpc(config)), { call: callWith({ operation: 'createPushConfig' }) }),
    ).toBeUndefined()
  })
})

describe('an event that is too large to be read', () => {
  it('is an error with enforce, passes with a warning with warn, and passes with off', async () => {
    const error = { kind: 'response-too-large', maxBytes: MAX_EVENT_BYTES }
    expect(await checkEvent(undefined, callWith(), policyWith())).toEqual(error)
    const warn = vi.fn()
    expect(await checkEvent(undefined, callWith(), policyWith({ level: 'warn', warn }))).toBeUndefined()
    expect(warn).toHaveBeenCalledExactlyOnceWith(error, 'event')
    expect(await checkEvent(undefined, callWith(), policyWith({ level: 'off' }))).toBeUndefined()
  })
})

describe('an inspection', () => {
  const list = callWith({ operation: 'listTasks' })
  const task = (id: string) => ({ id, status: { state: 'TASK_STATE_WORKING' }, 'x-size': '@' })
  // A number that JavaScript would round.
  const tasks = JSON.stringify({ jsonrpc: '2.0', id: 7, result: { tasks: [task('a'), task('b')], totalSize: 2 } })
  const listing = tasks.replaceAll('"@"', '12345678901234567890')

  it.each(['enforce', 'warn', 'off'] as const)('sees the facts of an answer with %s', async level => {
    const inspect = vi.fn()
    expect(await check(listing, { call: list, level, inspect })).toBeUndefined()
    expect(inspect.mock.calls).toMatchObject([[{ kind: 'task-list', tasks: [{ id: 'a' }, { id: 'b' }] }, 'response']])
  })

  it('sees nothing of what is not A2A', async () => {
    const inspect = vi.fn()
    await check('{}', { inspect })
    await check('{}', { inspect, level: 'off' })
    expect(inspect).not.toHaveBeenCalled()
  })

  it.each<[string, (decision: Inspected) => Inspected | Promise<Inspected>]>([
    ['at once', decision => decision],
    ['later', async decision => decision],
  ])('decides %s what the caller gets', async (_, decide) => {
    const error = { kind: 'method', method: 'GetTask', version: '1.0' } as const
    const decided = (decision: Inspected) => check(listing, { call: list, inspect: () => decide(decision) })
    expect(await decided(undefined)).toBeUndefined()
    expect(await decided(error)).toEqual(error)
    expect(await decided({ list: { ids: new Set(['b']), nextPageToken: '', pageSize: 1, totalSize: 1 } })).toEqual({
      text: '{"jsonrpc":"2.0","id":7,"result":{"tasks":[{"id":"b","status":{"state":"TASK_STATE_WORKING"},"x-size":12345678901234567890}],"nextPageToken":"","pageSize":1,"totalSize":1}}',
    })
  })
})
