import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type A2ACall, type OperationName, operationNames, operations } from '../../src/a2a/operations.ts'
import { matchRestPath, restParams } from '../../src/a2a/rest-paths.ts'
import { readTaskReferences } from '../../src/a2a/task-references.ts'
import { type TranslatedRequest, translateRequest } from '../../src/a2a-bridge/requests.ts'
import { callBindings, isSameProtocol, type Protocol, wireVersions } from '../../src/card/model/calls.ts'
import { isJsonObject, type Json, type JsonObject, omit } from '../../src/json/json.ts'
import { MAX_TRANSLATED_PATH_LENGTH } from '../../src/limits.ts'
import { arbitraryJson, arbitraryObjects } from '../support/a2a-objects.ts'
import { callWith } from '../support/calls.ts'
import { webUrl } from '../support/cards/generated.ts'
import { growth, linear } from '../support/cpu-time.ts'

const protocols: Protocol[] = wireVersions.flatMap(version => callBindings.map(binding => ({ binding, version })))
const nameOf = ({ binding, version }: Protocol): string => `${binding} ${version}`
const v1: Protocol = { binding: 'JSONRPC', version: '1.0' }
const v03: Protocol = { binding: 'JSONRPC', version: '0.3' }
const restV1: Protocol = { binding: 'HTTP+JSON', version: '1.0' }
const restV03: Protocol = { binding: 'HTTP+JSON', version: '0.3' }

/** A number that stays as the caller wrote it. */
const exact = JSON.rawJSON('1.0')

const callOf = (operation: OperationName, params: JsonObject, { binding, version }: Protocol = v1): A2ACall =>
  callWith({ operation, params, binding, version })

const translated = (call: A2ACall, to: Protocol): TranslatedRequest => {
  const request = translateRequest(call, to)
  if ('kind' in request) throw new Error(`refused: ${JSON.stringify(request)}`)
  return request
}

/** Returns the parameters that a host reads from a request. */
const paramsOf = ({ httpMethod, path, params = {} }: TranslatedRequest): JsonObject => {
  if (path === undefined) return params
  const [below = '', query] = path.split('?')
  const match = matchRestPath(httpMethod, below)
  if ('kind' in match) throw new Error(`no operation: ${httpMethod} ${path}`)
  return restParams(match.pathParams, new URLSearchParams(query), params)
}

/** Removes `blocking: true`, which is the default, and a configuration without anything else. */
const withoutDefaults = ({ configuration, ...params }: JsonObject): JsonObject => {
  const { blocking, ...others } = (configuration ?? {}) as JsonObject
  const left = { ...others, ...(blocking === false && { blocking }) }
  return { ...params, ...(Object.keys(left).length > 0 && { configuration: left }) }
}

const id = fc.stringMatching(/^[a-z0-9-]{1,8}$/)
const optional = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined })
const compact = (object: object): JsonObject => JSON.parse(JSON.stringify(object))
const pushConfig = {
  url: webUrl,
  token: optional(id),
  authentication: optional(fc.record({ scheme: id, credentials: optional(id) })),
}
const message = {
  // The proto of 0.3 has no references.
  message: arbitraryObjects.message.map(({ referenceTaskIds: _, ...others }) => others),
  configuration: optional(
    fc.record({
      acceptedOutputModes: optional(fc.constant(['text/plain'])),
      historyLength: optional(fc.nat({ max: 9 })),
      returnImmediately: fc.constantFrom(true, undefined),
      taskPushNotificationConfig: optional(fc.record({ id: optional(id), ...pushConfig })),
    }),
  ),
  metadata: optional(fc.dictionary(id, fc.jsonValue({ maxDepth: 2 }), { minKeys: 1, maxKeys: 2 })),
}
const calls: Partial<Record<OperationName, fc.Arbitrary<object>>> = {
  send: fc.record(message),
  stream: fc.record(message),
  getTask: fc.record({ id, historyLength: optional(fc.nat({ max: 9 })) }),
  cancel: fc.record({ id }),
  resubscribe: fc.record({ id }),
  createPushConfig: fc.record({ taskId: id, id, ...pushConfig }),
  getPushConfig: fc.record({ taskId: id, id }),
  listPushConfigs: fc.record({ taskId: id }),
  deletePushConfig: fc.record({ taskId: id, id }),
}

describe.each(protocols.map(from => [nameOf(from), from] as const))('a call over %s', (_, from) => {
  const others = protocols.filter(each => !isSameProtocol(each, from))
  for (const [name, arbitrary] of Object.entries(calls) as [OperationName, fc.Arbitrary<object>][])
    it(`is the same after its translation to each other protocol and back: ${name}`, () => {
      fc.assert(
        fc.property(arbitrary, fc.constantFrom(...others), (original, to) => {
          const canonical = callOf(name, compact(original))
          const params = isSameProtocol(from, v1) ? canonical.params : paramsOf(translated(canonical, from))
          const there = translated(callOf(name, params, from), to)
          const back = translated(callOf(name, paramsOf(there), to), from)
          expect([there.losses, back.losses]).toEqual([[], []])
          expect(withoutDefaults(paramsOf(back))).toEqual(withoutDefaults(params))
        }),
        { numRuns: 30 },
      )
    })
})

it('translates or refuses a call, whatever its parameters are', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...operationNames),
      fc.dictionary(id, arbitraryJson).chain(others => arbitraryJson.map(json => ({ ...others, ...(json as object) }))),
      fc.constantFrom(...protocols),
      fc.constantFrom(...protocols),
      (operation, params, from, to) => {
        // A tenant is in the path, where this host expects none.
        const { tenant: _, ...others } = params as JsonObject
        const request = translateRequest(callOf(operation, others, from), to)
        if ('kind' in request) expect(['invalid-params', 'operation-missing']).toContain(request.kind)
        else expect(paramsOf(request)).toBeTypeOf('object')
      },
    ),
    { numRuns: 2000 },
  )
})

/** Parameters with names under which some agent could find a task, at any depth. */
const hidingPlaces = fc.letrec<{ object: JsonObject; value: Json }>(tie => ({
  object: fc.dictionary(
    fc.constantFrom(
      ...['id', 'ID', 'ids', 'taskId', 'task_id', 'TaskID', 'name', 'parent', 'config', 'config_id', 'token', 'url'],
      ...['pushNotificationConfigId', 'pushNotificationConfig', 'pushNotification', 'message', 'request', 'contextId'],
    ),
    tie('value'),
    { maxKeys: 4 },
  ) as fc.Arbitrary<JsonObject>,
  value: fc.oneof(
    { maxDepth: 2 },
    { weight: 3, arbitrary: fc.constantFrom<Json>('t', 'v', 'v/w', 'tasks/v', 'v/pushNotificationConfigs/c', ['v']) },
    { weight: 1, arbitrary: tie('object') },
  ),
})).object

it('names no task that it does not name in the protocol of the caller', () => {
  const about = operationNames.filter(
    name => !operations[name].sends && name !== 'listTasks' && name !== 'extendedCard',
  )
  fc.assert(
    fc.property(
      fc.constantFrom(...about),
      fc.constantFrom(...protocols),
      fc.constantFrom(...protocols),
      hidingPlaces,
      (operation, from, to, others) => {
        const call = callOf(operation, { id: 't', taskId: 't', ...others }, from)
        const named = readTaskReferences(call)
        const request = translateRequest(call, to)
        fc.pre(!isSameProtocol(from, to) && !('kind' in named) && !('kind' in request))
        const { version, binding } = to
        const written = paramsOf(request)
        const params =
          // The name of a configuration without an id ends in a slash.
          isJsonObject(written.config) && /^tasks.[^/]+.pushNotificationConfigs.$/.test(String(written.config.name))
            ? { ...written, config: omit(written.config, 'name') }
            : written
        const found = readTaskReferences(callWith({ operation, version, binding, params }))
        expect(found).toHaveProperty('tasks')
        expect(named.tasks).toEqual(expect.arrayContaining('tasks' in found ? found.tasks : []))
      },
    ),
    { numRuns: 3000 },
  )
})

describe('a call in another protocol', () => {
  const text = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'a' }] }
  const textV03 = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'a' }] }
  const content = { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'a' }] }
  const url = 'https://client.example/push'

  it.each<[string, OperationName, Protocol, JsonObject, Protocol, JsonObject, string[]]>([
    [
      'waits by default',
      'send',
      v1,
      { message: text },
      v03,
      { message: textV03, configuration: { blocking: true } },
      [],
    ],
    [
      'does not wait if its caller does not',
      'send',
      v03,
      { message: textV03, configuration: { blocking: false } },
      v1,
      { message: text, configuration: { returnImmediately: true } },
      [],
    ],
    [
      'does not wait without what ProtoJSON leaves out',
      'send',
      restV03,
      { message: content, configuration: { historyLength: 2 } },
      v1,
      { message: text, configuration: { historyLength: 2, returnImmediately: true } },
      [],
    ],
    [
      'has a message with `kind` over HTTP',
      'stream',
      restV03,
      { message: textV03, configuration: { blocking: false } },
      v1,
      { message: text, configuration: { returnImmediately: true } },
      [],
    ],
    [
      'has one of several schemes',
      'createPushConfig',
      v03,
      { taskId: 't', pushNotificationConfig: { id: 'p', url, authentication: { schemes: ['Basic', 'Bearer'] } } },
      v1,
      { taskId: 't', id: 'p', url, authentication: { scheme: 'Basic' } },
      ['authentication.schemes'],
    ],
    [
      'has a push configuration as the official JavaScript client of 0.3 sends it over HTTP',
      'createPushConfig',
      restV03,
      { taskId: 't', name: 'tasks/t/pushNotificationConfigs/p', pushNotificationConfig: { url } },
      v1,
      { taskId: 't', id: 'p', url },
      [],
    ],
    ['has the configuration of 0.2', 'getPushConfig', v03, { id: 't' }, v1, { taskId: 't', id: 't' }, []],
    ['has no tenant', 'getTask', v1, { id: 't', tenant: 'north' }, v03, { id: 't' }, ['tenant']],
    ['has its tenant in the path', 'getTask', v1, { id: 't', tenant: 'a/b' }, restV1, {}, []],
    ['has no metadata', 'getTask', v03, { id: 't', metadata: { a: 1 } }, v1, { id: 't' }, ['metadata']],
    ['has no pages', 'listPushConfigs', v1, { taskId: 't', pageToken: 'p' }, v03, { id: 't' }, ['pageToken']],
    [
      'has numbers of a query',
      'getTask',
      restV1,
      { id: 't', historyLength: '3' },
      v1,
      { id: 't', historyLength: 3 },
      [],
    ],
    [
      'has no member that means something else',
      'send',
      v03,
      { message: textV03, configuration: { taskPushNotificationConfig: { url } } },
      v1,
      { message: text },
      ['configuration.*'],
    ],
  ])('%s', (_, operation, from, params, to, expected, losses) => {
    const request = translated(callOf(operation, params, from), to)
    expect([request.params ?? {}, request.losses]).toEqual([expected, losses])
  })

  it.each<[OperationName, JsonObject, Protocol, string, string | undefined]>([
    ['getTask', { id: 'a/b?c', historyLength: 2 }, restV1, 'GET', 'tasks/a%2Fb%3Fc?historyLength=2'],
    ['getTask', { id: 't', tenant: 'a/b' }, restV1, 'GET', 'a%2Fb/tasks/t'],
    ['cancel', { id: 't' }, restV03, 'POST', 'v1/tasks/t:cancel'],
    ['resubscribe', { id: 't' }, restV03, 'POST', 'v1/tasks/t:subscribe'],
    ['deletePushConfig', { taskId: 't', id: 'p' }, restV03, 'DELETE', 'v1/tasks/t/pushNotificationConfigs/p'],
    ['listTasks', { pageSize: 5, includeArtifacts: true }, restV1, 'GET', 'tasks?pageSize=5&includeArtifacts=true'],
    ['extendedCard', {}, restV03, 'GET', 'v1/card'],
    ['send', { message: text }, v03, 'POST', undefined],
  ])('is requested where its version has it: %s %j', (operation, params, to, method, path) => {
    expect(translated(callOf(operation, params), to)).toMatchObject({ httpMethod: method, ...(path && { path }) })
  })

  it.each<[string, OperationName, JsonObject, Protocol, string]>([
    ['no message', 'send', {}, v1, 'message'],
    [
      'a part with two contents',
      'send',
      { message: { ...text, parts: [{ text: 'a', raw: 'YQ==' }] } },
      v1,
      'message.parts[0]',
    ],
    ['a message of the other version', 'send', { message: textV03 }, v1, 'message.role'],
    ['a message of the other version', 'send', { message: text }, v03, 'message.role'],
    ['no role', 'send', { message: { ...text, role: undefined } }, v1, 'message.role'],
    ['an unknown role', 'send', { message: { ...text, role: 'ROLE_SYSTEM' } }, v1, 'message.role'],
    ['no message id', 'send', { message: { ...text, messageId: '' } }, v1, 'message.messageId'],
    ['a configuration that is no object', 'send', { message: text, configuration: [] }, v1, 'configuration'],
    [
      'a push configuration that is no object',
      'send',
      { message: text, configuration: { taskPushNotificationConfig: url } },
      v1,
      'configuration.taskPushNotificationConfig',
    ],
    [
      'a number with an exponent as its configuration',
      'send',
      { message: text, configuration: exact },
      v1,
      'configuration',
    ],
    [
      'such a number as its push configuration',
      'send',
      { message: text, configuration: { taskPushNotificationConfig: exact } },
      v1,
      'configuration.taskPushNotificationConfig',
    ],
    [
      'such a number as data',
      'send',
      { message: { ...textV03, parts: [{ kind: 'data', data: exact }] } },
      v03,
      'message.parts[0].data',
    ],
    ['no id', 'getTask', {}, v1, 'id'],
    ['an id that is too long for a path', 'cancel', { id: 'a'.repeat(MAX_TRANSLATED_PATH_LENGTH) }, v1, 'params'],
    [
      'more than fits into a query',
      'getTask',
      { id: 't', other: '%'.repeat(MAX_TRANSLATED_PATH_LENGTH / 3) },
      v1,
      'params',
    ],
    ['no task', 'listPushConfigs', {}, v1, 'taskId'],
    ['no push configuration', 'deletePushConfig', { id: 't' }, v03, 'pushNotificationConfigId'],
    ['an id that is no text', 'cancel', { id: 5 }, v1, 'id'],
    ...['..', '.', 'a:cancel', 'a/pushNotificationConfigs', 'a\\b', 'tasks/a'].map(
      (bad): [string, OperationName, JsonObject, Protocol, string] => [
        `the id ${bad}`,
        'getTask',
        { id: bad },
        v1,
        'id',
      ],
    ),
  ])('is refused with %s: %s', (_, operation, params, from, field) => {
    const to: Protocol = { binding: 'HTTP+JSON', version: from.version === '1.0' ? '0.3' : '1.0' }
    expect(translateRequest(callOf(operation, params, from), to)).toMatchObject({
      kind: 'invalid-params',
      violations: [{ field }],
    })
  })

  it.each([v03, restV03])('is refused if the version has no such operation: %j', to => {
    expect(translateRequest(callOf('listTasks', {}), to)).toEqual({
      kind: 'operation-missing',
      method: operations.listTasks['1.0'],
      version: '0.3',
    })
  })

  it.each<Json>([{ a: 1 }, ['a']])('has no place in a query for %j, which is reported', value => {
    const { path, losses } = translated(callOf('getTask', { id: 't', other: value }), restV1)
    expect([path, losses]).toEqual(['tasks/t', ['*']])
  })

  it.each([
    ['ID', 'getPushConfig', v1, v03],
    ['Ids', 'deletePushConfig', v1, v03],
    ['TaskID', 'getPushConfig', v1, restV03],
    ['taskId', 'getTask', v03, restV1],
    ['name', 'getTask', v1, restV03],
    ['Parent', 'listPushConfigs', v1, restV03],
    ['pushNotificationConfigId', 'getPushConfig', v1, v03],
  ] as const)('has no other %s, in which the agent could read another task: %s', (name, operation, from, to) => {
    const own = operation === 'getTask' ? { id: 't' } : { taskId: 't', id: 'c' }
    const isV03 = from.version === '0.3' && operation !== 'getTask'
    const call = callOf(operation, { ...own, ...(isV03 && { id: 't' }), [name]: 'victim' }, from)
    const request = translated(call, to)
    expect(JSON.stringify(request)).not.toContain('victim')
    expect(request.losses).toContain('*')
  })

  it.each([
    ['a/b', restV03],
    ['victim/pushNotificationConfigs/c', restV03],
    ['victim/', restV03],
  ])('of a push configuration is never for another task than %j', (taskId, to) => {
    const config = { taskId, id: 'c', url: 'https://caller.example' }
    expect(translateRequest(callOf('createPushConfig', config), to)).toMatchObject({ kind: 'invalid-params' })
  })

  it.each(['..', '.', 'a/../b', 'tasks/t', 'x:cancel', 'a\\b', '\ud800'])('has no tenant %j in its path', tenant => {
    expect(translateRequest(callOf('getTask', { id: 't', tenant }), restV1)).toMatchObject({
      kind: 'invalid-params',
      violations: [expect.objectContaining({ field: 'tenant' })],
    })
  })

  it('is translated in time proportional to the number of its parameters', () => {
    const translateMany = (count: number) => {
      const others = Array.from({ length: count }, (_, index) => [`other${index}`, []])
      translated(callOf('getTask', { id: 't', ...Object.fromEntries(others) }), restV1)
    }
    expect(growth(10_000, translateMany)).toBeLessThan(linear)
  })

  it('has no id in its path that UTF-8 cannot express', () => {
    expect(translateRequest(callOf('getTask', { id: '\ud800' }), restV1)).toMatchObject({ kind: 'invalid-params' })
  })
})
