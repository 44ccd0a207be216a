import { describe, expect, it, vi } from 'vitest'
import type { A2ACall } from '../../src/a2a/operations.ts'
import type { AnswerPlace, CheckedAnswer } from '../../src/a2a/read-result.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { eventsOf, resultOf } from '../support/answers.ts'
import { callWith } from '../support/calls.ts'
import { type CheckedCall, openCheck } from '../support/response-checks.ts'

/** Opens the check of the answers to a call, by default with `enforce`. Each read returns what passes. */
const open = (changes: Partial<A2ACall>, checked: CheckedCall = {}) => {
  const { read, warnings } = openCheck({ call: callWith({ version: '0.3', id: 7, ...changes }), ...checked })
  const check = async (answer: Json, place?: AnswerPlace): Promise<{ checked: CheckedAnswer; body: Json }> => {
    const checked = await read(typeof answer === 'string' ? answer : JSON.stringify(answer), place)
    const isWritten = checked && 'text' in checked && checked.text !== ''
    return { checked, body: isWritten ? JSON.parse(checked.text) : null }
  }
  return { check, warnings }
}

/** Checks one answer. Returns what passes and what was repaired, which is logged of an event. */
const check = async (
  answer: Json,
  changes: Partial<A2ACall> = {},
  { place = 'response', ...checked }: CheckedCall & { place?: AnswerPlace } = {},
) => {
  const opened = open(changes, checked)
  const result = await opened.check(answer, place)
  const repairs = opened.warnings().flatMap((warning): readonly string[] => {
    if (place === 'event')
      return 'event' in warning ? (/^repaired \((.*)\)$/.exec(warning.event)?.[1]?.split(' ') ?? []) : []
    return 'kind' in warning && warning.kind === 'repaired' ? warning.repairs : []
  })
  return { ...result, repairs, warnings: opened.warnings() }
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
type Row = [body: Json, call: Partial<A2ACall>, expected: Json, ...repairs: string[]]

describe('an answer whose meaning is certain is repaired', () => {
  it('in every part that has one certain meaning', async () => {
    const restTask = resultOf('getTask', '0.3 over HTTP')
    const [cancelled, canceled] = ['TASK_STATE_CANCELLED', 'TASK_STATE_CANCELED']
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
    const given = change(task, { status: { state: 'working', message: unnamed }, history: [unnamed] })
    const { body, repairs } = await check(answer(given))
    const ids = [...JSON.stringify(body).matchAll(/"messageId":"([\da-f-]{36})"/g)].map(([, id]) => id)
    expect([new Set(ids).size, repairs]).toEqual([2, ['message']])
  })

  it('in a record separator before the JSON, whose bytes stay', async () => {
    const json = `{ "jsonrpc":"2.0", "id":7, "result": ${JSON.stringify(task)}, "n": 1.0 }`
    for (const prefix of ['\u001e', '\ufeff\u001e']) {
      const { checked, repairs } = await check(`${prefix}${json}\u001e`, streams, { place: 'event' })
      expect([checked, repairs]).toEqual([{ text: json }, ['record-separator']])
    }
  })

  it('if it is an event without content, which is left out', async () => {
    for (const data of ['', ' ', '\u001e[DONE]']) {
      const { checked, repairs } = await check(data, streams, { place: 'event' })
      expect([checked, repairs], data).toEqual([{ text: '' }, ['end-of-stream']])
    }
  })

  it('in an update without the context of its task', async () => {
    for (const version of ['0.3', '1.0'] as const) {
      const [first = {}, second = {}, third = {}] = eventsOf(version)
      const { check, warnings } = open({ ...streams, version })
      const checkEvent = (event: JsonObject) => check(answer(event), 'event')
      const lacking = (event: JsonObject): JsonObject =>
        JSON.parse(JSON.stringify(event).replaceAll('"contextId":"c-1"', '"contextId":""'))
      expect((await checkEvent(lacking(second))).checked).toBeUndefined()
      await checkEvent(first)
      for (const event of [second, third]) expect((await checkEvent(lacking(event))).body).toEqual(answer(event))
      expect(warnings()).toEqual([{ event: 'repaired (context)' }])
      if (version === '1.0') continue
      expect((await checkEvent(without(second, 'contextId'))).body).toEqual(answer(second))
      expect((await checkEvent(change(lacking(second), { taskId: 't-2' }))).checked).toBeUndefined()
      // Only the first task of the stream is remembered.
      await checkEvent(change(first, { id: 't-2', contextId: 'c-2' }))
      expect((await checkEvent(lacking(second))).body).toEqual(answer(second))
    }
  })

  it('and keeps every number as the agent wrote it', async () => {
    const text = JSON.stringify(answer(without(task, 'kind'))).replace('"id":7', '"id":7,"n":12345678901234567890')
    const { checked } = await check(text)
    expect(checked).toMatchObject({ text: expect.stringContaining('"n":12345678901234567890') })
  })

  it('and is inspected as it is then, and not reported if that refuses it', async () => {
    const error = { kind: 'task-not-found' } as const
    const inspectTasks = vi.fn(() => error)
    const { checked, warnings } = await check(answer(without(task, 'kind')), {}, { inspectTasks })
    expect(inspectTasks.mock.calls).toMatchObject([[{ kind: 'task', tasks: [{ id: 't-1' }] }]])
    expect([checked, warnings]).toEqual([error, []])
  })
})

describe('an answer whose meaning is not certain is refused', () => {
  it('with no repair', async () => {
    for (const [body, call = {}] of [
      [answer(change(task, { kind: 'Task' }))],
      [answer(without(task, 'kind')), { operation: 'createPushConfig' }],
      [answer(without(statusUpdate, 'kind')), getTask],
      // An update of 0.1.
      [answer({ id: 't-1', contextId: 'c-1', status: { state: 'working' }, final: false }), streams],
      // A task and a message at once.
      [answer(change(without(task, 'kind'), { role: 'agent', parts: [] }))],
      [answer(without(task, 'contextId'))],
      // A list with what is no object.
      [answer(change(task, { history: [null] }))],
      [answer(withState(task, 'done'))],
      // In the form of the other version.
      [answer(withState(without(task, 'kind'), 'TASK_STATE_COMPLETED'))],
      [answer(task), v1],
      [answer({ task: taskV1 })],
      [answer(message, { error: { code: -32603, message: 'boom' } })],
      [answer(undefined, { error: 'boom' })],
      [answer(undefined, { error: null })],
      // Two JSON texts.
      [`\u001e${JSON.stringify(answer(task))}\u001e${JSON.stringify(answer(task))}`],
    ] as [Json, Partial<A2ACall>?][]) {
      const { checked, repairs } = await check(body, call)
      expect([checked, repairs], JSON.stringify([body, call])).toMatchObject([{ kind: 'invalid-response' }, []])
    }
  })

  it('with the reason why it is not A2A as the agent sent it', async () => {
    const { checked } = await check(answer(change(without(task, 'kind'), { contextId: 1 })))
    expect(checked).toMatchObject({ detail: 'result.kind must be task or message' })
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

  it('loses it, wherever it is, and keeps the rest', async () => {
    const details = (more: JsonObject) => [{ '@type': 'x', ...more, detail: 'y' }]
    const errorV1 = (more: JsonObject) => ({ error: { code: 500, message: 'boom', details: details(more) } })
    for (const [call, place, body, expected] of [
      [{}, 'response', rpc({ data: [{ cause: { stack, n: 1 } }] }), rpc({ data: [{ cause: { n: 1 } }] })],
      [{}, 'response', rpc({ stack, type: 'E' }), rpc({ type: 'E' })],
      [{}, 'response', rpc({}, { stack, timestamp: 1 }), rpc({}, { timestamp: 1 })],
      [streams, 'event', rpc({}, { result: null, stackTrace: [stack] }), rpc({}, { result: null })],
      [{ ...v1, ...rest }, 'error-response', { ...errorV1({ stackTrace: stack }), stack }, errorV1({})],
      [{ ...rest, ...streams }, 'event', { message: 'boom', data: { stack } }, { message: 'boom', data: {} }],
    ] as [Partial<A2ACall>, AnswerPlace, Json, Json][]) {
      const repaired = await check(body, call, { place })
      expect([JSON.stringify(repaired.body), repaired.repairs]).toEqual([JSON.stringify(expected), ['stack-trace']])
    }
  })

  it('passes with warn, which reports it, and with off', async () => {
    for (const [responses, reported] of [
      ['warn', [{ kind: 'stack-trace' }]],
      ['off', []],
    ] as const) {
      const { checked, warnings } = await check(rpc({ data: { stack } }), {}, { levels: { responses } })
      expect([checked, warnings]).toEqual([undefined, reported])
    }
  })

  it('passes as it is without such a member, whatever its texts are', async () => {
    const body = rpc({ message: stack, data: [stack, { trace: stack }], type: 'TaskNotFoundError' })
    const { checked, repairs } = await check(body, {}, { place: 'error-response' })
    expect([checked, repairs]).toEqual([undefined, []])
  })
})
