import { describe, expect, it } from 'vitest'
import type { A2ACall, OperationName } from '../../src/a2a/operations.ts'
import { readTaskReferences } from '../../src/a2a/task-references.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { MAX_CONTEXT_ID_LENGTH, MAX_NAMED_TASKS } from '../../src/limits.ts'
import { callWith } from '../support/calls.ts'

/** Reads the references of a JSON-RPC call. */
const read = (operation: OperationName, params: JsonObject, changes: Partial<A2ACall> = {}) =>
  readTaskReferences(callWith({ operation, params, ...changes }))

/** Reads the references of an HTTP+JSON call. */
const readRest = (operation: OperationName, sources: Partial<NonNullable<A2ACall['sources']>>, changes = {}) =>
  readTaskReferences(
    callWith({ binding: 'HTTP+JSON', operation, sources: { path: {}, query: {}, body: {}, ...sources }, ...changes }),
  )

const tasks = (...ids: string[]) => ({ tasks: ids, contexts: [] })
const contexts = (...ids: string[]) => ({ tasks: [], contexts: ids })

describe('a call about a task', () => {
  it.each<OperationName>(['getTask', 'cancel', 'resubscribe'])('names it as `id`: %s', operation => {
    for (const version of ['0.3', '1.0'] as const)
      expect(read(operation, { id: 't', historyLength: 3, metadata: { taskId: 'free' } }, { version })).toEqual(
        tasks('t'),
      )
  })

  it.each<[string, JsonObject]>([
    ['taskId', { taskId: 't' }],
    ['task_id', { task_id: 't' }],
    ['another case', { ID: 't' }],
    ['case and separators', { 'Task-Id': 't' }],
    ['a letter whose upper case is one of ASCII', { taſkId: 't' }],
    ['a resource name', { name: 'tasks/t' }],
    ['the name of a push configuration', { name: 'tasks/t/pushNotificationConfigs/c' }],
    ['an item of a list in a query', { 'id[0]': 't' }],
    ['a plain name', { name: 't' }],
    ['a wrapper', { request: { id: 't' } }],
    ['two wrappers', { params: { task: { id: 't' } } }],
    ['a list of wrappers', { tasks: [{ id: 't' }] }],
    ['a list of ids', { ids: ['t'] }],
    ['a list of task ids', { ids: [], taskIds: ['t'] }],
  ])('may name it under another name, too: %s', (_, params) => {
    expect(read('getTask', { id: 'own', ...params })).toEqual(tasks('own', 't'))
  })

  it.each<[string, Json]>([
    ['a number', 1],
    ['true', true],
    ['an object', { value: 't' }],
    ['a number in a list', ['t', 1]],
  ])('is refused if an id is no string: %s', (_, id) => {
    expect(read('getTask', { id })).toMatchObject({ kind: 'invalid-params' })
  })

  it.each<[string, Json]>([
    ['two tasks', 'tasks/own/tasks/t'],
    ['a tenant', 'tenants/x/tasks/t'],
    ['an absolute path', '/tasks/t'],
    ['another case', 'Tasks/t'],
    ['no id', 'tasks/'],
    ['a subresource that tasks do not have', 'tasks/own/t'],
    ['a path of its own', 'own/t'],
    ['no string', ['tasks/t']],
  ])('is refused if a resource name has %s', (_, name) => {
    for (const operation of ['getTask', 'createPushConfig', 'listTasks'] as const)
      for (const member of ['name', 'parent'])
        expect(read(operation, { id: 'own', taskId: 'own', [member]: name })).toMatchObject({
          kind: 'invalid-params',
          violations: [{ field: member }],
        })
  })

  it('is refused if a push configuration has a plain name, which is no task', () => {
    expect(read('getPushConfig', { taskId: 'own', name: 't' })).toMatchObject({ kind: 'invalid-params' })
    expect(read('getPushConfig', { taskId: 'own', name: '' })).toEqual(tasks('own'))
  })

  it('has no id if that is empty or null', () => {
    expect(read('getTask', { id: '', taskId: null })).toEqual(tasks())
  })

  it('is read from path, query and body over HTTP+JSON, whichever the agent prefers', () => {
    expect(
      readRest('cancel', {
        path: { id: 'a' },
        query: { taskId: 'b', 'id[]': 'c', 'message.taskId': 'd' },
        body: { id: 'e' },
      }),
    ).toEqual(tasks('a', 'b', 'c', 'd', 'e'))
  })
})

describe('a call about push configurations', () => {
  const operations = ['createPushConfig', 'getPushConfig', 'listPushConfigs', 'deletePushConfig'] as const

  it.each(operations)('names the task as `id` or `taskId` in 0.3: %s', operation => {
    const params = { id: 't', pushNotificationConfigId: 'c', pushNotificationConfig: { id: 'c', url: 'https://e.x/' } }
    expect(read(operation, params, { version: '0.3' })).toEqual(tasks('t'))
    expect(read(operation, { taskId: 't' }, { version: '0.3' })).toEqual(tasks('t'))
  })

  it.each(operations)('names the task as `taskId` in 1.0, where `id` is the configuration: %s', operation => {
    expect(read(operation, { taskId: 't', id: 'c' })).toEqual(tasks('t'))
    expect(readRest(operation, { path: { taskId: 't', id: 'c' }, body: { id: 'c', url: 'https://e.x/' } })).toEqual(
      tasks('t'),
    )
    expect(readRest(operation, { path: { taskId: 't', id: 'c' } }, { version: '0.3' })).toEqual(tasks('t'))
  })

  it('may name it in a wrapper, or as a resource', () => {
    const config = { id: 'c', task_id: 'b', name: 'tasks/d/pushNotificationConfigs/c' }
    expect(read('createPushConfig', { parent: 'tasks/a', configId: 'c', config })).toEqual(tasks('a', 'b', 'd'))
  })
})

describe('a message', () => {
  it.each<[string, JsonObject, object]>([
    ['taskId', { message: { messageId: 'm', taskId: 't' } }, tasks('t')],
    ['task_id', { message: { task_id: 't' } }, tasks('t')],
    ['contextId', { message: { contextId: 'c' } }, contexts('c')],
    ['context_id', { message: { context_id: 'c' } }, contexts('c')],
    ['referenceTaskIds', { message: { referenceTaskIds: ['a', 'b'] } }, tasks('a', 'b')],
    ['reference_task_ids', { message: { reference_task_ids: ['a'] } }, tasks('a')],
    ['one reference without a list', { message: { referenceTaskIds: 'a' } }, tasks('a')],
    ['the message of 0.3 over HTTP', { request: { task_id: 't', context_id: 'c' } }, { tasks: ['t'], contexts: ['c'] }],
    ['0.1', { id: 't', sessionId: 'c' }, { tasks: ['t'], contexts: ['c'] }],
    ['outside of the message', { taskId: 't', contextId: 'c' }, { tasks: ['t'], contexts: ['c'] }],
    ['its push configuration', { configuration: { taskPushNotificationConfig: { id: 'p', taskId: 't' } } }, tasks('t')],
    ['another case', { message: { TASKID: 't', ContextID: 'c' } }, { tasks: ['t'], contexts: ['c'] }],
  ])('names tasks and contexts: %s', (_, params, expected) => {
    for (const operation of ['send', 'stream'] as const)
      for (const version of ['0.3', '1.0'] as const) expect(read(operation, params, { version })).toEqual(expected)
  })

  it('may have names in free form, in which every task counts', () => {
    const message = { name: 'Ada', parent: 'tasks/a/tasks/tasks/b', sender: { name: ['x'] } }
    expect(read('send', { message })).toEqual(tasks('a', 'tasks', 'b'))
  })

  it('has ids of its own, and content and metadata, that name no task', () => {
    const free = { taskId: 't', contextId: 'c' }
    const message = { messageId: 'm', id: 'm', parts: [{ data: free }], metadata: free, extensions: ['taskId'] }
    expect(read('send', { message, metadata: free, configuration: { id: 'x' } })).toEqual(tasks())
  })

  it.each<[string, Json]>([
    ['a control character', 'c\u0000'],
    ['a character beyond ASCII', 'é'],
    ['an unpaired surrogate', 'c\ud800'],
    ['too many characters', 'c'.repeat(MAX_CONTEXT_ID_LENGTH + 1)],
    ['a number', 5],
  ])('is refused if its context has %s', (_, contextId) => {
    expect(read('send', { message: { contextId } })).toMatchObject({ kind: 'invalid-params' })
  })

  it('is refused if it names too many tasks', () => {
    const ids = Array.from({ length: MAX_NAMED_TASKS + 1 }, (_, index) => `t${index}`)
    expect(read('send', { message: { referenceTaskIds: ids } })).toMatchObject({ kind: 'invalid-params' })
    expect(read('send', { message: { referenceTaskIds: ids.slice(1) } })).toEqual(tasks(...ids.slice(1)))
  })
})

describe('a list of tasks', () => {
  it('names the context that it is filtered by', () => {
    expect(readRest('listTasks', { query: { contextId: 'c', pageSize: '5' } })).toEqual(contexts('c'))
    expect(read('listTasks', { contextId: 'c', id: 'x' })).toEqual(contexts('c'))
  })
})
