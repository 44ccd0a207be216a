import { describe, expect, it } from 'vitest'
import { matchRestPath, normalizeRestPath, resolveRestVersion, upstreamUrl } from '../../src/a2a/rest-paths.ts'
import type { CallBinding, WireVersion } from '../../src/card/model/versions.ts'

/** The paths of the specification; `:subscribe` also as GET, which the official servers accept. */
const table = [
  ['POST', 'message:send', 'send', {}],
  ['POST', 'message:stream', 'stream', {}],
  ['GET', 'tasks/t1', 'getTask', { id: 't1' }],
  ['POST', 'tasks/t1:cancel', 'cancel', { id: 't1' }],
  ['POST', 'tasks/t1:subscribe', 'resubscribe', { id: 't1' }],
  ['GET', 'tasks/t1:subscribe', 'resubscribe', { id: 't1' }],
  ['POST', 'tasks/t1/pushNotificationConfigs', 'createPushConfig', { taskId: 't1' }],
  ['GET', 'tasks/t1/pushNotificationConfigs', 'listPushConfigs', { taskId: 't1' }],
  ['GET', 'tasks/t1/pushNotificationConfigs/c1', 'getPushConfig', { taskId: 't1', id: 'c1' }],
  ['DELETE', 'tasks/t1/pushNotificationConfigs/c1', 'deletePushConfig', { taskId: 't1', id: 'c1' }],
] as const

const notFound = (method: string, path: string) => ({
  kind: 'method',
  method: `${method} /${path}`,
  version: path.startsWith('v1/') ? '0.3' : '1.0',
})

describe('matchRestPath', () => {
  it('matches the paths of v1.0, and those of v0.3 below v1/', () => {
    for (const [method, path, operation, pathParams] of table)
      expect([matchRestPath(method, path), matchRestPath(method, `v1/${path}`)]).toStrictEqual([
        { operation, versions: ['1.0'], pathParams },
        { operation, versions: ['0.3'], pathParams },
      ])
    // In one version only.
    const match = (operation: string, version: string) => ({ operation, versions: [version], pathParams: {} })
    const rows: [path: string, match?: object][] = [
      ['tasks', match('listTasks', '1.0')],
      ['v1/tasks'],
      ['extendedAgentCard', match('extendedCard', '1.0')],
      ['v1/card', match('extendedCard', '0.3')],
      ['card'],
      ['v1/extendedAgentCard'],
    ]
    for (const [path, match = notFound('GET', path)] of rows) expect(matchRestPath('GET', path)).toStrictEqual(match)
  })

  it('returns the allowed methods', () => {
    const rows: [method: string, path: string, allow: string[]][] = [
      ['GET', 'message:send', ['POST']],
      ['PUT', 'v1/message:stream', ['POST']],
      ['POST', 'tasks', ['GET']],
      ['DELETE', 'tasks/t1', ['GET']],
      ['GET', 'tasks/t1:cancel', ['POST']],
      ['PUT', 'tasks/t1:subscribe', ['POST', 'GET']],
      ['PUT', 'tasks/t1/pushNotificationConfigs', ['POST', 'GET']],
      ['POST', 'v1/tasks/t1/pushNotificationConfigs/c1', ['GET', 'DELETE']],
      ['POST', 'extendedAgentCard', ['GET']],
    ]
    for (const [method, path, allow] of rows)
      expect(matchRestPath(method, path)).toStrictEqual({ kind: 'http-method', method, path, allow })
  })

  it('does not match any other path', () => {
    const paths = [
      ...['', 'message', 'message:shout', 'message:send/', '/message:send', 'v2/message:send', 'v1/v1/message:send'],
      ...['tasks/', 'tasks/t1/', 'tasks//pushNotificationConfigs', 'tasks/t1/pushNotificationConfigs/'],
      ...['tasks/t1/pushNotificationConfigs/c1/x', 'MESSAGE:SEND'],
    ]
    for (const path of paths) expect(matchRestPath('POST', path)).toStrictEqual(notFound('POST', path))
  })
})

it('normalizes an encoded colon and a slash at the end, and nothing else', () => {
  const paths = [...['message%3Asend', 'v1/tasks/1%3acancel/', 'tasks/', 'tasks//', 'tasks/a%2Fb', 'tasks/a%253Ab', '']]
  expect(paths.map(normalizeRestPath)).toEqual([
    ...['message:send', 'v1/tasks/1:cancel', 'tasks', 'tasks/', 'tasks/a%2Fb', 'tasks/a%253Ab', ''],
  ])
})

describe('path parameters', () => {
  it('are decoded once', () => {
    const ids = {
      ...{ 'a%20b': 'a b', 'a%3Ab': 'a:b', 'a:b': 'a:b', '%E2%82%AC': '€', 'a%3Fb%23c': 'a?b#c', '...': '...' },
      ...{ '%2e%2ea': '..a', 'a%252Fb': 'a%2Fb', 'a%2Fb': 'a/b', 'projects%2F1%2ftasks%2F..a': 'projects/1/tasks/..a' },
    }
    for (const [sent, id] of Object.entries(ids))
      expect(matchRestPath('POST', `tasks/${sent}:cancel`), sent).toStrictEqual({
        ...{ operation: 'cancel', versions: ['1.0'], pathParams: { id } },
      })
  })

  it('do not match where an agent could read another path', () => {
    const paths = [
      // Slashes at the ends, and folders.
      ...['tasks/%2Fa:cancel', 'tasks/a%2F:cancel', 'tasks/a%2F%2Fb:cancel', 'tasks/a%2F..%2Fb:cancel'],
      ...['tasks/a%2F.:cancel', 'tasks/a%2F..;x%2Fb', 'tasks/%2e%2e:cancel', 'tasks/.:cancel', 'tasks/..;x'],
      // Subresources, and paths of their own.
      ...['tasks/a%2FpushNotificationConfigs', 'tasks/a%2FpushNotificationConfigs%2Fc'],
      ...['tasks/a%2Fpushnotificationconfigs;x', 'v1/tasks/t1/pushNotificationConfigs/..', 'tasks/tasks%2F1:cancel'],
      ...['tasks/v1%2Ftasks%2F1', 'tasks/TASKS;x%2F1'],
      // Operations.
      ...['tasks/a%3Acancel%2Fb', 'tasks/1:SUBSCRIBE', 'tasks/1:subscribe;x', 'tasks/1:cancel%20'],
      // Characters: a backslash, controls, half a character.
      ...['tasks/a%5Cb:cancel', 'tasks/a%00:cancel', 'tasks/a%0D%0Ab:cancel', 'tasks/a%7F:cancel'],
      ...['tasks/a%E2%80%A8b:cancel', 'tasks/%E0%A4:cancel', 'tasks/100%:cancel'],
    ]
    for (const path of paths)
      for (const method of ['POST', 'GET']) expect(matchRestPath(method, path)).toStrictEqual(notFound(method, path))
  })
})

describe('resolveRestVersion', () => {
  const send = { operation: 'send', versions: ['1.0'] } as const

  it.each([undefined, '1.0'] as const)('accepts the version %s', version => {
    expect(resolveRestVersion('POST', send, version)).toStrictEqual({ version: '1.0' })
  })

  it('chooses, for a call that names none, one that the agent supports, else the oldest', () => {
    const both = { operation: 'send', versions: ['0.3', '1.0'] } as const
    const choices = [() => ['1.0'] as const, () => ['1.0', '0.3'] as const, () => []]
    expect(choices.map(supported => resolveRestVersion('POST', both, undefined, supported))).toStrictEqual([
      ...[{ version: '1.0' }, { version: '0.3' }, { version: '0.3' }],
    ])
    expect(resolveRestVersion('POST', both, '1.0', () => ['0.3'])).toStrictEqual({ version: '1.0' })
  })

  it('gives the path of the other version', () => {
    expect(resolveRestVersion('POST', send, '0.3')).toStrictEqual({
      kind: 'method',
      method: 'POST /message:send',
      version: '0.3',
      currentName: 'POST /v1/message:send',
    })
  })

  it('gives no path if the other version has none', () => {
    expect(resolveRestVersion('GET', { operation: 'listTasks', versions: ['1.0'] }, '0.3')).toStrictEqual({
      kind: 'method',
      method: 'GET /tasks',
      version: '0.3',
    })
  })
})

const origin = 'https://a.example.com'
const targetAt = (path: string, version: WireVersion = '1.0', binding: CallBinding = 'HTTP+JSON') => ({
  ...{ url: origin + path, version, binding },
})

describe('upstreamUrl', () => {
  it('leaves out a parameter with a token of this host', () => {
    const rest = `c_${'a'.repeat(12)}_${'b'.repeat(32)}`
    for (const query of [`access_token=c${rest}`, `access_token=%63${rest}`, `c${rest}=1`])
      expect(
        upstreamUrl(targetAt('/a2a?key=1'), `tasks?${query}&pageSize=2`, value => value.startsWith('cc_')),
        query,
      ).toBe('https://a.example.com/a2a/tasks?key=1&pageSize=2')
  })

  it('appends the path to the endpoint of HTTP+JSON, and not to that of JSON-RPC', () => {
    expect(upstreamUrl(targetAt('/a2a/?key=1', '1.0', 'JSONRPC'), 'ignored')).toBe('https://a.example.com/a2a/?key=1')
    for (const [endpoint, version, path, expected] of [
      ['', '1.0', 'message:send', '/message:send'],
      ['/a2a//', '1.0', 'message:stream', '/a2a/message:stream'],
      ['/a2a?key=1', '1.0', 'tasks?pageSize=2', '/a2a/tasks?key=1&pageSize=2'],
      ['', '1.0', 'tasks/a%2Fb:cancel', '/tasks/a%2Fb:cancel'],
      ['', '1.0', 'tasks/..1', '/tasks/..1'],
      ['/a2a/v1', '0.3', 'v1/message:send', '/a2a/v1/message:send'],
      ['/v1/', '0.3', '/v1/tasks/1?historyLength=2', '/v1/tasks/1?historyLength=2'],
      ['/v1', '1.0', 'message:send', '/v1/message:send'],
      ['', '1.0', 'tasks?A2A-Version=1.0.1&a2a-version=9&status=x', '/tasks?status=x'],
    ] as const)
      expect(upstreamUrl(targetAt(endpoint, version), path), endpoint + path).toBe(origin + expected)
  })

  it('inserts the tenant', () => {
    for (const [tenant, path, expected] of [
      ['north', 'tasks?tenant=south&pageSize=2', 'https://a.example.com/a2a/north/tasks?pageSize=2'],
      ['a/b c?#%2F', 'tasks/1:cancel', 'https://a.example.com/a2a/a%2Fb%20c%3F%23%252F/tasks/1:cancel'],
      ['..', 'tasks/1', undefined],
    ] as const)
      expect(upstreamUrl({ ...targetAt('/a2a'), tenant }, path), tenant).toBe(expected)
  })

  it('returns undefined for a path that leads out of the endpoint', () => {
    for (const path of ['..', 'tasks/../../admin', 'tasks/%2e%2E/x', 'tasks\\..\\x', './x', 'tasks/1#x'])
      expect(upstreamUrl(targetAt('/a2a'), path), path).toBeUndefined()
  })
})
