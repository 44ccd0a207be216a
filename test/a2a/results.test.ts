import { describe, expect, it } from 'vitest'
import { type AnswerPlace, readResult } from '../../src/a2a/results.ts'

type Call = Parameters<typeof readResult>[0]

const rpc = (result: unknown) => ({ jsonrpc: '2.0', id: 1, result })
const v1 = (operation: Call['operation']): Call => ({ binding: 'JSONRPC', version: '1.0', operation })
const v03 = (operation: Call['operation']): Call => ({ binding: 'JSONRPC', version: '0.3', operation })

const task = {
  id: 't',
  contextId: 'c',
  status: { state: 'TASK_STATE_WORKING', message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Hm' }] } },
  artifacts: [{ artifactId: 'a', parts: [{ raw: 'AA==', mediaType: 'image/png' }] }],
  history: [{ messageId: 'q', role: 'ROLE_USER', parts: [{ data: 1 }] }],
}
const taskV03 = {
  kind: 'task',
  id: 't',
  contextId: 'c',
  status: { state: 'working' },
  artifacts: [
    { artifactId: 'a', parts: [{ kind: 'file', file: { uri: 'https://a.example', mimeType: 'image/png' } }] },
  ],
}
const facts = { tasks: [{ id: 't', contextId: 'c' }], contexts: ['c'] }

describe('readResult', () => {
  it.each<[string, Call, unknown, AnswerPlace, object]>([
    [
      'a task of 1.0',
      v1('getTask'),
      rpc(task),
      'response',
      { kind: 'task', ...facts, mediaTypes: ['text/plain', 'image/png'] },
    ],
    [
      'a wrapped task of 1.0',
      v1('send'),
      rpc({ task }),
      'response',
      { kind: 'task', ...facts, mediaTypes: ['text/plain', 'image/png'] },
    ],
    ['a task of 0.3', v03('send'), rpc(taskV03), 'response', { kind: 'task', ...facts, mediaTypes: ['image/png'] }],
    [
      'a message with a context alone',
      v1('send'),
      rpc({ message: { messageId: 'm', contextId: 'c', role: 'ROLE_AGENT', parts: [{ text: 'Hi' }] } }),
      'response',
      { kind: 'message', tasks: [], contexts: ['c'], mediaTypes: ['text/plain'] },
    ],
    [
      'an error',
      v1('send'),
      { jsonrpc: '2.0', id: 1, error: { code: -32001, message: 'x' } },
      'response',
      { kind: 'error', tasks: [], contexts: [], mediaTypes: [], error: { code: -32001 } },
    ],
    [
      'an error over HTTP+JSON',
      { binding: 'HTTP+JSON', version: '1.0', operation: 'cancel' },
      { error: { code: 400, message: 'x', details: [null, { '@type': 'a' }, { reason: 'TASK_NOT_CANCELABLE' }] } },
      'error-response',
      {
        ...{ kind: 'error', tasks: [], contexts: [], mediaTypes: [] },
        error: { code: 400, reason: 'TASK_NOT_CANCELABLE' },
      },
    ],
    [
      'an empty list',
      v1('listTasks'),
      rpc({ tasks: [] }),
      'response',
      { kind: 'task-list', tasks: [], contexts: [], mediaTypes: [], nextPageToken: '' },
    ],
    [
      'a page of a list',
      v1('listTasks'),
      rpc({ tasks: [], nextPageToken: 'next', pageSize: 5, totalSize: 9 }),
      'response',
      { kind: 'task-list', tasks: [], contexts: [], mediaTypes: [], nextPageToken: 'next' },
    ],
    [
      'an update over HTTP+JSON',
      { binding: 'HTTP+JSON', version: '0.3', operation: 'stream' },
      { statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' }, final: true } },
      'event',
      { kind: 'status-update', ...facts, mediaTypes: [] },
    ],
  ])('reads the facts of %s', (_, call, body, place, expected) => {
    expect(readResult(call, body, place)).toStrictEqual(expected)
  })
})
