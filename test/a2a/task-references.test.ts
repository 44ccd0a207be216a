import { describe, expect, it } from 'vitest'
import type { A2ACall, OperationName } from '../../src/a2a/operations.ts'
import { dropRoutingParams, readTaskReferences } from '../../src/a2a/task-references.ts'
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
  it('names it as `id`', () => {
    for (const operation of ['getTask', 'cancel', 'resubscribe'] as const)
      for (const version of ['0.3', '1.0'] as const) {
        const params = { id: 't', historyLength: 3, metadata: { taskId: 'free' } }
        expect(read(operation, params, { version })).toEqual(tasks('t'))
      }
  })

  it('may name it under another name, too', () => {
    const rows: JsonObject[] = [
      // The last has a letter whose upper case is one of ASCII.
      ...[{ taskId: 't' }, { task_id: 't' }, { ID: 't' }, { 'Task-Id': 't' }, { taſkId: 't' }],
      ...[{ name: 'tasks/t' }, { name: 'tasks/t/pushNotificationConfigs/c' }, { name: 't' }, { 'id[0]': 't' }],
      ...[{ request: { id: 't' } }, { params: { task: { id: 't' } } }, { tasks: [{ id: 't' }] }],
      ...[{ ids: ['t'] }, { ids: [], taskIds: ['t'] }],
    ]
    for (const params of rows)
      expect(read('getTask', { id: 'own', ...params }), JSON.stringify(params)).toEqual(tasks('own', 't'))
  })

  it('is refused if an id is no string', () => {
    for (const id of [1, true, { value: 't' }, ['t', 1]])
      expect(read('getTask', { id })).toMatchObject({ kind: 'invalid-params' })
  })

  it('is refused if a resource name is not that of one task', () => {
    const names = [
      ...['tasks/own/tasks/t', 'tenants/x/tasks/t', '/tasks/t', 'Tasks/t', 'tasks/', 'tasks/own/t', 'own/t'],
      ['tasks/t'],
    ]
    for (const name of names)
      for (const operation of ['getTask', 'createPushConfig', 'listTasks'] as const)
        for (const member of ['name', 'parent'])
          expect(read(operation, { id: 'own', taskId: 'own', [member]: name }), `${name}`).toMatchObject({
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

  it('names the task as `id` or `taskId` in 0.3', () => {
    const config = { pushNotificationConfigId: 'c', pushNotificationConfig: { id: 'c', url: 'https://e.x/' } }
    for (const operation of operations) {
      expect(read(operation, { id: 't', ...config }, { version: '0.3' })).toEqual(tasks('t'))
      expect(read(operation, { taskId: 't' }, { version: '0.3' })).toEqual(tasks('t'))
    }
  })

  it('names the task as `taskId` in 1.0, where `id` is the configuration', () => {
    const path = { taskId: 't', id: 'c' }
    for (const operation of operations) {
      expect(read(operation, path)).toEqual(tasks('t'))
      expect(readRest(operation, { path, body: { id: 'c', url: 'https://e.x/' } })).toEqual(tasks('t'))
      expect(readRest(operation, { path }, { version: '0.3' })).toEqual(tasks('t'))
    }
  })

  it('may name it in a wrapper, or as a resource', () => {
    const config = { id: 'c', task_id: 'b', name: 'tasks/d/pushNotificationConfigs/c' }
    expect(read('createPushConfig', { parent: 'tasks/a', configId: 'c', config })).toEqual(tasks('a', 'b', 'd'))
  })
})

describe('a message', () => {
  it('names tasks and contexts', () => {
    const both = { tasks: ['t'], contexts: ['c'] }
    const rows: [JsonObject, object][] = [
      [{ message: { messageId: 'm', taskId: 't' } }, tasks('t')],
      [{ message: { task_id: 't' } }, tasks('t')],
      [{ message: { contextId: 'c' } }, contexts('c')],
      [{ message: { context_id: 'c' } }, contexts('c')],
      [{ message: { referenceTaskIds: ['a', 'b'] } }, tasks('a', 'b')],
      [{ message: { reference_task_ids: ['a'] } }, tasks('a')],
      [{ message: { referenceTaskIds: 'a' } }, tasks('a')],
      // 0.3 over HTTP, 0.1, outside of the message, in its push configuration, and in another case.
      [{ request: { task_id: 't', context_id: 'c' } }, both],
      [{ id: 't', sessionId: 'c' }, both],
      [{ taskId: 't', contextId: 'c' }, both],
      [{ configuration: { taskPushNotificationConfig: { id: 'p', taskId: 't' } } }, tasks('t')],
      [{ message: { TASKID: 't', ContextID: 'c' } }, both],
    ]
    for (const [params, expected] of rows)
      for (const operation of ['send', 'stream'] as const)
        for (const version of ['0.3', '1.0'] as const)
          expect(read(operation, params, { version }), JSON.stringify(params)).toEqual(expected)
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

  it('is refused if its context has other characters than those of ASCII, or too many', () => {
    for (const contextId of ['c\u0000', 'é', 'c\ud800', 'c'.repeat(MAX_CONTEXT_ID_LENGTH + 1), 5])
      expect(read('send', { message: { contextId } })).toMatchObject({ kind: 'invalid-params' })
    const description = 'must be at most 256 printable characters of ASCII'
    expect(read('send', { message: { contextId: 'é' } })).toMatchObject({ violations: [{ description }] })
    const longest = 'c'.repeat(MAX_CONTEXT_ID_LENGTH)
    expect(read('send', { message: { contextId: longest } })).toEqual(contexts(longest))
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

describe('dropRoutingParams', () => {
  it('removes the tenant at every depth and in every spelling, but leaves what has a free form as it is', () => {
    const free = { tenant: 'a', agentName: 'b', count: JSON.rawJSON('1e400') as unknown as Json }
    const configuration = { taskPushNotificationConfig: { id: 'c', tenant: 'victim' }, count: free.count }
    const message = { parts: [{ data: free }], content: [free], metadata: free, list: [{ Tenant: 'victim', id: 'm' }] }
    const sent = dropRoutingParams(
      callWith({ params: { message, configuration, metadata: free, agent_name: 'Other', tenant: 'victim' } }),
    )
    expect(sent.params).toEqual({
      message: { ...message, list: [{ id: 'm' }] },
      configuration: { ...configuration, taskPushNotificationConfig: { id: 'c' } },
      metadata: free,
    })
    expect(JSON.stringify(sent.params.configuration)).toContain('1e400')
  })
})
