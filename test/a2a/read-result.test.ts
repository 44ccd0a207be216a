import { describe, expect, it } from 'vitest'
import { methodOf, type OperationName, operationNames, operations } from '../../src/a2a/operations.ts'
import { type AnswerPlace, readResult } from '../../src/a2a/read-result.ts'
import { type CallBinding, callBindings, type WireVersion, wireVersions } from '../../src/card/model/versions.ts'
import { isJsonObject, type Json, type JsonObject } from '../../src/json/json.ts'
import { eventsOf, type ResultForm, resultFormOf, resultOf } from '../support/answers.ts'
import { growth, linear } from '../support/cpu-time.ts'

type Call = { binding: CallBinding; version: WireVersion; operation: OperationName }

/** Every operation in every version and binding. */
const calls: Call[] = wireVersions.flatMap(version =>
  callBindings.flatMap(binding =>
    operationNames
      .filter(operation => methodOf(operation, version) !== undefined)
      .map(operation => ({ binding, version, operation })),
  ),
)

const answerOf = ({ binding }: Call, result: Json): Json =>
  binding === 'JSONRPC' ? { jsonrpc: '2.0', id: 7, result } : result

const faultOf = (call: Call, body: unknown, place?: AnswerPlace): string | undefined => {
  const read = readResult(call, body, place)
  return 'fault' in read ? read.fault : undefined
}

/** Returns the calls that have this valid answer. */
const callsWith = (bodyOf: (call: Call) => unknown, place?: AnswerPlace): string[] =>
  calls
    .filter(call => faultOf(call, bodyOf(call), place) === undefined)
    .map(({ operation, version, binding }) => `${operation} ${version} ${binding}`)

const inAll = (operation: OperationName): string[] => [
  ...(methodOf(operation, '0.3') ? [`${operation} 0.3 JSONRPC`, `${operation} 0.3 HTTP+JSON`] : []),
  `${operation} 1.0 JSONRPC`,
  `${operation} 1.0 HTTP+JSON`,
]

describe('the answer to a call', () => {
  it('is valid in the form of its version and binding, with unknown members, and with null for absent ones', () => {
    const extend = (value: Json): Json => {
      if (Array.isArray(value)) return value.map(extend)
      if (!isJsonObject(value)) return value
      const members = Object.entries(value).map(([name, member]) => [name, extend(member ?? null)])
      return { ...Object.fromEntries(members), metadata: null, 'x-vendor': [{ deep: null }] }
    }
    for (const call of calls) {
      const result = resultOf(call.operation, resultFormOf(call))
      expect(faultOf(call, answerOf(call, result)), JSON.stringify(call)).toBeUndefined()
      // What is empty has no members at all.
      if (call.operation !== 'deletePushConfig')
        expect(faultOf(call, answerOf(call, extend(result))), JSON.stringify(call)).toBeUndefined()
      for (const event of operations[call.operation].streams ? eventsOf(resultFormOf(call)) : [])
        expect(faultOf(call, answerOf(call, event), 'event'), JSON.stringify([call, event])).toBeUndefined()
    }
  })

  it('may be an error', () => {
    for (const call of calls) {
      const error = { code: -32001, message: 'No such task', data: { stack: 'at main.py' } }
      const restError = call.version === '0.3' ? error : { error: { code: -32001, message: 'M', status: 'NOT_FOUND' } }
      const body = call.binding === 'JSONRPC' ? { jsonrpc: '2.0', id: null, error } : restError
      const none = { tasks: [], contexts: [], mediaTypes: [] }
      expect(readResult(call, body, 'error-response')).toStrictEqual({
        ...none,
        kind: 'error',
        error: { code: -32001 },
      })
    }
  })

  it('may be nothing else', () => {
    const card = { name: 'Weather Agent', url: 'https://a.example', skills: [], capabilities: {}, version: '1' }
    const twoResults = { ...(resultOf('send', '1.0') as JsonObject), ...(resultOf('resubscribe', '1.0') as JsonObject) }
    const rows: [what: string, result: (call: Call) => Json, valid?: string[]][] = [
      ['null', () => null, inAll('deletePushConfig')],
      ['a text', () => 'ok'],
      ['an empty list', () => [], ['listPushConfigs 0.3 JSONRPC']],
      [
        // ProtoJSON leaves out an empty list.
        'an empty object',
        () => ({}),
        [...inAll('listTasks'), ...inAll('listPushConfigs').slice(1), ...inAll('deletePushConfig')],
      ],
      ['a card', () => card, inAll('extendedCard')],
      ['an error of a web framework', () => ({ detail: 'Not Found' })],
      ['an object of another kind', () => ({ kind: 'weather', id: 't', contextId: 'c' })],
      ['a task without a status in 1.0', () => ({ task: { id: 't' } })],
      ['a task without a status in 0.3', () => ({ kind: 'task', id: 't', contextId: 'c' })],
      ['two results', () => twoResults],
    ]
    for (const [what, resultFor, valid = []] of rows)
      expect(callsWith(call => answerOf(call, resultFor(call))).sort(), what).toEqual(valid.sort())
  })

  it('has the form of its version', () => {
    const valid = callsWith(call => {
      const other = resultFormOf(call) === '1.0' ? '0.3' : '1.0'
      const listed = call.operation === 'listTasks' ? { tasks: [resultOf('getTask', '0.3')] } : undefined
      return answerOf(call, listed ?? resultOf(call.operation, other))
    })
    // What is empty and a card have one form. Those of ProtoJSON differ in a few names, and unknown ones are ignored.
    const protoV03 = ['send', 'stream', 'getTask', 'cancel', 'resubscribe'] as const
    expect(valid.sort()).toEqual(
      [
        ...inAll('deletePushConfig'),
        ...inAll('extendedCard'),
        ...protoV03.map(operation => `${operation} 0.3 HTTP+JSON`),
      ].sort(),
    )
  })

  it('over JSON-RPC is a response object with either a result or an error', () => {
    const error = { code: -32001, message: 'No such task' }
    const response = { jsonrpc: '2.0', id: 7 }
    const rows: [what: string, body: (result: Json) => unknown, valid?: string[]][] = [
      ['a batch', result => [{ ...response, result }]],
      ['no version', result => ({ id: 7, result })],
      // The official Python server of 0.3 leaves out the result of a deletion, which is null.
      ['neither result nor error', () => response, ['deletePushConfig 0.3 JSONRPC']],
      ['both result and error', result => ({ ...response, result: result ?? {}, error })],
      ['a text as its error', () => ({ ...response, error: 'boom' })],
      ['an error without a code', () => ({ ...response, error: { message: 'boom' } })],
      ['an error whose code is not an integer', () => ({ ...response, error: { ...error, code: 1.5 } })],
      ['an error without a message', () => ({ ...response, error: { code: 1 } })],
    ]
    for (const [what, body, valid = []] of rows) {
      const found = callsWith(call => body(resultOf(call.operation, resultFormOf(call))))
      expect(
        found.filter(name => name.endsWith('JSONRPC')),
        what,
      ).toEqual(valid)
    }
    // Official clients read this as an error.
    const call = { binding: 'JSONRPC', version: '0.3', operation: 'send' } as const
    expect(readResult(call, { ...response, result: null, error })).toMatchObject({
      kind: 'error',
      error: { code: -32001 },
    })
    const [batch, versionless, empty, two] = [[], {}, response, { ...response, result: {}, error }]
    expect([batch, versionless, empty, two].map(body => faultOf(call, body))).toEqual([
      'the response must be an object',
      'jsonrpc must be "2.0"',
      'result or error must be present',
      'result and error must not both be present',
    ])
  })
})

describe('an error over HTTP+JSON', () => {
  const rest = (version: WireVersion): Call => ({ binding: 'HTTP+JSON', version, operation: 'stream' })
  const status = { error: { code: 404, status: 'NOT_FOUND', message: 'No such task', details: [] } }

  it('may be a google.rpc.Status, and in 0.3 an error of JSON-RPC', () => {
    const rows: [WireVersion, unknown, number | undefined][] = [
      ['1.0', status, 404],
      ['0.3', { code: -32001, message: 'No such task', data: null }, -32001],
      ['0.3', status, 404],
      // As the official Python server of 0.3 writes it.
      ['0.3', { message: 'No such task' }, undefined],
      ['1.0', { error: { ...status.error, type: 'a' }, message: 'x', path: '/tasks/1', task: 't' }, 404],
    ]
    for (const [version, body, code] of rows) {
      const expected = { kind: 'error', error: code === undefined ? {} : { code } }
      expect(readResult(rest(version), body, 'error-response'), JSON.stringify(body)).toMatchObject(expected)
      expect(readResult(rest(version), body, 'event'), JSON.stringify(body)).toMatchObject(expected)
      expect(readResult(rest(version), body, 'response'), JSON.stringify(body)).toHaveProperty('fault')
    }
  })

  it('may be nothing else, nor have a result beside it', () => {
    const task = resultOf('getTask', '1.0')
    const bothVersions: unknown[] = [
      ...[null, { error: 'boom' }, { error: null, message: {} }, { ...status, task }],
      ...[
        { ...status, message: { messageId: 'm', taskId: 't' } },
        { ...status, statusUpdate: { taskId: 't' } },
        { ...status, artifactUpdate: { taskId: 't' } },
      ],
    ]
    const rows: [WireVersion, unknown][] = [
      ...wireVersions.flatMap(version => bothVersions.map((body): [WireVersion, unknown] => [version, body])),
      ['1.0', { code: -32001, message: 'No such task' }],
      ['0.3', { kind: 'task', id: 't', message: 'x' }],
      ['0.3', { message: 'x', msg: { messageId: 'm', taskId: 't' } }],
      ['0.3', { message: 'x', status_update: { taskId: 't' } }],
    ]
    for (const [version, body] of rows)
      for (const place of ['error-response', 'event'] as const)
        expect(readResult(rest(version), body, place), JSON.stringify([version, body])).toHaveProperty('fault')
    const faults = [null, { ...status, task }, { detail: 'x' }].map(body =>
      faultOf(rest('1.0'), body, 'error-response'),
    )
    expect(faults).toEqual([
      'error must be an object',
      'result and error must not both be present',
      'error must be present',
    ])
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
  const faultWith = (call: Call, path: string, value: Json | undefined) =>
    faultOf(call, answerOf(call, withValue(resultOf(call.operation, resultFormOf(call)), path, value)))

  const [nonEmpty, text, state] = ['must be a string that is not empty', 'must be a string', 'must be a task state']
  const oneContent = 'must have exactly one of text, raw, url, data'

  it('is refused with the path of what is invalid', () => {
    const part = 'artifacts.0.parts.0'
    const rows: [Call, path: string, value: Json | undefined, fault: string][] = [
      [v1('getTask'), 'id', undefined, `result.id ${nonEmpty}`],
      [v1('getTask'), 'id', '', `result.id ${nonEmpty}`],
      [v1('getTask'), 'status', 'working', 'result.status must be an object'],
      [v1('getTask'), 'status.state', undefined, `result.status.state ${state}`],
      [v1('getTask'), 'status.state', 9, `result.status.state ${state}`],
      [v1('getTask'), 'status.message.role', 'agent', 'result.status.message.role must be ROLE_USER or ROLE_AGENT'],
      [v1('getTask'), 'artifacts', {}, 'result.artifacts must be a list'],
      [v1('getTask'), part, {}, `result.artifacts[0].parts[0] ${oneContent}`],
      [v1('getTask'), `${part}.raw`, 'AA==', `result.artifacts[0].parts[0] ${oneContent}`],
      [v1('getTask'), 'history.0', null, 'result.history[0] must be an object'],
      [v1('send'), 'message.parts.0', 'Hello', 'result.message.parts[0] must be an object'],
      [v1('send'), 'task', resultOf('getTask', '1.0'), 'result must have one of task, message'],
      [v1('listTasks'), 'tasks.0.id', undefined, `result.tasks[0].id ${nonEmpty}`],
      [v1('listTasks'), 'tasks', {}, 'result must have a list of tasks'],
      [v1('createPushConfig'), 'url', undefined, `result.url ${text}`],
      [v1('deletePushConfig'), 'a', 1, 'result must be empty'],
      [v1('extendedCard'), 'name', 1, `result.name ${text}`],
      [v03('getTask'), 'kind', undefined, 'result.kind must be "task"'],
      [v03('getTask'), `${part}.kind`, 'image', 'result.artifacts[0].parts[0].kind must be text, data or file'],
      [
        ...([v03('getTask'), part, { kind: 'file', file: {} }] as const),
        'result.artifacts[0].parts[0].file must have exactly one of bytes, uri',
      ],
      [v03('getTask'), part, { kind: 'data', data: [] }, 'result.artifacts[0].parts[0].data must be an object'],
      [v03('getTask'), part, {}, 'result.artifacts[0].parts[0] must have one of text, data, file'],
      [v03('getTask'), part, { kind: null, text: 7 }, `result.artifacts[0].parts[0].text ${text}`],
      [v03('getTask'), 'history.0.kind', 'task', 'result.history[0].kind must be "message"'],
      [v03('send'), 'kind', 'status-update', 'result.kind must be task or message'],
      [v03('send'), 'role', 'assistant', 'result.role must be user or agent'],
      // Only ProtoJSON has numbers for values.
      [v03('send'), 'role', 1, 'result.role must be user or agent'],
      [v03('listPushConfigs'), '0.taskId', undefined, `result.configs[0].taskId ${nonEmpty}`],
      [rest03('getTask'), 'status.state', 'TASK_STATE_CANCELED', `result.status.state ${state}`],
      [rest03('getTask'), part, {}, 'result.artifacts[0].parts[0] must have exactly one of text, file, data'],
      [
        ...([rest03('getTask'), part, { file: {} }] as const),
        'result.artifacts[0].parts[0].file must have exactly one of fileWithBytes, fileWithUri',
      ],
      [rest03('send'), 'message.content', 'Hello', 'result.message.content must be a list'],
      [rest03('getPushConfig'), 'name', undefined, `result.name ${nonEmpty}`],
    ]
    for (const [call, path, value, fault] of rows)
      expect(faultWith(call, path, value), `${call.operation} ${call.version} ${path}`).toBe(fault)
    const { id, ...task } = resultOf('getTask', '1.0') as JsonObject
    expect(faultOf(v1('getTask'), answerOf(v1('getTask'), { ...task, '': id ?? null }))).toBe(`result.id ${nonEmpty}`)
  })

  it('may have', () => {
    const part = 'artifacts.0.parts.0'
    const rows: [what: string, Call, path: string, Json | undefined][] = [
      ['a state by its number', v1('getTask'), 'status.state', 2],
      ['no parts, as writers of ProtoJSON leave out what is empty', v1('getTask'), 'artifacts.0.parts', undefined],
      ['null as data', v1('getTask'), part, { data: null }],
      ['no artifacts', v1('getTask'), 'artifacts', null],
      ['a cancelled state of the proto of 0.3', rest03('getTask'), 'status.state', 'TASK_STATE_CANCELLED'],
      ['a part without a kind', v03('getTask'), part, { type: 'text', text: 'Rain' }],
      ['an unknown state', v03('getTask'), 'status.state', 'unknown'],
      ['a file', v03('getTask'), part, { kind: 'file', file: { bytes: '', mimeType: 'image/png' } }],
      ['a file in the proto of 0.3', rest03('getTask'), part, { file: { fileWithBytes: '' } }],
      ['data in the proto of 0.3', rest03('getTask'), part, { data: { data: {} } }],
      ['an empty message id in 0.3', v03('send'), 'messageId', ''],
      ['no part in an artifact of 0.3', v03('getTask'), 'artifacts.0.parts', []],
    ]
    for (const [what, call, path, value] of rows) expect(faultWith(call, path, value), what).toBeUndefined()
    const snakeCase = { status_update: { task_id: 't', context_id: 'c', status: { state: 'TASK_STATE_WORKING' } } }
    const wrapped = (resultOf('send', '0.3 over HTTP') as JsonObject).message ?? null
    const results: [what: string, Call, Json][] = [
      ['an object with `kind` over HTTP', rest03('send'), resultOf('send', '0.3')],
      ['a task with `kind` over HTTP', rest03('getTask'), resultOf('getTask', '0.3')],
      ['configurations with `kind`s over HTTP', rest03('listPushConfigs'), resultOf('listPushConfigs', '0.3')],
      ['a message called `msg`', rest03('send'), { msg: wrapped }],
      ['members in snake case', v1('stream'), snakeCase],
    ]
    for (const [what, call, result] of results) expect(faultOf(call, answerOf(call, result)), what).toBeUndefined()
  })

  /** Returns the paths of all members of a value, lists as if they had one item. */
  const pathsOf = (value: Json, path = ''): string[] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, member]) => [
          `${path}${name}`,
          ...pathsOf(member ?? null, `${path}${name}.`),
        ])
      : []
  const allMembers = (form: ResultForm): Record<string, JsonObject> => {
    const isV03 = form === '0.3'
    const kind = (name: string) => (isV03 ? { kind: name } : {})
    const file = { name: 'n', mimeType: 'a/b' }
    const filePart = {
      '0.3': { kind: 'file', file: { uri: 'x:', ...file }, metadata: {} },
      '0.3 over HTTP': { file: { fileWithUri: 'x:', ...file }, metadata: {} },
      '1.0': { url: 'x:', filename: 'n', mediaType: 'a/b', metadata: {} },
    }[form]
    const message = {
      ...{ ...kind('message'), messageId: 'm', role: isV03 ? 'agent' : 'ROLE_AGENT', taskId: 't', contextId: 'c' },
      [form === '0.3 over HTTP' ? 'content' : 'parts']: [filePart],
      metadata: {},
    }
    const state = isV03 ? 'working' : 'TASK_STATE_WORKING'
    const status = { state, message, timestamp: '2026-11-22T10:00:00Z' }
    const artifact = { artifactId: 'a', parts: [filePart], metadata: {}, name: 'n', description: 'd' }
    const ids = { taskId: 't', contextId: 'c' }
    return {
      getTask: {
        ...{ ...kind('task'), id: 't', contextId: 'c', status },
        ...{ artifacts: [artifact], history: [message], metadata: {} },
      },
      statusUpdate: { ...kind('status-update'), ...ids, status, metadata: {}, ...(isV03 && { final: true }) },
      artifactUpdate: {
        ...{ ...kind('artifact-update'), ...ids, artifact, metadata: {}, append: true, lastChunk: true },
      },
    }
  }

  it('has members of the right types alone', () => {
    for (const version of ['0.3', '0.3 over HTTP', '1.0'] as const)
      for (const [name, object] of Object.entries(allMembers(version))) {
        const binding = version === '0.3 over HTTP' ? 'HTTP+JSON' : 'JSONRPC'
        const operation = name === 'getTask' ? name : 'stream'
        const call: Call = { binding, version: version === '1.0' ? '1.0' : '0.3', operation }
        const wrap = (value: Json): Json => (name === 'getTask' || version === '0.3' ? value : { [name]: value })
        const isValidWith = (path: string, value: Json | undefined) =>
          faultOf(call, answerOf(call, wrap(withValue(object, path, value)))) === undefined
        expect(faultOf(call, answerOf(call, wrap(object))), `${version} ${name}`).toBeUndefined()
        const anyValue = pathsOf(object).filter(path => isValidWith(path, path.endsWith('0') ? 7 : [7]))
        expect(anyValue, `${version} ${name}`).toEqual([])
      }
  })
})

describe('the facts of a result', () => {
  const rpc = (version: WireVersion, operation: OperationName, result: Json) =>
    readResult({ binding: 'JSONRPC', version, operation }, { jsonrpc: '2.0', id: 7, result })
  const status = { state: 'TASK_STATE_WORKING' }

  it('name a task, its context, and the media types of its status and artifacts, but not of its history', () => {
    const part = (mediaType: string) => ({ url: 'https://a.example/f', mediaType })
    const message = (type: string) => ({ messageId: 'm', taskId: 'other', contextId: 'other', parts: [part(type)] })
    const task = {
      ...{ id: 't', contextId: 'c', status: { ...status, message: message('image/png') } },
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

  it('name what each kind of result names', () => {
    const ids = { taskId: 't', contextId: 'c' }
    const named = { tasks: [{ id: 't', contextId: 'c' }], contexts: ['c'] }
    const image = { kind: 'file', file: { uri: 'x:', mimeType: 'image/png' } }
    const update = { kind: 'artifact-update', ...ids, artifact: { artifactId: 'a', parts: [image] } }
    const message = { kind: 'message', messageId: 'm', role: 'agent', ...ids, parts: [] }
    const inContext = { message: { messageId: 'm', contextId: 'c', parts: [] } }
    const inSnakeCase = { status_update: { task_id: 't', context_id: 'c', status } }
    const list = [
      { id: 't', status },
      { id: 'u', contextId: 'c', status },
      { id: 'v', contextId: 'c', status },
    ]
    const listed = list.map(({ status: _, ...task }) => task)
    const page = { tasks: [], nextPageToken: 'next', pageSize: 5, totalSize: 9 }
    const rows: [WireVersion, OperationName, Json, object][] = [
      ['1.0', 'send', inContext, { kind: 'message', tasks: [], contexts: ['c'] }],
      ['0.3', 'send', message, { kind: 'message', ...named }],
      ['1.0', 'stream', inSnakeCase, { kind: 'status-update', ...named }],
      ['0.3', 'stream', update, { kind: 'artifact-update', ...named, mediaTypes: ['image/png'] }],
      ['1.0', 'listTasks', { tasks: list }, { kind: 'task-list', tasks: listed, contexts: ['c'] }],
      ['1.0', 'listTasks', { tasks: [] }, { kind: 'task-list', tasks: [], nextPageToken: '' }],
      ['1.0', 'listTasks', page, { kind: 'task-list', nextPageToken: 'next' }],
      [
        '1.0',
        'getPushConfig',
        { taskId: 't', url: 'https://a.example' },
        { kind: 'push-config', tasks: [{ id: 't' }] },
      ],
      ['1.0', 'deletePushConfig', {}, { kind: 'empty', tasks: [], contexts: [], mediaTypes: [] }],
      ['1.0', 'extendedCard', { name: 'A' }, { kind: 'card', tasks: [], contexts: [], mediaTypes: [] }],
      ['1.0', 'listPushConfigs', {}, { kind: 'push-config-list', tasks: [] }],
    ]
    for (const [version, operation, result, expected] of rows)
      expect(rpc(version, operation, result), `${operation} ${JSON.stringify(result)}`).toMatchObject(expected)
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

  it('show whether a result of 0.3 leaves out kinds', () => {
    const part = { kind: 'text', text: 'a' }
    const message = { kind: 'message', messageId: 'm', role: 'agent', parts: [part] }
    const ofStatus = (inner: JsonObject) => ({
      ...{ kind: 'task', id: 't', contextId: 'c', status: { state: 'working', message: inner } },
    })
    const lacking = [message, { ...message, parts: [{ text: 'a' }] }].map(each => rpc('0.3', 'send', each))
    const { kind: _, ...withoutKind } = message
    const inStatus = [message, withoutKind].map(each => rpc('0.3', 'getTask', ofStatus(each)))
    expect([...lacking, ...inStatus].map(facts => 'lacksKinds' in facts)).toEqual([false, true, false, true])
  })

  it('have the reason of an error, and the task in the resource name of a configuration, over HTTP+JSON', () => {
    const call = { binding: 'HTTP+JSON', version: '1.0', operation: 'cancel' } as const
    const details = [null, { '@type': 'a' }, { reason: 'TASK_NOT_CANCELABLE' }]
    expect(readResult(call, { error: { code: 400, message: 'x', details } }, 'error-response')).toMatchObject({
      error: { code: 400, reason: 'TASK_NOT_CANCELABLE' },
    })
    const getConfig = { binding: 'HTTP+JSON', version: '0.3', operation: 'getPushConfig' } as const
    expect(readResult(getConfig, resultOf('getPushConfig', '0.3 over HTTP'))).toMatchObject({ tasks: [{ id: 't-1' }] })
  })
})

it('reads a result in time in proportion to its size', () => {
  const readMany = (count: number) => {
    const parts = Array.from({ length: count }, (_, number) => ({ raw: '', mediaType: `image/x-${number}` }))
    const task = { id: 't', status: { state: 'TASK_STATE_WORKING' }, artifacts: [{ artifactId: 'a', parts }] }
    const call = { binding: 'HTTP+JSON', version: '1.0', operation: 'getTask' } as const
    expect(readResult(call, task)).toHaveProperty('mediaTypes.length', count)
  }
  expect(growth(1_000, readMany)).toBeLessThan(linear)
})
