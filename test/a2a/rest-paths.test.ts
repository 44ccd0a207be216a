import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchRestPath, normalizeRestPath, rejectVersionMismatch, restParams } from '../../src/a2a/rest-paths.ts'
import { anyCharacter } from '../support/cards/generated.ts'

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
  it.each(table)('matches %s %s in v1.0, and in v0.3 below v1/', (method, path, operation, parameters) => {
    expect([matchRestPath(method, path), matchRestPath(method, `v1/${path}`)]).toStrictEqual([
      { operation, version: '1.0', pathParams: parameters },
      { operation, version: '0.3', pathParams: parameters },
    ])
  })

  it.each([
    ['GET', 'tasks', { operation: 'listTasks', version: '1.0', pathParams: {} }],
    ['GET', 'v1/tasks', undefined],
    ['GET', 'extendedAgentCard', { operation: 'extendedCard', version: '1.0', pathParams: {} }],
    ['GET', 'v1/card', { operation: 'extendedCard', version: '0.3', pathParams: {} }],
    ['GET', 'card', undefined],
    ['GET', 'v1/extendedAgentCard', undefined],
  ])('matches %s %s in one version only', (method, path, match) => {
    expect(matchRestPath(method, path)).toStrictEqual(match ?? notFound(method, path))
  })

  it.each([
    ['GET', 'message:send', ['POST']],
    ['PUT', 'v1/message:stream', ['POST']],
    ['POST', 'tasks', ['GET']],
    ['DELETE', 'tasks/t1', ['GET']],
    ['GET', 'tasks/t1:cancel', ['POST']],
    ['PUT', 'tasks/t1:subscribe', ['POST', 'GET']],
    ['PUT', 'tasks/t1/pushNotificationConfigs', ['POST', 'GET']],
    ['POST', 'v1/tasks/t1/pushNotificationConfigs/c1', ['GET', 'DELETE']],
    ['POST', 'extendedAgentCard', ['GET']],
  ])('returns the allowed methods for %s %s', (method, path, allow) => {
    expect(matchRestPath(method, path)).toStrictEqual({ kind: 'http-method', method, path, allow })
  })

  it.each([
    '',
    'message',
    'message:shout',
    'message:send/',
    '/message:send',
    'v2/message:send',
    'v1/v1/message:send',
    'tasks/',
    'tasks/t1/',
    'tasks//pushNotificationConfigs',
    'tasks/t1/pushNotificationConfigs/',
    'tasks/t1/pushNotificationConfigs/c1/x',
    'MESSAGE:SEND',
  ])('does not match %j', path => {
    expect(matchRestPath('POST', path)).toStrictEqual(notFound('POST', path))
  })

  it.each(table)(
    'matches %s %s with an encoded colon and with a slash at the end',
    (method, path, operation, pathParams) => {
      for (const version of ['1.0', '0.3'] as const)
        for (const colon of [':', '%3A', '%3a'])
          for (const end of ['', '/']) {
            const sent = (version === '0.3' ? 'v1/' : '') + path.replace(':', colon) + end
            expect(matchRestPath(method, normalizeRestPath(sent))).toStrictEqual({ operation, version, pathParams })
          }
    },
  )
})

describe('normalizeRestPath', () => {
  it.each([
    ['message%3Asend', 'message:send'],
    ['tasks/1%3acancel/', 'tasks/1:cancel'],
    ['tasks/', 'tasks'],
    ['tasks//', 'tasks/'],
    ['tasks/a%2Fb', 'tasks/a%2Fb'],
    ['tasks/a%253Ab', 'tasks/a%253Ab'],
    ['', ''],
  ])('normalizes %j to %j', (path, normalized) => {
    expect(normalizeRestPath(path)).toBe(normalized)
  })
})

describe('path parameters', () => {
  it.each([
    ['tasks/a%20b:cancel', 'a b'],
    ['tasks/a%3Ab:cancel', 'a:b'],
    ['tasks/a:b:cancel', 'a:b'],
    ['tasks/%E2%82%AC:cancel', '€'],
    ['tasks/a%3Fb%23c:cancel', 'a?b#c'],
    ['tasks/...:cancel', '...'],
    ['tasks/%2e%2ea:cancel', '..a'],
    ['tasks/a%252Fb:cancel', 'a%2Fb'],
    ['tasks/a%2Fb:cancel', 'a/b'],
    ['tasks/projects%2F1%2ftasks%2F..a:cancel', 'projects/1/tasks/..a'],
  ])('are decoded once: %s is %j', (path, id) => {
    expect(matchRestPath('POST', path)).toStrictEqual({ operation: 'cancel', version: '1.0', pathParams: { id } })
  })

  it.each([
    ['a slash at its start', 'tasks/%2Fa:cancel'],
    ['a slash at its end', 'tasks/a%2F:cancel'],
    ['two slashes', 'tasks/a%2F%2Fb:cancel'],
    ['the parent folder in it', 'tasks/a%2F..%2Fb:cancel'],
    ['the same folder at its end', 'tasks/a%2F.:cancel'],
    ['the parent folder in it and a matrix parameter', 'tasks/a%2F..;x%2Fb'],
    ['a subresource', 'tasks/a%2FpushNotificationConfigs'],
    ['a subresource and an id', 'tasks/a%2FpushNotificationConfigs%2Fc'],
    ['a subresource in another case', 'tasks/a%2Fpushnotificationconfigs;x'],
    ['a path of its own', 'tasks/tasks%2F1:cancel'],
    ['a path of its own in 0.3', 'tasks/v1%2Ftasks%2F1'],
    ['a path of its own in another case', 'tasks/TASKS;x%2F1'],
    ['an operation before a slash', 'tasks/a%3Acancel%2Fb'],
    ['a backslash', 'tasks/a%5Cb:cancel'],
    ['the parent folder', 'tasks/%2e%2e:cancel'],
    ['the same folder', 'tasks/.:cancel'],
    ['a null', 'tasks/a%00:cancel'],
    ['a line end', 'tasks/a%0D%0Ab:cancel'],
    ['a delete', 'tasks/a%7F:cancel'],
    ['a line separator', 'tasks/a%E2%80%A8b:cancel'],
    ['half a character', 'tasks/%E0%A4:cancel'],
    ['a lone percent sign', 'tasks/100%:cancel'],
    ['an operation in another case', 'tasks/1:SUBSCRIBE'],
    ['an operation and a matrix parameter', 'tasks/1:subscribe;x'],
    ['an operation and a space', 'tasks/1:cancel%20'],
    ['the parent folder and a matrix parameter', 'tasks/..;x'],
    ['a bad second parameter', 'v1/tasks/t1/pushNotificationConfigs/..'],
  ])('with %s do not match', (_, path) => {
    expect([matchRestPath('POST', path), matchRestPath('GET', path)]).toStrictEqual([
      notFound('POST', path),
      notFound('GET', path),
    ])
  })

  it('never throw, and never lead to another path', () => {
    fc.assert(
      fc.property(fc.constantFrom('GET', 'POST', 'DELETE'), fc.string({ unit: anyCharacter }), (method, text) => {
        for (const path of [
          text,
          `tasks/${text}`,
          `tasks/${text}:cancel`,
          `v1/tasks/t/pushNotificationConfigs/${text}`,
        ]) {
          const match = matchRestPath(method, path)
          for (const value of Object.values('pathParams' in match ? match.pathParams : {})) {
            expect(value).not.toMatch(/[\\\p{Cc}]/u)
            for (const segment of value.split('/')) expect(['', '.', '..']).not.toContain(segment)
          }
        }
      }),
    )
  })

  it('equal the value that a client encoded', () => {
    const id = fc
      .string({ minLength: 1 })
      .filter(text => /^[^/\\\p{Cc}\u2028\u2029]+$/u.test(text) && !/^\.{1,2}$/.test(text))
    fc.assert(
      fc.property(id, text => {
        expect(matchRestPath('GET', `tasks/${encodeURIComponent(text)}`)).toStrictEqual({
          operation: 'getTask',
          version: '1.0',
          pathParams: { id: text },
        })
      }),
    )
  })
})

describe('rejectVersionMismatch', () => {
  const send = { operation: 'send', version: '1.0' } as const

  it.each([undefined, '1.0'] as const)('accepts the version %s', version => {
    expect(rejectVersionMismatch('POST', send, version)).toBeUndefined()
  })

  it('gives the path of the other version', () => {
    expect(rejectVersionMismatch('POST', send, '0.3')).toStrictEqual({
      kind: 'method',
      method: 'POST /message:send',
      version: '0.3',
      currentName: 'POST /v1/message:send',
    })
  })

  it('gives no path if the other version has none', () => {
    expect(rejectVersionMismatch('GET', { operation: 'listTasks', version: '1.0' }, '0.3')).toStrictEqual({
      kind: 'method',
      method: 'GET /tasks',
      version: '0.3',
    })
  })
})

describe('restParams', () => {
  it('prefers the path to the body, and the body to the first value in the query', () => {
    const query = new URLSearchParams('id=q&tenant=q&historyLength=1&historyLength=2&A2A-Version=1.0&a2a-version=0.3')
    expect(restParams({ id: 'p' }, query, { id: 'b', tenant: 'b', configuration: {} })).toStrictEqual({
      id: 'p',
      tenant: 'b',
      configuration: {},
      historyLength: '1',
    })
  })

  it('keeps property names that are special in JavaScript', () => {
    const params = restParams({}, new URLSearchParams('__proto__=x'), JSON.parse('{"constructor":1}'))
    expect([Object.getPrototypeOf(params), JSON.stringify(params)]).toStrictEqual([
      Object.prototype,
      '{"__proto__":"x","constructor":1}',
    ])
  })
})
