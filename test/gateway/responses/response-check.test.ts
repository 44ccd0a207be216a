import { describe, expect, it, vi } from 'vitest'
import type { CallError } from '../../../src/a2a/call-error.ts'
import type { A2ACall } from '../../../src/a2a/operations.ts'
import type { AnswerPlace, Inspected } from '../../../src/a2a/read-result.ts'
import type { CallProfile } from '../../../src/card/call-profile.ts'
import type { Json } from '../../../src/json/json.ts'
import { MAX_EVENT_BYTES, MAX_JSON_DEPTH } from '../../../src/limits.ts'
import { resultOf } from '../../support/answers.ts'
import { callWith as makeCall } from '../../support/calls.ts'
import { type CheckedCall, openCheck } from '../../support/response-checks.ts'

const callWith = (changes: Partial<A2ACall> = {}) => makeCall({ id: 7, ...changes })

type Level = CallProfile['gate']['responses']
type Checked = Pick<CheckedCall, 'call' | 'inspectTasks'> & { level?: Level; place?: AnswerPlace }

const check = (text: string, { level = 'enforce', place, ...checked }: Checked = {}) =>
  openCheck({ levels: { responses: level }, ...checked }).read(text, place)

const levels = ['enforce', 'warn', 'off'] as const

/** Expects an error with `enforce`, one warning with `warn`, and nothing with `off`. */
const expectByLevel = async (
  text: string | undefined,
  error: CallError,
  { call, place = 'response' }: Checked = {},
) => {
  const warning =
    place === 'event' ? { event: error.kind, detail: 'detail' in error ? error.detail : undefined } : error
  for (const [level, expected, warnings] of [
    ['enforce', error, []],
    ['warn', undefined, [warning]],
    ['off', undefined, []],
  ] as const) {
    const opened = openCheck({ levels: { responses: level }, ...(call && { call }) })
    const read = text === undefined ? opened.check.checkEvent(text, 200) : opened.read(text, place)
    expect([await read, opened.warnings()], level).toEqual([expected, warnings])
    expect(opened.check.reads).toBe(level !== 'off')
  }
}

const result = JSON.stringify(resultOf('send', '1.0'))
const answer = (id: string) => `{ "jsonrpc": "2.0", ${id} "result": ${result}, "n": 1.0 }`

describe('the id of a JSON-RPC answer', () => {
  const big = JSON.rawJSON('12345678901234567890') as Json

  it('is that of the caller byte for byte, or restored', async () => {
    for (const [id, answered, restored] of [
      [7, '7'],
      ['ü', '"\\u00fc"'],
      [null, 'null'],
      [big, '12345678901234567890'],
      [7, '"7"', '7'],
      [7, '{"a": [7]}', '7'],
      [null, '7', 'null'],
      [big, '12345678901234567000', '12345678901234567890'],
      [2 ** 53, '9007199254740993', '9007199254740992'],
    ] as [Json, string, string?][]) {
      const text = `{"jsonrpc":"2.0","id":${restored},"result":${result},"n":1.0}`
      const checked = await check(answer(`"id": ${answered},`), { call: callWith({ id }) })
      expect(checked, answered).toEqual(restored === undefined ? undefined : { text })
    }
  })

  it('is restored where there is none, in an error and in an event', async () => {
    expect(await check(answer(''))).toEqual({ text: `{"jsonrpc":"2.0","result":${result},"n":1.0,"id":7}` })
    const error = (id: string) => `{"jsonrpc":"2.0","id":${id},"error":{"code":-32001,"message":"x","data":1e400}}`
    expect(await check(error('null'))).toEqual({ text: error('7') })
    expect(await check(error('8'), { place: 'event', call: callWith({ operation: 'stream' }) })).toEqual({
      text: error('7'),
    })
  })

  it('is not there over HTTP+JSON', async () => {
    expect(await check(result, { call: callWith({ binding: 'HTTP+JSON', id: null }) })).toBeUndefined()
  })

  it('is reported with warn, and passes with off', async () => {
    const error = { event: 'invalid-response', detail: 'id must be that of the call' }
    for (const [level, id, reported] of [
      ['warn', 7, []],
      ['warn', 8, [error]],
      ['off', 8, []],
    ] as const) {
      const { read, warnings } = openCheck({ levels: { responses: level } })
      expect([await read(answer(`"id": ${id},`), 'event'), warnings()]).toEqual([undefined, reported])
    }
  })
})

describe('an answer that is not A2A', () => {
  it('is an error with enforce, passes with a warning with warn, and passes with off', () => {
    const error: CallError = { kind: 'invalid-response', status: 200, detail: 'result or error must be present' }
    return expectByLevel('{"jsonrpc":"2.0","id":7}', error)
  })

  it('is an error at every level if it is not JSON, but as an event only with enforce', async () => {
    const error: CallError = { kind: 'invalid-response', status: 200, detail: 'the body must be JSON' }
    for (const level of levels)
      for (const text of ['', '<html>']) expect(await check(text, { level }), text).toEqual(error)
    await expectByLevel('<html>', error, { place: 'event' })
  })

  it('has no text of the agent in its reason', async () => {
    const marker = 'zzmarkerzz'
    for (const text of [
      `{"jsonrpc":"2.0","result":{"${marker}":"${marker}"}}`,
      `{"jsonrpc":"2.0","error":{"code":"${marker}","${marker}":1}}`,
      marker,
    ])
      expect(JSON.stringify(await check(text))).not.toContain(marker)
  })
})

describe('an answer that nests too deeply', () => {
  /** An answer whose innermost array is at a depth. */
  const nested = (depth: number, id = '7') =>
    `{"jsonrpc":"2.0","id":${id},"result":${result},"x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
  const detail = `the body must not nest deeper than ${MAX_JSON_DEPTH} levels`
  const error: CallError = { kind: 'invalid-response', status: 200, detail }

  it('is an error with enforce, in every place', async () => {
    for (const place of ['response', 'error-response', 'event'] as const) {
      expect(await check(nested(MAX_JSON_DEPTH), { place })).toBeUndefined()
      expect(await check(nested(100_000, '8'), { place })).toEqual(error)
    }
  })

  it('passes with a warning with warn, and passes with off', () => expectByLevel(nested(MAX_JSON_DEPTH + 1), error))
})

describe('an answer with a name twice in one object', () => {
  const rest = callWith({ binding: 'HTTP+JSON', id: null })
  const getTask = callWith({ operation: 'getTask' })
  const task = (members: string) =>
    `{"jsonrpc":"2.0","id":7,"result":{${members},"status":{"state":"TASK_STATE_WORKING"}}}`
  const detail = 'the body must not have a name twice in one object'
  const error: CallError = { kind: 'invalid-response', status: 200, detail }

  it('is an error with enforce', async () => {
    for (const [text, place = 'response', call] of [
      [`{"jsonrpc":"2.0","id":7,"r\\u0065sult":{},"result":${result}}`],
      ['{"jsonrpc":"2.0","id":7,"error":{},"error":{"code":-32001,"message":"x"}}', 'error-response'],
      [task('"id":"mine","metadata":{"a":[{"b":1,"b":1}]}'), 'response', getTask],
      [`{"message":{},${result.slice(1)}`, 'response', rest],
    ] as [string, AnswerPlace?, A2ACall?][])
      expect(await check(text, { place, ...(call && { call }) }), text).toEqual(error)
  })

  it('passes with a warning with warn, and passes with off', () =>
    expectByLevel(task('"id":"theirs","id":"mine"'), error, { call: getTask }))
})

describe('a push configuration that is read back', () => {
  const secret = { token: 's-1', authentication: { scheme: 'Bearer', credentials: 's-2' } }
  const config = { id: 'p', taskId: 't', url: 'https://client.example/push', ...secret }
  const shown = { id: 'p', taskId: 't', url: 'https://client.example/push', authentication: { scheme: 'Bearer' } }
  const rpc = (result: unknown) => ({ jsonrpc: '2.0', id: 7, result })

  it('has no secrets at any level', async () => {
    const listOf = (config: object) => [{ taskId: 't', pushNotificationConfig: config }]
    for (const [changes, sent, expected] of [
      [{ operation: 'getPushConfig' }, rpc(config), rpc(shown)],
      [{ operation: 'getPushConfig', binding: 'HTTP+JSON' }, config, shown],
      [{ operation: 'listPushConfigs', version: '0.3' }, rpc(listOf(config)), rpc(listOf(shown))],
    ] as [Partial<A2ACall>, object, object][])
      for (const level of levels)
        expect(await check(JSON.stringify(sent), { call: callWith(changes), level }), level).toEqual({
          text: JSON.stringify(expected),
        })
  })

  it('has none that passes at a lower level under a name that is there twice, or in another form', async () => {
    const call = callWith({ operation: 'getPushConfig' })
    const textWith = (before: string, after = '') =>
      `{"jsonrpc":"2.0","id":7,"result":{"taskId":"t","url":"u",${before}"n":1.0${after}}}`
    for (const level of ['warn', 'off'] as const)
      for (const text of [textWith('"token":"a","token":"b",'), textWith('', ',"Token":"a"')])
        expect(await check(text, { call, level }), text).toEqual({ text: textWith('') })
  })

  it('is refused if it cannot be read', async () => {
    const deep = `${'['.repeat(MAX_JSON_DEPTH + 1)}${']'.repeat(MAX_JSON_DEPTH + 1)}`
    const call = callWith({ operation: 'getPushConfig' })
    expect(await check(deep, { call, level: 'off' })).toMatchObject({ kind: 'invalid-response' })
    const error = { kind: 'invalid-response', status: 200, detail: 'jsonrpc must be "2.0"' }
    expect(await check('{}', { call })).toEqual(error)
  })

  it('is whole for the caller who creates it', async () => {
    const call = callWith({ operation: 'createPushConfig' })
    expect(await check(JSON.stringify(rpc(config)), { call })).toBeUndefined()
  })
})

it('treats an event that is too large to be read by the level', () => {
  const error: CallError = { kind: 'response-too-large', maxBytes: MAX_EVENT_BYTES }
  return expectByLevel(undefined, error, { place: 'event' })
})

describe('an inspection of tasks', () => {
  const list = callWith({ operation: 'listTasks' })
  const task = (id: string) => ({ id, status: { state: 'TASK_STATE_WORKING' }, 'x-size': '@' })
  // A number that JavaScript would round.
  const tasks = JSON.stringify({ jsonrpc: '2.0', id: 7, result: { tasks: [task('a'), task('b')], totalSize: 2 } })
  const listing = tasks.replaceAll('"@"', '12345678901234567890')

  it('sees the facts of an answer at every level', async () => {
    for (const level of levels) {
      const inspectTasks = vi.fn(() => undefined)
      expect(await check(listing, { call: list, level, inspectTasks })).toBeUndefined()
      expect(inspectTasks.mock.calls).toMatchObject([[{ kind: 'task-list', tasks: [{ id: 'a' }, { id: 'b' }] }]])
    }
  })

  it('sees nothing of what is not A2A', async () => {
    const inspectTasks = vi.fn()
    await check('{}', { inspectTasks })
    await check('{}', { inspectTasks, level: 'off' })
    expect(inspectTasks).not.toHaveBeenCalled()
  })

  it('decides at once or later what the caller gets', async () => {
    const error = { kind: 'method', method: 'GetTask', version: '1.0' } as const
    const shown = '{"tasks":[{"id":"b","status":{"state":"TASK_STATE_WORKING"},"x-size":12345678901234567890}]'
    const text = `{"jsonrpc":"2.0","id":7,"result":${shown},"nextPageToken":"","pageSize":1,"totalSize":1}}`
    for (const decide of [(decision: Inspected) => decision, async (decision: Inspected) => decision]) {
      const decided = (decision: Inspected) => check(listing, { call: list, inspectTasks: () => decide(decision) })
      expect(await decided(undefined)).toBeUndefined()
      expect(await decided(error)).toEqual(error)
      const visible = { ids: new Set(['b']), nextPageToken: '', pageSize: 1, totalSize: 1 }
      expect(await decided({ list: visible })).toEqual({ text })
    }
  })
})
