import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type OperationName, operationNames, operations } from '../../src/a2a/operations.ts'
import { type AnswerPlace, readResult } from '../../src/a2a/results.ts'
import { type CallBinding, type WireVersion, wireVersions } from '../../src/card/model/calls.ts'
import { isJsonObject, type Json, type JsonObject } from '../../src/json/json.ts'
import { eventsOf, type ResultForm, resultOf } from '../support/answers.ts'

type Call = { binding: CallBinding; version: WireVersion; operation: OperationName }

/** Every operation in every version and binding, with the form of its results. */
const calls = wireVersions.flatMap(version =>
  (['JSONRPC', 'HTTP+JSON'] as const).flatMap(binding =>
    operationNames
      .filter(operation => operations[operation][version] !== undefined)
      .map((operation): [string, Call, ResultForm] => [
        `${operation} in ${version} over ${binding}`,
        { binding, version, operation },
        version === '0.3' && binding === 'HTTP+JSON' ? '0.3 over HTTP' : version,
      ]),
  ),
)

const answerOf = ({ binding }: Call, result: Json): Json =>
  binding === 'JSONRPC' ? { jsonrpc: '2.0', id: 7, result } : result

const faultOf = (call: Call, body: unknown, place?: AnswerPlace): string | undefined => {
  const read = readResult(call, body, place)
  return 'fault' in read ? read.fault : undefined
}

const isStream = ({ operation }: Call) => operations[operation].streams === true
const isDeletion = ({ operation }: Call) => operation === 'deletePushConfig'
/** ProtoJSON leaves out an empty list. */
const mayBeEmptyObject = ({ operation }: Call, form: ResultForm) =>
  (isDeletion({ operation } as Call) || /^list/.test(operation)) &&
  !(form === '0.3' && !isDeletion({ operation } as Call))

describe.each(calls)('%s', (_, call, form) => {
  const result = resultOf(call.operation, form)

  it('has valid answers', () => {
    expect(faultOf(call, answerOf(call, result))).toBeUndefined()
    if (!isStream(call)) return
    for (const event of eventsOf(form)) expect(faultOf(call, answerOf(call, event), 'event')).toBeUndefined()
  })

  it('has valid answers with unknown members, and with null for absent ones', () => {
    const extend = (value: Json): Json => {
      if (Array.isArray(value)) return value.map(extend)
      if (!isJsonObject(value)) return value
      const members = Object.entries(value).map(([name, member]) => [name, extend(member ?? null)])
      return { ...Object.fromEntries(members), metadata: null, 'x-vendor': [{ deep: null }] }
    }
    // What is empty has no members at all.
    if (!isDeletion(call)) expect(faultOf(call, answerOf(call, extend(result)))).toBeUndefined()
  })

  it('has errors', () => {
    const error = { code: -32001, message: 'No such task', data: { stack: 'at main.py' } }
    const { data, ...rest } = error
    const status = { error: { ...rest, status: 'NOT_FOUND', details: [] } }
    const restError = call.version === '0.3' ? error : status
    const body = call.binding === 'JSONRPC' ? { jsonrpc: '2.0', id: null, error } : restError
    expect(readResult(call, body, 'error-response')).toStrictEqual({
      kind: 'error',
      tasks: [],
      contexts: [],
      mediaTypes: [],
      error: { code: -32001 },
    })
  })

  it.each<[string, Json]>([
    ['null', null],
    ['a number', 1],
    ['a text', 'ok'],
    ['true', true],
    ['an empty list', []],
    ['a list of lists', [[]]],
    ['an empty object', {}],
    ['a card', { name: 'Weather Agent', url: 'https://a.example', skills: [], capabilities: {}, version: '1' }],
    ['an error of a web framework', { detail: 'Not Found' }],
    ['a problem document', { type: 'about:blank', title: 'Not Found', status: 404 }],
    ['a text in an object', { text: 'It rains' }],
    ['a completion of a language model', { choices: [{ message: { role: 'assistant', content: 'It rains' } }] }],
    ['an object of another kind', { kind: 'weather', id: 't', contextId: 'c' }],
    ['a task without a status', form === '1.0' ? { task: { id: 't' } } : { kind: 'task', id: 't', contextId: 'c' }],
    ['two results', { ...(resultOf('send', '1.0') as JsonObject), ...(resultOf('resubscribe', '1.0') as JsonObject) }],
  ])('does not return %s', (what, value) => {
    const isValid =
      (what === 'null' && isDeletion(call)) ||
      (what === 'an empty object' && mayBeEmptyObject(call, form)) ||
      (what === 'an empty list' && form === '0.3' && call.operation === 'listPushConfigs') ||
      (what === 'a card' && call.operation === 'extendedCard')
    expect(faultOf(call, answerOf(call, value)) === undefined).toBe(isValid)
  })

  // The two ProtoJSON forms differ in a few names, and readers ignore those that they do not know.
  it.runIf(!isDeletion(call) && call.operation !== 'extendedCard' && form !== '0.3 over HTTP')(
    'does not return a result in the form of another version',
    () => {
      const other = form === '1.0' ? '0.3' : '1.0'
      const { operation } = call
      const value = operation === 'listTasks' ? { tasks: [resultOf('getTask', '0.3')] } : resultOf(operation, other)
      expect(faultOf(call, answerOf(call, value))).toBeTypeOf('string')
    },
  )
})

describe.each(calls.filter(([, { binding }]) => binding === 'JSONRPC'))(
  'the JSON-RPC response to %s',
  (_, call, form) => {
    const result = resultOf(call.operation, form)
    const error = { code: -32001, message: 'No such task' }

    it.each<[string, unknown]>([
      ['a batch', [{ jsonrpc: '2.0', id: 7, result }]],
      ['nothing but a result', result],
      ['no version', { id: 7, result }],
      ['version 1.0', { jsonrpc: '1.0', id: 7, result }],
      ['a numeric version', { jsonrpc: 2, id: 7, result }],
      ['neither result nor error', { jsonrpc: '2.0', id: 7 }],
      ['both result and error', { jsonrpc: '2.0', id: 7, result: result ?? {}, error }],
      ['a text as its error', { jsonrpc: '2.0', id: 7, error: 'boom' }],
      ['null as its error', { jsonrpc: '2.0', id: 7, error: null }],
      ['an error without a code', { jsonrpc: '2.0', id: 7, error: { message: 'boom' } }],
      ['an error whose code is a text', { jsonrpc: '2.0', id: 7, error: { ...error, code: '-32001' } }],
      ['an error whose code is not an integer', { jsonrpc: '2.0', id: 7, error: { ...error, code: 1.5 } }],
      ['an error without a message', { jsonrpc: '2.0', id: 7, error: { code: 1 } }],
      ['an error whose message is an object', { jsonrpc: '2.0', id: 7, error: { ...error, message: {} } }],
      ['an error outside of JSON-RPC', { error: 'boom' }],
      ['null as its result and its error', { jsonrpc: '2.0', id: 7, result: null, error: null }],
    ])('must not have %s', (what, body) => {
      // The official Python server of 0.3 leaves out the result of a deletion, which is null.
      const isValid = what === 'neither result nor error' && isDeletion(call) && call.version === '0.3'
      expect(faultOf(call, body) === undefined).toBe(isValid)
    })
  },
)

it('a JSON-RPC response is an error even with a result of null, as official clients read it', () => {
  const call = { binding: 'JSONRPC', version: '0.3', operation: 'send' } as const
  const body = { jsonrpc: '2.0', id: 7, result: null, error: { code: -32001, message: 'No such task' } }
  expect(readResult(call, body)).toMatchObject({ kind: 'error', error: { code: -32001 } })
})

describe('an error over HTTP+JSON', () => {
  const rest = (version: WireVersion): Call => ({ binding: 'HTTP+JSON', version, operation: 'stream' })
  const status = { error: { code: 404, status: 'NOT_FOUND', message: 'No such task', details: [] } }

  it.each<[WireVersion, unknown, number | undefined]>([
    ['1.0', status, 404],
    ['0.3', { code: -32001, message: 'No such task', data: null }, -32001],
    ['0.3', status, 404],
    // As the official Python server of 0.3 writes it.
    ['0.3', { message: 'No such task' }, undefined],
    ['0.3', { message: 'No such task', type: 'a', kind: 'b' }, undefined],
    ['1.0', { error: { ...status.error, type: 'a' }, message: 'x', path: '/tasks/1', task: 't' }, 404],
  ])('may be, in %s, %j', (version, body, code) => {
    const expected = { kind: 'error', error: code === undefined ? {} : { code } }
    expect(readResult(rest(version), body, 'error-response')).toMatchObject(expected)
    expect(readResult(rest(version), body, 'event')).toMatchObject(expected)
    expect(readResult(rest(version), body, 'response')).toHaveProperty('fault')
  })

  it.each<[WireVersion, unknown]>([
    ...wireVersions.flatMap((version): [WireVersion, unknown][] => [
      [version, { error: 'boom' }],
      [version, { error: {} }],
      [version, { error: null, message: {} }],
      [version, { detail: 'Not Found' }],
      [version, { title: 'Not Found', status: 404 }],
      [version, 'Traceback (most recent call last)'],
      [version, null],
      [version, [status]],
      [version, { code: '404', message: 'x' }],
    ]),
    ['1.0', { message: 'No such task' }],
    ['1.0', { code: -32001, message: 'No such task' }],
    ['1.0', { code: 500, message: 'boom', type: 'a' }],
    ['0.3', { kind: 'task', id: 't', message: 'x' }],
    ['0.3', { message: 'x', msg: { messageId: 'm', taskId: 't' } }],
    ['0.3', { message: 'x', status_update: { taskId: 't' } }],
    ...wireVersions.flatMap((version): [WireVersion, unknown][] => [
      [version, { ...status, task: resultOf('getTask', '1.0') }],
      [version, { ...status, message: { messageId: 'm', taskId: 't' } }],
      [version, { ...status, statusUpdate: { taskId: 't' } }],
      [version, { ...status, artifactUpdate: { taskId: 't' } }],
      [version, { code: 5, message: 'x', task: resultOf('getTask', '1.0') }],
    ]),
  ])('must not be, in %s, %j', (version, body) => {
    expect(readResult(rest(version), body, 'error-response')).toHaveProperty('fault')
    expect(readResult(rest(version), body, 'event')).toHaveProperty('fault')
  })
})

describe('a result', () => {
  const v1 = (operation: OperationName): Call => ({ binding: 'JSONRPC', version: '1.0', operation })
  const v03 = (operation: OperationName): Call => ({ binding: 'JSONRPC', version: '0.3', operation })
  const rest03 = (operation: OperationName): Call => ({ binding: 'HTTP+JSON', version: '0.3', operation })

  /** Replaces the value at a path, or deletes it if `value` is undefined. */
  const withValue = (result: Json, path: string, value: Json | undefined): Json => {
    const copy = structuredClone(result)
    const names = path.split('.')
    const last = names.pop() ?? ''
    const owner = names.reduce<Json>((each, name) => (each as JsonObject)[name] ?? null, copy) as JsonObject
    if (value === undefined) delete owner[last]
    else owner[last] = value
    return copy
  }

  it.each<[Call, string, Json | undefined, string]>([
    [v1('getTask'), 'id', undefined, 'result.id must be a string that is not empty'],
    [v1('getTask'), 'id', '', 'result.id must be a string that is not empty'],
    [v1('getTask'), 'id', 7, 'result.id must be a string that is not empty'],
    [v1('getTask'), 'contextId', 7, 'result.contextId must be a string'],
    [v1('getTask'), 'status', 'working', 'result.status must be an object'],
    [v1('getTask'), 'status.state', undefined, 'result.status.state must be a task state'],
    [v1('getTask'), 'status.state', 'working', 'result.status.state must be a task state'],
    [v1('getTask'), 'status.state', 9, 'result.status.state must be a task state'],
    [v1('getTask'), 'status.message', 'Hello', 'result.status.message must be an object'],
    [v1('getTask'), 'status.message.role', 'agent', 'result.status.message.role must be ROLE_USER or ROLE_AGENT'],
    [v1('getTask'), 'status.message.parts', {}, 'result.status.message.parts must be a list'],
    [v1('getTask'), 'artifacts', {}, 'result.artifacts must be a list'],
    [
      v1('getTask'),
      'artifacts.0.artifactId',
      undefined,
      'result.artifacts[0].artifactId must be a string that is not empty',
    ],
    [v1('getTask'), 'artifacts.0.parts.0.text', 7, 'result.artifacts[0].parts[0].text must be a string'],
    [
      v1('getTask'),
      'artifacts.0.parts.0',
      {},
      'result.artifacts[0].parts[0] must have exactly one of text, raw, url, data',
    ],
    [
      v1('getTask'),
      'artifacts.0.parts.0.raw',
      'AA==',
      'result.artifacts[0].parts[0] must have exactly one of text, raw, url, data',
    ],
    [v1('getTask'), 'history.0', null, 'result.history[0] must be an object'],
    [v1('getTask'), 'history.0.messageId', undefined, 'result.history[0].messageId must be a string that is not empty'],
    [v1('getTask'), 'metadata', [], 'result.metadata must be an object'],
    [v1('send'), 'message.parts.0', 'Hello', 'result.message.parts[0] must be an object'],
    [v1('listTasks'), 'tasks.0.id', undefined, 'result.tasks[0].id must be a string that is not empty'],
    [v1('listTasks'), 'tasks', {}, 'result must have a list of tasks'],
    [v1('createPushConfig'), 'url', undefined, 'result.url must be a string'],
    [v03('getTask'), 'kind', undefined, 'result.kind must be "task"'],
    [v03('getTask'), 'contextId', undefined, 'result.contextId must be a string'],
    [v03('getTask'), 'status.state', 'TASK_STATE_WORKING', 'result.status.state must be a task state'],
    [v03('getTask'), 'status.message.parts', undefined, 'result.status.message.parts must be a list'],
    [
      v03('getTask'),
      'artifacts.0.parts.0.kind',
      'image',
      'result.artifacts[0].parts[0].kind must be text, data or file',
    ],
    [v03('getTask'), 'artifacts.0.parts.0.text', undefined, 'result.artifacts[0].parts[0].text must be a string'],
    [
      v03('getTask'),
      'artifacts.0.parts.0',
      { kind: 'file', file: {} },
      'result.artifacts[0].parts[0].file must have exactly one of bytes, uri',
    ],
    [
      v03('getTask'),
      'artifacts.0.parts.0',
      { kind: 'data', data: [] },
      'result.artifacts[0].parts[0].data must be an object',
    ],
    [v03('getTask'), 'artifacts.0.parts.0', {}, 'result.artifacts[0].parts[0] must have one of text, data, file'],
    [
      v03('getTask'),
      'artifacts.0.parts.0',
      { kind: null, text: 7 },
      'result.artifacts[0].parts[0].text must be a string',
    ],
    [v03('getTask'), 'history.0.kind', 'task', 'result.history[0].kind must be "message"'],
    [v03('send'), 'kind', 'status-update', 'result.kind must be task or message'],
    [v03('send'), 'messageId', undefined, 'result.messageId must be a string'],
    [v03('send'), 'role', 'assistant', 'result.role must be user or agent'],
    [v03('listPushConfigs'), '0.taskId', undefined, 'result.configs[0].taskId must be a string that is not empty'],
    [
      v03('getPushConfig'),
      'pushNotificationConfig.url',
      undefined,
      'result.pushNotificationConfig.url must be a string',
    ],
    [rest03('getTask'), 'status.state', 'TASK_STATE_CANCELED', 'result.status.state must be a task state'],
    [rest03('send'), 'message.content', 'Hello', 'result.message.content must be a list'],
    [rest03('getPushConfig'), 'name', undefined, 'result.name must be a string that is not empty'],
  ])('of %j without a valid %s (%j) is refused: %s', (call, path, value, fault) => {
    const form = call.binding === 'HTTP+JSON' ? '0.3 over HTTP' : call.version
    expect(faultOf(call, answerOf(call, withValue(resultOf(call.operation, form), path, value)))).toBe(fault)
  })

  it.each<[string, Call, string, Json | undefined]>([
    ['a state by its number', v1('getTask'), 'status.state', 2],
    ['no parts, as writers of ProtoJSON leave out what is empty', v1('getTask'), 'artifacts.0.parts', undefined],
    ['no context', v1('getTask'), 'contextId', undefined],
    ['null as data', v1('getTask'), 'artifacts.0.parts.0', { data: null }],
    ['no artifacts', v1('getTask'), 'artifacts', null],
    ['a cancelled state of the proto of 0.3', rest03('getTask'), 'status.state', 'TASK_STATE_CANCELLED'],
    ['a part without a kind', v03('getTask'), 'artifacts.0.parts.0', { type: 'text', text: 'Rain' }],
    ['a status message without a kind', v03('getTask'), 'status.message.kind', undefined],
    ['an unknown state', v03('getTask'), 'status.state', 'unknown'],
    ['a file', v03('getTask'), 'artifacts.0.parts.0', { kind: 'file', file: { bytes: '', mimeType: 'image/png' } }],
  ])('may have %s', (_, call, path, value) => {
    const form = call.binding === 'HTTP+JSON' ? '0.3 over HTTP' : call.version
    expect(faultOf(call, answerOf(call, withValue(resultOf(call.operation, form), path, value)))).toBeUndefined()
  })

  it.each<[string, Call, Json]>([
    ['an object with `kind`', rest03('send'), resultOf('send', '0.3')],
    ['a task with `kind`', rest03('getTask'), resultOf('getTask', '0.3')],
    [
      'a message called `msg`',
      rest03('send'),
      { msg: (resultOf('send', '0.3 over HTTP') as JsonObject).message ?? null },
    ],
    [
      'members in snake case',
      v1('stream'),
      { status_update: { task_id: 't', context_id: 'c', status: { state: 'TASK_STATE_WORKING' } } },
    ],
  ])('may be %s', (_, call, result) => {
    expect(faultOf(call, answerOf(call, result))).toBeUndefined()
  })

  it('has no member with an empty name that counts as another', () => {
    const { id, ...task } = resultOf('getTask', '1.0') as JsonObject
    expect(faultOf(v1('getTask'), answerOf(v1('getTask'), { ...task, '': id ?? null }))).toBe(
      'result.id must be a string that is not empty',
    )
  })

  it('of 0.3 over HTTP may be a list of configurations with `kind`s', () => {
    expect(faultOf(rest03('listPushConfigs'), resultOf('listPushConfigs', '0.3'))).toBeUndefined()
  })
})

describe('the facts of a result', () => {
  const part = (mediaType: string) => ({ url: 'https://a.example/f', mediaType })
  const rpc = (version: WireVersion, operation: OperationName, result: Json) =>
    readResult({ binding: 'JSONRPC', version, operation }, { jsonrpc: '2.0', id: 7, result })
  const status = { state: 'TASK_STATE_WORKING' }

  it('name a task, its context, and the media types of its status and artifacts, but not of its history', () => {
    const message = (mediaType: string) => ({
      messageId: 'm',
      taskId: 'other',
      contextId: 'other',
      parts: [part(mediaType)],
    })
    const task = {
      id: 't',
      contextId: 'c',
      status: { ...status, message: message('image/png') },
      artifacts: [{ artifactId: 'a', parts: [{ text: 'x' }, { data: 1 }, part('image/png'), { raw: 'AA==' }] }],
      history: [message('image/gif')],
    }
    expect(rpc('1.0', 'getTask', task)).toStrictEqual({
      kind: 'task',
      tasks: [{ id: 't', contextId: 'c' }],
      contexts: ['c'],
      mediaTypes: ['image/png', 'text/plain', 'application/json', 'application/octet-stream'],
    })
  })

  it.each<[string, WireVersion, OperationName, Json, object]>([
    [
      'a message of a context',
      '1.0',
      'send',
      { message: { messageId: 'm', contextId: 'c', parts: [] } },
      { kind: 'message', tasks: [], contexts: ['c'] },
    ],
    [
      'a message of a task',
      '0.3',
      'send',
      { kind: 'message', messageId: 'm', role: 'agent', taskId: 't', contextId: 'c', parts: [] },
      { kind: 'message', tasks: [{ id: 't', contextId: 'c' }], contexts: ['c'] },
    ],
    [
      'an update in snake case',
      '1.0',
      'stream',
      { status_update: { task_id: 't', context_id: 'c', status } },
      { kind: 'status-update', tasks: [{ id: 't', contextId: 'c' }], contexts: ['c'] },
    ],
    [
      'an artifact',
      '0.3',
      'stream',
      {
        kind: 'artifact-update',
        taskId: 't',
        contextId: 'c',
        artifact: { artifactId: 'a', parts: [{ kind: 'file', file: { uri: 'x:', mimeType: 'image/png' } }] },
      },
      { kind: 'artifact-update', tasks: [{ id: 't', contextId: 'c' }], mediaTypes: ['image/png'] },
    ],
    [
      'a list',
      '1.0',
      'listTasks',
      {
        tasks: [
          { id: 't', status },
          { id: 'u', contextId: 'c', status },
          { id: 'v', contextId: 'c', status },
        ],
      },
      {
        kind: 'task-list',
        tasks: [{ id: 't' }, { id: 'u', contextId: 'c' }, { id: 'v', contextId: 'c' }],
        contexts: ['c'],
      },
    ],
    ['an empty list', '1.0', 'listTasks', { tasks: [] }, { kind: 'task-list', tasks: [], nextPageToken: '' }],
    [
      'a page of a list',
      '1.0',
      'listTasks',
      { tasks: [], nextPageToken: 'next', pageSize: 5, totalSize: 9 },
      { kind: 'task-list', nextPageToken: 'next' },
    ],
    ['a configuration', '1.0', 'getPushConfig', { taskId: 't', url: 'https://a.example' }, { tasks: [{ id: 't' }] }],
    ['an empty result', '1.0', 'deletePushConfig', {}, { kind: 'empty', tasks: [] }],
  ])('name what %s names', (_, version, operation, result, expected) => {
    expect(rpc(version, operation, result)).toMatchObject(expected)
  })

  it('have the media types of each task of a list', () => {
    const task = (id: string, ...parts: Json[]) => ({ id, status, artifacts: [{ artifactId: 'a', parts }] })
    const image = { raw: 'AA==', mediaType: 'image/png' }
    expect(rpc('1.0', 'listTasks', { tasks: [task('t', { text: 'x' }, image), task('u', image), task('v')] })).toEqual({
      kind: 'task-list',
      tasks: [
        { id: 't', mediaTypes: ['text/plain', 'image/png'] },
        { id: 'u', mediaTypes: ['image/png'] },
        { id: 'v', mediaTypes: [] },
      ],
      contexts: [],
      mediaTypes: ['text/plain', 'image/png'],
      nextPageToken: '',
    })
  })

  it('have the reason of an error over HTTP+JSON', () => {
    const call = { binding: 'HTTP+JSON', version: '1.0', operation: 'cancel' } as const
    const details = [null, { '@type': 'a' }, { reason: 'TASK_NOT_CANCELABLE' }]
    expect(readResult(call, { error: { code: 400, message: 'x', details } }, 'error-response')).toMatchObject({
      error: { code: 400, reason: 'TASK_NOT_CANCELABLE' },
    })
  })

  it('name the task in the resource name of a configuration', () => {
    const call = { binding: 'HTTP+JSON', version: '0.3', operation: 'getPushConfig' } as const
    expect(readResult(call, resultOf('getPushConfig', '0.3 over HTTP'))).toMatchObject({ tasks: [{ id: 't-1' }] })
  })
})

describe('every valid object', () => {
  const text = fc.string({ maxLength: 5 })
  const id = fc.string({ minLength: 1, maxLength: 5 })
  const metadata = fc.dictionary(text, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })
  const timestamp = fc.constant('2026-11-22T10:00:00Z')
  const mediaType = fc.constantFrom('text/plain', 'image/png')
  const optional = <Shape extends object>(
    required: readonly (keyof Shape)[],
    model: { [Name in keyof Shape]: fc.Arbitrary<Shape[Name]> },
  ) => fc.record(model, { requiredKeys: required as never })
  const list = <Value>(items: fc.Arbitrary<Value>, minLength = 0) => fc.array(items, { minLength, maxLength: 3 })

  const partV1 = fc
    .tuple(
      fc.oneof(
        fc.record({ text }),
        fc.record({ raw: fc.constant('AA==') }),
        fc.record({ url: text }),
        fc.record({ data: fc.jsonValue({ maxDepth: 2 }) }),
      ),
      optional([], { metadata, filename: text, mediaType }),
    )
    .map(([content, more]) => ({ ...content, ...more }))
  const messageV1 = optional(['messageId', 'role', 'parts'], {
    messageId: id,
    role: fc.constantFrom('ROLE_USER', 'ROLE_AGENT'),
    parts: list(partV1, 1),
    contextId: id,
    taskId: id,
    metadata,
    extensions: list(text),
    referenceTaskIds: list(id),
  })
  const statusV1 = optional(['state'], {
    state: fc.constantFrom(
      ...['SUBMITTED', 'WORKING', 'COMPLETED', 'FAILED', 'CANCELED', 'INPUT_REQUIRED', 'REJECTED', 'AUTH_REQUIRED'].map(
        state => `TASK_STATE_${state}`,
      ),
    ),
    message: messageV1,
    timestamp,
  })
  const artifactV1 = optional(['artifactId', 'parts'], {
    artifactId: id,
    parts: list(partV1, 1),
    name: text,
    description: text,
    metadata,
    extensions: list(text),
  })
  const idsV1 = { taskId: id, contextId: id }
  const taskV1 = optional(['id', 'status'], {
    id,
    contextId: id,
    status: statusV1,
    artifacts: list(artifactV1),
    history: list(messageV1),
    metadata,
  })
  const eventV1 = fc.oneof(
    fc.record({ task: taskV1 }),
    fc.record({ message: messageV1 }),
    fc.record({ statusUpdate: optional(['taskId', 'contextId', 'status'], { ...idsV1, status: statusV1, metadata }) }),
    fc.record({
      artifactUpdate: optional(['taskId', 'contextId', 'artifact'], {
        ...idsV1,
        artifact: artifactV1,
        append: fc.boolean(),
        lastChunk: fc.boolean(),
        metadata,
      }),
    }),
  )

  const kind = <Kind extends string>(value: Kind) => fc.constant(value)
  const file = fc
    .tuple(
      fc.oneof(fc.record({ bytes: fc.constant('AA==') }), fc.record({ uri: text })),
      optional([], { name: text, mimeType: mediaType }),
    )
    .map(([content, more]) => ({ ...content, ...more }))
  const partV03 = fc.oneof(
    optional(['kind', 'text'], { kind: kind('text'), text, metadata }),
    optional(['kind', 'data'], { kind: kind('data'), data: metadata, metadata }),
    optional(['kind', 'file'], { kind: kind('file'), file, metadata }),
  )
  const messageV03 = optional(['kind', 'messageId', 'role', 'parts'], {
    kind: kind('message'),
    messageId: text,
    role: fc.constantFrom('user', 'agent'),
    parts: list(partV03),
    contextId: text,
    taskId: text,
    metadata,
    extensions: list(text),
    referenceTaskIds: list(text),
  })
  const statusV03 = optional(['state'], {
    state: fc.constantFrom(
      ...['submitted', 'working', 'input-required', 'completed', 'canceled', 'failed', 'rejected', 'auth-required'],
      'unknown',
    ),
    message: messageV03,
    timestamp,
  })
  const artifactV03 = optional(['artifactId', 'parts'], {
    artifactId: text,
    parts: list(partV03),
    name: text,
    description: text,
    metadata,
    extensions: list(text),
  })
  const taskV03 = optional(['kind', 'id', 'contextId', 'status'], {
    kind: kind('task'),
    id,
    contextId: text,
    status: statusV03,
    artifacts: list(artifactV03),
    history: list(messageV03),
    metadata,
  })
  const eventV03 = fc.oneof(
    taskV03,
    messageV03,
    optional(['kind', 'taskId', 'contextId', 'status', 'final'], {
      kind: kind('status-update'),
      taskId: id,
      contextId: text,
      status: statusV03,
      final: fc.boolean(),
      metadata,
    }),
    optional(['kind', 'taskId', 'contextId', 'artifact'], {
      kind: kind('artifact-update'),
      taskId: id,
      contextId: text,
      artifact: artifactV03,
      append: fc.boolean(),
      lastChunk: fc.boolean(),
      metadata,
    }),
  )

  it.each<[WireVersion, OperationName, fc.Arbitrary<unknown>]>([
    ['1.0', 'stream', eventV1],
    ['1.0', 'getTask', taskV1],
    [
      '1.0',
      'listTasks',
      fc.record({ tasks: list(taskV1), nextPageToken: text, pageSize: fc.nat(), totalSize: fc.nat() }),
    ],
    ['0.3', 'stream', eventV03],
    ['0.3', 'getTask', taskV03],
  ])('of %s, as its specification describes it, is a result of %s', (version, operation, results) => {
    fc.assert(
      fc.property(results, result => {
        const call = { binding: 'JSONRPC', version, operation } as const
        expect(faultOf(call, answerOf(call, result as Json), 'event')).toBeUndefined()
      }),
      { numRuns: 300 },
    )
  })

  it('takes time in proportion to its size', () => {
    const task = (parts: number) => ({
      id: 't',
      status: { state: 'TASK_STATE_WORKING' },
      artifacts: [
        { artifactId: 'a', parts: Array.from({ length: parts }, (_, n) => ({ raw: '', mediaType: `image/x-${n}` })) },
      ],
    })
    let reads = 0
    const counted = <Value>(value: Value): Value =>
      typeof value === 'object' && value !== null
        ? (new Proxy(value, {
            get: (target, name) => {
              reads++
              return counted(Reflect.get(target, name))
            },
          }) as Value)
        : value
    const readsOf = (parts: number): number => {
      reads = 0
      const call = { binding: 'HTTP+JSON', version: '1.0', operation: 'getTask' } as const
      expect(readResult(call, counted(task(parts)))).toHaveProperty('mediaTypes.length', parts)
      return reads
    }
    expect(readsOf(400)).toBeLessThan(2.2 * readsOf(200))
  })
})
