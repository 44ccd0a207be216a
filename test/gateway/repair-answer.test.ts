import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { AnswerPlace, CheckedAnswer } from '../../src/a2a/results.ts'
import { type AnswerPolicy, checkAnswer } from '../../src/gateway/upstream/check-answer.ts'
import type { AnsweredCall } from '../../src/gateway/upstream/request.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { eventsOf, resultOf } from '../support/answers.ts'
import { isNightly } from '../support/matrix.ts'

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
const withState = (object: Json, state: string) => change(object, { status: { state } })
const failed = (text: Json) => change(task, { status: { state: 'failed', message: text } })

const v1 = { version: '1.0' } as const
const streams = { operation: 'stream' } as const
const getTask = { operation: 'getTask' } as const
const cancel = { operation: 'cancel' } as const
const listTasks = { operation: 'listTasks' } as const
const rest = { binding: 'HTTP+JSON' } as const
type Row = [body: Json, call: Partial<AnsweredCall>, expected: Json, ...repairs: string[]]

describe('an answer whose meaning is certain is repaired', () => {
  it('in every part that has one certain meaning', async () => {
    const restTask = resultOf('getTask', '0.3 over HTTP')
    const [cancelled, canceled] = ['TASK_STATE_CANCELLED', 'TASK_STATE_CANCELED']
    const messageV1 = (resultOf('send', '1.0') as JsonObject).message
    const rows: Row[] = [
      [answer(task, { id: null }), {}, answer(task), 'id'],
      [without(answer(task), 'jsonrpc'), {}, answer(task), 'jsonrpc'],
      [answer(message, { error: null }), {}, answer(message), 'error'],
      // Without `kind`, or with one of null.
      [answer(without(task, 'kind')), {}, answer(task), 'kind'],
      [answer(change(task, { kind: null })), getTask, answer(task), 'kind'],
      [answer(without(message, 'kind')), {}, answer(message), 'kind'],
      [answer(without(statusUpdate, 'kind')), streams, answer(statusUpdate), 'kind'],
      [answer(without(artifactUpdate, 'kind')), { operation: 'resubscribe' }, answer(artifactUpdate), 'kind'],
      [answer(without(statusUpdate, 'final')), streams, answer(change(statusUpdate, { final: false })), 'final'],
      // With two Ls, and an underscore.
      [answer(withState(task, 'cancelled')), cancel, answer(withState(task, 'canceled')), 'state'],
      [answer(withState(task, 'input_required')), {}, answer(withState(task, 'input-required')), 'state'],
      [answer(change(message, { role: 'assistant' })), {}, answer(message), 'role'],
      // Bare in 1.0, or wrapped where it must be bare.
      [answer(taskV1), v1, answer({ task: taskV1 }), 'wrapper'],
      [answer(messageV1), v1, answer({ message: messageV1 }), 'wrapper'],
      [answer(wrappedUpdate.statusUpdate), { ...v1, ...streams }, answer(wrappedUpdate), 'wrapper'],
      [taskV1, { ...v1, ...rest }, { task: taskV1 }, 'wrapper'],
      [answer({ task: taskV1 }), { ...v1, ...getTask }, answer(taskV1), 'wrapper'],
      [answer(withState(taskV1, cancelled)), { ...v1, ...cancel }, answer(withState(taskV1, canceled)), 'state'],
      // 0.3 over HTTP writes it with two Ls.
      [withState(restTask, canceled), { ...rest, ...cancel }, withState(restTask, cancelled), 'state'],
      [
        answer({ tasks: [taskV1, withState(taskV1, cancelled)] }),
        { ...v1, ...listTasks },
        answer({ tasks: [taskV1, withState(taskV1, canceled)] }),
        'state',
      ],
      // Several mistakes.
      [
        answer(without(failed(''), 'kind'), { id: null }),
        {},
        answer(withState(task, 'failed')),
        'message',
        'kind',
        'id',
      ],
    ]
    for (const [body, call, expected, ...repairs] of rows) {
      const repaired = await check(body, call)
      expect([repaired.body, repaired.repairs], JSON.stringify([body, call])).toEqual([expected, repairs])
    }
  })

  it('in parts and inner messages without `kind`, by which clients distinguish them', async () => {
    for (const [result, call] of [
      [task, {}],
      [message, {}],
      [statusUpdate, streams],
      [artifactUpdate, streams],
    ] as const) {
      const text = JSON.stringify(result).replaceAll('"kind":"text",', '').replaceAll(':{"kind":"message",', ':{')
      const { body, repairs } = await check(answer(JSON.parse(text)), call)
      expect([body, repairs]).toEqual([answer(result), ['kind']])
    }
  })

  it('in a text as the message of a status', async () => {
    const boom = { status: { state: 'TASK_STATE_FAILED', message: 'boom' } }
    for (const [body, expected, call] of [
      [answer(failed('boom')), { kind: 'message', role: 'agent', parts: [{ kind: 'text', text: 'boom' }] }, {}],
      [answer(change(taskV1, boom)), { role: 'ROLE_AGENT', parts: [{ text: 'boom' }] }, { ...v1, ...getTask }],
    ] as const) {
      const { body: repaired, repairs } = await check(body, call)
      const { status } = (repaired as { result: { status: { message: JsonObject } } }).result
      const messageId = expect.stringMatching(/^[\da-f-]{36}$/)
      expect([status.message, repairs]).toEqual([{ ...expected, messageId }, ['message']])
    }
  })

  it('in messages without an id, each of which gets one of its own', async () => {
    const unnamed = { kind: 'message', role: 'agent', parts: [{ kind: 'text', text: 'It rains' }] }
    const { body, repairs } = await check(
      answer(change(task, { status: { state: 'working', message: unnamed }, history: [unnamed] })),
    )
    const { status, history } = (body as { result: { status: { message: JsonObject }; history: JsonObject[] } }).result
    const ids = [status.message.messageId, history[0]?.messageId]
    expect([new Set(ids).size, repairs]).toEqual([2, ['message']])
    expect(ids).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)])
  })

  it('in a record separator before the JSON, whose bytes stay', async () => {
    const json = `{ "jsonrpc":"2.0", "id":7, "result": ${JSON.stringify(task)}, "n": 1.0 }`
    for (const prefix of ['\u001e', '\ufeff\u001e'])
      for (const place of ['event', 'response'] as const) {
        const { checked, repairs } = await check(`${prefix}${json}\u001e`, streams, { place })
        expect([checked, repairs]).toEqual([{ text: json }, ['record-separator']])
      }
  })

  it('if it is an event without content, which is left out', async () => {
    for (const data of ['', ' ', '[DONE]', '\u001e[DONE]']) {
      const { checked, repairs } = await check(data, streams, { place: 'event' })
      expect([checked, repairs], data).toEqual([{ text: '' }, ['end-of-stream']])
    }
  })

  it('in an update without the context of its task', async () => {
    for (const version of ['0.3', '1.0'] as const) {
      const [first = {}, second = {}, third = {}] = eventsOf(version)
      const stream = {}
      const checkEvent = (event: JsonObject) =>
        check(answer(event), { ...streams, version }, { place: 'event', stream })
      const lacking = (event: JsonObject, changes: JsonObject = {}): JsonObject =>
        JSON.parse(JSON.stringify({ ...event, ...changes }).replaceAll('"contextId":"c-1"', '"contextId":""'))
      expect((await checkEvent(lacking(second))).checked).toBeUndefined()
      await checkEvent(first)
      for (const event of [second, third])
        expect(await checkEvent(lacking(event))).toMatchObject({ body: answer(event), repairs: ['context'] })
      if (version === '1.0') continue
      const bare = await checkEvent(without(second, 'contextId'))
      expect(bare).toMatchObject({ body: answer(second), repairs: ['context'] })
      const other = await checkEvent(lacking(second, { taskId: 't-2' }))
      expect([other.checked, other.repairs]).toEqual([undefined, []])
    }
  })

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
  it('with no repair', async () => {
    const bareUpdate = without(artifactUpdate, 'kind')
    const twoContents = change(taskV1, { artifacts: [{ artifactId: 'a', parts: [{ text: 'a', url: 'b' }] }] })
    for (const [body, call = {}] of [
      [answer(change(task, { kind: 'Task' }))],
      [answer(without(task, 'kind')), { operation: 'createPushConfig' }],
      [answer(without(statusUpdate, 'kind')), getTask],
      // An update of 0.1.
      [answer({ id: 't-1', status: { state: 'working' }, final: false }), streams],
      // A task and a message at once.
      [answer(change(without(task, 'kind'), { role: 'agent', parts: [] }))],
      [answer(without(without(task, 'kind'), 'id'))],
      [answer(without(task, 'contextId'))],
      [answer(withState(task, 'done'))],
      // In the form of the other version.
      [answer(withState(without(task, 'kind'), 'TASK_STATE_COMPLETED'))],
      [answer(task), v1],
      [answer(artifactUpdate), { ...v1, ...streams }],
      [answer({ task: taskV1 })],
      [answer({ task: twoContents }), v1],
      // An artifact without an id.
      [answer(change(bareUpdate, { artifact: { parts: [] } })), streams],
      [answer(message, { error: { code: -32603, message: 'boom' } })],
      [answer(undefined, { error: 'boom' })],
      [answer(undefined, { error: null })],
      // Two JSON texts.
      [`\u001e${JSON.stringify(answer(task))}\u001e${JSON.stringify(answer(task))}`],
    ] as [Json, Partial<AnsweredCall>?][]) {
      const { checked, repairs } = await check(body, call)
      expect([checked, repairs], JSON.stringify([body, call])).toMatchObject([{ kind: 'invalid-response' }, []])
    }
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

  it('if it is right', async () => {
    for (const [result, call] of [
      [task, {}],
      [message, {}],
      [statusUpdate, streams],
      [task, getTask],
    ] as const) {
      const { checked, repairs } = await check(answer(result), call)
      expect([checked, repairs]).toEqual([undefined, []])
    }
  })
})

describe('an error with a stack trace', () => {
  const stack = 'Error: boom\n    at handle (/srv/agent.js:12:7)'
  const error = (more: JsonObject = {}) => ({ code: -32603, message: 'boom', ...more })
  const rpc = (more: JsonObject, outside: JsonObject = {}) => ({
    jsonrpc: '2.0',
    id: 7,
    error: error(more),
    ...outside,
  })

  it('loses it, wherever it is', async () => {
    const details = (more: JsonObject) => [{ '@type': 'x', ...more, detail: 'y' }]
    const errorV1 = (more: JsonObject) => ({ error: { code: 500, message: 'boom', details: details(more) } })
    for (const [call, place, body, expected] of [
      [
        {},
        'response',
        rpc({ data: [{ cause: { stack, stackTrace: ['at a'], n: 1 } }] }),
        rpc({ data: [{ cause: { n: 1 } }] }),
      ],
      [{}, 'response', rpc({ stack, type: 'E' }), rpc({ type: 'E' })],
      [{}, 'response', rpc({}, { stack, timestamp: 1 }), rpc({}, { timestamp: 1 })],
      [streams, 'event', rpc({}, { result: null, stackTrace: [stack] }), rpc({}, { result: null })],
      [{ ...v1, ...rest }, 'error-response', { ...errorV1({ stackTrace: stack }), stack }, errorV1({})],
      [rest, 'error-response', error({ stack }), error()],
      [{ ...rest, ...streams }, 'event', { message: 'boom', data: { stack } }, { message: 'boom', data: {} }],
    ] as [Partial<AnsweredCall>, AnswerPlace, Json, Json][]) {
      const repaired = await check(body, call, { place })
      expect([JSON.stringify(repaired.body), repaired.repairs]).toEqual([JSON.stringify(expected), ['stack-trace']])
    }
  })

  it('keeps the numbers of the agent', async () => {
    const { checked } = await check('{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x","n":1.0},"stack":1}')
    expect(checked).toEqual({ text: '{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x","n":1.0}}' })
  })

  it('passes with warn, and is reported', async () => {
    for (const body of [rpc({ data: { stack } }), rpc({}, { stack })]) {
      const onStackTrace = vi.fn()
      const { checked, repairs } = await check(body, {}, { level: 'warn', onStackTrace })
      expect([checked, repairs, onStackTrace.mock.calls]).toEqual([undefined, [], [['response']]])
    }
  })

  it('passes with off', async () => {
    expect((await check(rpc({ stack }), {}, { level: 'off' })).checked).toBeUndefined()
  })

  it('passes as it is without such a member, whatever its texts and other members are', async () => {
    const notFound = { code: -32001, message: 'No such task', type: 'TaskNotFoundError' }
    for (const [call, body] of [
      [{}, rpc({ message: 'File "orders.csv", line 12' })],
      [{}, rpc({ message: stack, data: [stack, { trace: stack }] })],
      [{}, rpc(notFound)],
      [rest, notFound],
      [
        { ...rest, ...v1 },
        { error: { code: 404, message: 'x', type: 'a' }, path: '/tasks/1' },
      ],
    ] as const) {
      const { checked, repairs } = await check(body, call, { place: 'error-response' })
      expect([checked, repairs]).toEqual([undefined, []])
    }
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
    const places = fc.constantFrom('response' as const, 'event' as const)
    const property = fc.asyncProperty(calls, edits, places, async (call, changes, place) => {
      const { checked, repairs } = await check(damaged(call, changes), call, { place })
      const isPassed = checked === undefined || 'kind' in checked
      expect(repairs.length === 0).toBe(isPassed)
      if (checked && 'kind' in checked) expect(checked.kind).toBe('invalid-response')
      const again = isPassed ? undefined : await check(checked.text, call, { place })
      expect(again ?? {}).not.toHaveProperty('checked.kind')
      expect(again?.repairs ?? []).toEqual([])
    })
    await fc.assert(property, { numRuns: isNightly ? 5_000 : 300 })
  })
})
