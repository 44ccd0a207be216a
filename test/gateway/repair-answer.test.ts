import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { OperationName } from '../../src/a2a/operations.ts'
import type { AnswerPlace, CheckedAnswer } from '../../src/a2a/results.ts'
import { type AnswerPolicy, checkAnswer } from '../../src/gateway/upstream/check-answer.ts'
import type { AnsweredCall } from '../../src/gateway/upstream/request.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { eventsOf, resultOf } from '../support/answers.ts'

const callWith = (changes: Partial<AnsweredCall> = {}): AnsweredCall => ({
  binding: 'JSONRPC',
  version: '0.3',
  operation: 'send',
  id: 7,
  ...changes,
})

/** Checks an answer with `enforce`. Returns what passes and what was repaired. */
const check = async (
  answer: Json,
  call: Partial<AnsweredCall> = {},
  { place = 'response', ...changes }: Partial<AnswerPolicy> & { place?: AnswerPlace } = {},
): Promise<{ checked: CheckedAnswer; body: Json; repairs: readonly string[] }> => {
  const onRepair = vi.fn()
  const policy = { level: 'enforce' as const, warn: vi.fn(), status: 200, onRepair, ...changes }
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
  const checked = await checkAnswer(text, place, callWith(call), policy)
  expect(onRepair.mock.calls.every(([, reported]) => reported === place)).toBe(true)
  return {
    checked,
    body: checked && 'text' in checked && checked.text !== '' ? JSON.parse(checked.text) : null,
    repairs: onRepair.mock.calls.flatMap(([found]) => found),
  }
}

const answer = (result: Json | undefined, more: JsonObject = {}): JsonObject => ({
  jsonrpc: '2.0',
  id: 7,
  result,
  ...more,
})
const without = (object: Json, name: string): JsonObject =>
  Object.fromEntries(Object.entries(object as JsonObject).filter(([each]) => each !== name))
const change = (object: Json, changes: JsonObject): JsonObject => ({ ...(object as JsonObject), ...changes })

const task = resultOf('getTask', '0.3') as JsonObject
const message = resultOf('send', '0.3') as JsonObject
const [, statusUpdate = {}, artifactUpdate = {}] = eventsOf('0.3')
const taskV1 = resultOf('getTask', '1.0') as JsonObject
const [, wrappedUpdate = {}] = eventsOf('1.0')
const failed = (text: Json) => change(task, { status: { state: 'failed', message: text } })

describe('an answer whose meaning is certain is repaired', () => {
  it.each<[string, Json, Partial<AnsweredCall>, Json, string[]]>([
    ['a null id', answer(task, { id: null }), {}, answer(task), ['id']],
    ['no `jsonrpc`', without(answer(task), 'jsonrpc'), {}, answer(task), ['jsonrpc']],
    ['an error of null beside the result', answer(message, { error: null }), {}, answer(message), ['error']],
    ['a task without `kind`', answer(without(task, 'kind')), {}, answer(task), ['kind']],
    [
      'a task with a `kind` of null',
      answer(change(task, { kind: null })),
      { operation: 'getTask' },
      answer(task),
      ['kind'],
    ],
    ['a message without `kind`', answer(without(message, 'kind')), {}, answer(message), ['kind']],
    [
      'a status update without `kind`',
      answer(without(statusUpdate, 'kind')),
      { operation: 'stream' },
      answer(statusUpdate),
      ['kind'],
    ],
    [
      'an artifact update without `kind`',
      answer(without(artifactUpdate, 'kind')),
      { operation: 'resubscribe' },
      answer(artifactUpdate),
      ['kind'],
    ],
    [
      'a status update without `final`',
      answer(without(statusUpdate, 'final')),
      { operation: 'stream' },
      answer(change(statusUpdate, { final: false })),
      ['final'],
    ],
    [
      'a task that is cancelled with two Ls',
      answer(change(task, { status: { state: 'cancelled' } })),
      { operation: 'cancel' },
      answer(change(task, { status: { state: 'canceled' } })),
      ['state'],
    ],
    [
      'a state with an underscore',
      answer(change(task, { status: { state: 'input_required' } })),
      {},
      answer(change(task, { status: { state: 'input-required' } })),
      ['state'],
    ],
    ['the message of an assistant', answer(change(message, { role: 'assistant' })), {}, answer(message), ['role']],
    ['a bare task in 1.0', answer(taskV1), { version: '1.0' }, answer({ task: taskV1 }), ['wrapper']],
    [
      'a bare message in 1.0',
      answer((resultOf('send', '1.0') as JsonObject).message),
      { version: '1.0' },
      answer(resultOf('send', '1.0')),
      ['wrapper'],
    ],
    [
      'a bare update in 1.0',
      answer(wrappedUpdate.statusUpdate),
      { version: '1.0', operation: 'stream' },
      answer(wrappedUpdate),
      ['wrapper'],
    ],
    ['a bare task in 1.0 over HTTP', taskV1, { version: '1.0', binding: 'HTTP+JSON' }, { task: taskV1 }, ['wrapper']],
    [
      'a wrapped task where it must be bare',
      answer({ task: taskV1 }),
      { version: '1.0', operation: 'getTask' },
      answer(taskV1),
      ['wrapper'],
    ],
    [
      'a cancelled task in 1.0',
      answer(change(taskV1, { status: { state: 'TASK_STATE_CANCELLED' } })),
      { version: '1.0', operation: 'cancel' },
      answer(change(taskV1, { status: { state: 'TASK_STATE_CANCELED' } })),
      ['state'],
    ],
    [
      'the state of 1.0 in 0.3 over HTTP',
      change(resultOf('getTask', '0.3 over HTTP'), { status: { state: 'TASK_STATE_CANCELED' } }),
      { binding: 'HTTP+JSON', operation: 'cancel' },
      change(resultOf('getTask', '0.3 over HTTP'), { status: { state: 'TASK_STATE_CANCELLED' } }),
      ['state'],
    ],
    [
      'a cancelled task in a list',
      answer({ tasks: [taskV1, change(taskV1, { status: { state: 'TASK_STATE_CANCELLED' } })] }),
      { version: '1.0', operation: 'listTasks' },
      answer({ tasks: [taskV1, change(taskV1, { status: { state: 'TASK_STATE_CANCELED' } })] }),
      ['state'],
    ],
    [
      'several mistakes',
      answer(without(failed(''), 'kind'), { id: null }),
      {},
      answer(without(change(task, { status: { state: 'failed' } }), '')),
      ['message', 'kind', 'id'],
    ],
  ])('%s', async (_, body, call, expected, repairs) => {
    const repaired = await check(body, call)
    expect(repaired.body).toEqual(expected)
    expect(repaired.repairs).toEqual(repairs)
  })

  it.each<[string, Json, Partial<AnsweredCall>, Json]>([
    ['a task', task, {}, task],
    ['a message', message, {}, message],
    ['a status update', statusUpdate, { operation: 'stream' }, statusUpdate],
    ['an artifact update', artifactUpdate, { operation: 'stream' }, artifactUpdate],
  ])(
    'parts and inner messages without `kind`, by which clients distinguish them: %s',
    async (_, result, call, expected) => {
      const text = JSON.stringify(result).replaceAll('"kind":"text",', '').replaceAll(':{"kind":"message",', ':{')
      const { body, repairs } = await check(answer(JSON.parse(text)), call)
      expect([body, repairs]).toEqual([answer(expected), ['kind']])
    },
  )

  it.each<[string, Json, JsonObject, Partial<AnsweredCall>]>([
    ['0.3', answer(failed('boom')), { kind: 'message', role: 'agent', parts: [{ kind: 'text', text: 'boom' }] }, {}],
    [
      '1.0',
      answer(change(taskV1, { status: { state: 'TASK_STATE_FAILED', message: 'boom' } })),
      { role: 'ROLE_AGENT', parts: [{ text: 'boom' }] },
      { version: '1.0', operation: 'getTask' },
    ],
  ])('a text as the message of a status, in %s', async (_, body, expected, call) => {
    const { body: repaired, repairs } = await check(body, call)
    const { status } = (repaired as { result: { status: { message: JsonObject } } }).result
    expect([status.message, repairs]).toEqual([
      { ...expected, messageId: expect.stringMatching(/^[\da-f-]{36}$/) },
      ['message'],
    ])
  })

  it('messages without an id, each of which gets one of its own', async () => {
    const unnamed = { kind: 'message', role: 'agent', parts: [{ kind: 'text', text: 'It rains' }] }
    const { body, repairs } = await check(
      answer(change(task, { status: { state: 'working', message: unnamed }, history: [unnamed] })),
    )
    const { status, history } = (body as { result: { status: { message: JsonObject }; history: JsonObject[] } }).result
    const ids = [status.message.messageId, history[0]?.messageId]
    expect([new Set(ids).size, repairs]).toEqual([2, ['message']])
    expect(ids).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)])
  })

  it.each(['\u001e', '\ufeff\u001e'])('a record separator before the JSON, whose bytes stay: %j', async prefix => {
    const json = `{ "jsonrpc":"2.0", "id":7, "result": ${JSON.stringify(task)}, "n": 1.0 }`
    for (const place of ['event', 'response'] as const) {
      const { checked, repairs } = await check(`${prefix}${json}\u001e`, { operation: 'stream' }, { place })
      expect([checked, repairs]).toEqual([{ text: json }, ['record-separator']])
    }
  })

  it.each(['', ' ', '[DONE]', '\u001e[DONE]'])('an event with nothing but %j, which is left out', async data => {
    const { checked, repairs } = await check(data, { operation: 'stream' }, { place: 'event' })
    expect([checked, repairs]).toEqual([{ text: '' }, ['end-of-stream']])
  })

  it.each<[string, JsonObject[], Partial<AnsweredCall>]>([
    ['0.3', eventsOf('0.3'), { operation: 'stream' }],
    ['1.0', eventsOf('1.0'), { operation: 'stream', version: '1.0' }],
  ])(
    'an update without the context of its task, in %s',
    async (version, [first = {}, second = {}, third = {}], call) => {
      const stream = {}
      const lacking = (event: JsonObject, changes: JsonObject = {}): JsonObject =>
        JSON.parse(JSON.stringify({ ...event, ...changes }).replaceAll('"contextId":"c-1"', '"contextId":""'))
      expect(await check(answer(lacking(second)), call, { place: 'event', stream })).toMatchObject({
        checked: undefined,
      })
      await check(answer(first), call, { place: 'event', stream })
      for (const event of [second, third]) {
        const { body, repairs } = await check(answer(lacking(event)), call, { place: 'event', stream })
        expect([body, repairs]).toEqual([answer(event), ['context']])
      }
      if (version === '1.0') return
      const { body, repairs } = await check(answer(without(second, 'contextId')), call, { place: 'event', stream })
      expect([body, repairs]).toEqual([answer(second), ['context']])
      const other = await check(answer(lacking(second, { taskId: 't-2' })), call, { place: 'event', stream })
      expect([other.checked, other.repairs]).toEqual([undefined, []])
    },
  )

  it('and keeps every number as the agent wrote it', async () => {
    const text = JSON.stringify(answer(without(task, 'kind'))).replace('"id":7', '"id":7,"n":12345678901234567890')
    const { checked } = await check(text)
    expect(checked).toMatchObject({ text: expect.stringContaining('"n":12345678901234567890') })
  })

  it('and is inspected as it is then', async () => {
    const inspect = vi.fn()
    await check(answer(without(task, 'kind')), {}, { inspect })
    expect(inspect.mock.calls).toMatchObject([[{ kind: 'task', tasks: [{ id: 't-1' }] }, 'response']])
  })

  it('and not reported if the inspection refuses it', async () => {
    const error = { kind: 'task-not-found' } as const
    const { checked, repairs } = await check(answer(without(task, 'kind')), {}, { inspect: () => error })
    expect([checked, repairs]).toEqual([error, []])
  })
})

describe('an answer whose meaning is not certain is refused', () => {
  const old = { id: 't-1', status: { state: 'working' }, final: false }
  const bareArtifactUpdate = without(artifactUpdate, 'kind')
  it.each<[string, Json, Partial<AnsweredCall>]>([
    ['an unknown `kind`', answer(change(task, { kind: 'Task' })), {}],
    ['a task where a message was updated', answer(without(task, 'kind')), { operation: 'createPushConfig' }],
    ['an update in place of a task', answer(without(statusUpdate, 'kind')), { operation: 'getTask' }],
    ['an update of 0.1', answer(old), { operation: 'stream' }],
    ['a task and a message at once', answer(change(without(task, 'kind'), { role: 'agent', parts: [] })), {}],
    ['a task without an id', answer(without(without(task, 'kind'), 'id')), {}],
    ['a task without a context', answer(without(task, 'contextId')), {}],
    ['an unknown state', answer(change(task, { status: { state: 'done' } })), {}],
    ['a state of 1.0 in 0.3', answer(change(without(task, 'kind'), { status: { state: 'TASK_STATE_COMPLETED' } })), {}],
    ['a task of 0.3 in 1.0', answer(task), { version: '1.0' }],
    ['an update of 0.3 in 1.0', answer(artifactUpdate), { version: '1.0', operation: 'stream' }],
    ['a wrapped result of 1.0 in 0.3', answer({ task: taskV1 }), {}],
    [
      'a part with two contents',
      answer({ task: change(taskV1, { artifacts: [{ artifactId: 'a', parts: [{ text: 'a', url: 'b' }] }] }) }),
      { version: '1.0' },
    ],
    [
      'an artifact without an id',
      answer(change(bareArtifactUpdate, { artifact: { parts: [] } })),
      { operation: 'stream' },
    ],
    ['a result beside an error', answer(message, { error: { code: -32603, message: 'boom' } }), {}],
    ['an error that is a text', answer(undefined, { error: 'boom' }), {}],
    ['neither result nor error', answer(undefined, { error: null }), {}],
    ['two JSON texts', `\u001e${JSON.stringify(answer(task))}\u001e${JSON.stringify(answer(task))}`, {}],
  ])('%s', async (_, body, call) => {
    const { checked, repairs } = await check(body, call)
    expect([checked, repairs]).toEqual([expect.objectContaining({ kind: 'invalid-response' }), []])
  })

  it('with the reason why it is not A2A as the agent sent it', async () => {
    const { checked } = await check(answer(change(without(task, 'kind'), { contextId: 1 })))
    expect(checked).toMatchObject({ detail: 'result.kind must be task or message' })
  })
})

describe('an answer is not repaired', () => {
  const body = answer(without(task, 'kind'), { id: null })

  it('with warn, which reports it', async () => {
    const warn = vi.fn()
    const { checked, repairs } = await check(body, {}, { level: 'warn', warn })
    expect([checked, repairs, warn.mock.calls.map(([{ kind }]) => kind)]).toEqual([undefined, [], ['invalid-response']])
  })

  it('with off', async () => {
    const { checked, repairs } = await check(body, {}, { level: 'off' })
    expect([checked, repairs]).toEqual([undefined, []])
  })

  it.each<[OperationName, Json]>([
    ['send', task],
    ['send', message],
    ['stream', statusUpdate],
    ['getTask', task],
  ])('if it is right: %s', async (operation, result) => {
    const { checked, repairs } = await check(answer(result), { operation })
    expect([checked, repairs]).toEqual([undefined, []])
  })
})

describe('an error with a stack trace', () => {
  const stack = 'Error: boom\n    at handle (/srv/agent.js:12:7)'
  const error = (more: JsonObject = {}) => ({ code: -32603, message: 'boom', ...more })

  it.each<[string, Partial<AnsweredCall>, AnswerPlace, Json, Json]>([
    [
      'in the data, over JSON-RPC',
      {},
      'response',
      { jsonrpc: '2.0', id: 7, error: error({ data: [{ cause: { stack, stackTrace: ['at a'], n: 1 } }] }) },
      { jsonrpc: '2.0', id: 7, error: error({ data: [{ cause: { n: 1 } }] }) },
    ],
    [
      'in the error, over JSON-RPC',
      {},
      'response',
      { jsonrpc: '2.0', id: 7, error: error({ stack, type: 'E' }) },
      { jsonrpc: '2.0', id: 7, error: error({ type: 'E' }) },
    ],
    [
      'beside the error, over JSON-RPC',
      {},
      'response',
      { jsonrpc: '2.0', id: 7, error: error(), stack, timestamp: 1 },
      { jsonrpc: '2.0', id: 7, error: error(), timestamp: 1 },
    ],
    [
      'beside the error of an event',
      { operation: 'stream' },
      'event',
      { jsonrpc: '2.0', id: 7, result: null, error: error(), stackTrace: [stack] },
      { jsonrpc: '2.0', id: 7, result: null, error: error() },
    ],
    [
      'over HTTP+JSON in 1.0',
      { version: '1.0', binding: 'HTTP+JSON' },
      'error-response',
      { error: { code: 500, message: 'boom', details: [{ '@type': 'x', stackTrace: stack, detail: 'y' }] }, stack },
      { error: { code: 500, message: 'boom', details: [{ '@type': 'x', detail: 'y' }] } },
    ],
    ['over HTTP+JSON in 0.3', { binding: 'HTTP+JSON' }, 'error-response', error({ stack }), error()],
    [
      'in an event of 0.3 over HTTP+JSON',
      { binding: 'HTTP+JSON', operation: 'stream' },
      'event',
      { message: 'boom', data: { stack } },
      { message: 'boom', data: {} },
    ],
  ])('loses it: %s', async (_, call, place, body, expected) => {
    const repaired = await check(body, call, { place })
    expect([JSON.stringify(repaired.body), repaired.repairs]).toEqual([JSON.stringify(expected), ['stack-trace']])
  })

  it('keeps the numbers of the agent', async () => {
    const { checked } = await check('{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x","n":1.0},"stack":1}')
    expect(checked).toEqual({ text: '{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x","n":1.0}}' })
  })

  it('passes with warn, and is reported', async () => {
    for (const body of [
      { jsonrpc: '2.0', id: 7, error: error({ data: { stack } }) },
      { jsonrpc: '2.0', id: 7, error: error(), stack },
    ]) {
      const onStackTrace = vi.fn()
      const { checked, repairs } = await check(body, {}, { level: 'warn', onStackTrace })
      expect([checked, repairs, onStackTrace.mock.calls]).toEqual([undefined, [], [['response']]])
    }
  })

  it('passes with off', async () => {
    const { checked } = await check({ jsonrpc: '2.0', id: 7, error: error({ stack }) }, {}, { level: 'off' })
    expect(checked).toBeUndefined()
  })

  it.each<[Partial<AnsweredCall>, Json]>([
    [{}, { jsonrpc: '2.0', id: 7, error: error({ message: 'File "orders.csv", line 12' }) }],
    [{}, { jsonrpc: '2.0', id: 7, error: error({ message: stack, data: [stack, { trace: stack }] }) }],
    [{}, { jsonrpc: '2.0', id: 7, error: { code: -32001, message: 'No such task', type: 'TaskNotFoundError' } }],
    [{ binding: 'HTTP+JSON' }, { code: -32001, message: 'No such task', type: 'TaskNotFoundError' }],
    [
      { binding: 'HTTP+JSON', version: '1.0' },
      { error: { code: 404, message: 'x', type: 'a' }, path: '/tasks/1' },
    ],
  ])('passes as it is without such a member, whatever its texts and other members are: %j %j', async (call, body) => {
    const { checked, repairs } = await check(body, call, { place: 'error-response' })
    expect([checked, repairs]).toEqual([undefined, []])
  })
})

describe('any answer', () => {
  const operations = ['send', 'stream', 'getTask', 'listTasks', 'createPushConfig', 'deletePushConfig'] as const
  const calls = fc.record({
    operation: fc.constantFrom(...operations),
    version: fc.constantFrom('0.3' as const, '1.0' as const),
    binding: fc.constantFrom('JSONRPC' as const, 'HTTP+JSON' as const),
  })
  const edits = fc.array(fc.tuple(fc.nat(), fc.option(fc.jsonValue({ maxDepth: 1 }))), { maxLength: 3 })

  /** Lists the members of a value at every depth, by the objects that have them. */
  const membersOf = (value: Json): [JsonObject | Json[], string][] =>
    typeof value !== 'object' || value === null
      ? []
      : Object.entries(value).flatMap(([name, member]): [JsonObject | Json[], string][] => [
          [value, name],
          ...membersOf(member ?? null),
        ])

  /** Returns a valid answer in which some members are deleted or replaced. */
  const damaged = (
    { operation, version, binding }: Pick<AnsweredCall, 'operation' | 'version' | 'binding'>,
    changes: [number, unknown][],
  ): Json => {
    const result = resultOf(operation, binding === 'HTTP+JSON' && version === '0.3' ? '0.3 over HTTP' : version)
    const body: Json = structuredClone(binding === 'JSONRPC' ? answer(result) : result)
    for (const [at, value] of changes) {
      const members = membersOf(body)
      const [object, name] = members[at % Math.max(members.length, 1)] ?? []
      if (object === undefined || name === undefined) continue
      if (value === null) Reflect.deleteProperty(object, name)
      else Reflect.set(object, name, value)
    }
    return body
  }

  it('is refused, or is right once it is repaired', async () => {
    await fc.assert(
      fc.asyncProperty(
        calls,
        edits,
        fc.constantFrom('response' as const, 'event' as const),
        async (call, changes, place) => {
          const { checked, repairs } = await check(damaged(call, changes), call, { place })
          const isPassed = checked === undefined || 'kind' in checked
          expect(repairs.length === 0).toBe(isPassed)
          if (checked && 'kind' in checked) expect(checked.kind).toBe('invalid-response')
          const again = isPassed ? undefined : await check(checked.text, call, { place })
          expect(again ?? {}).not.toHaveProperty('checked.kind')
          expect(again?.repairs ?? []).toEqual([])
        },
      ),
      { numRuns: 500 },
    )
  })
})
