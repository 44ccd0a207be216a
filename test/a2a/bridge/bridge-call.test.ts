import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BridgedCall, bridgeCall } from '../../../src/a2a/bridge/bridge-call.ts'
import { type A2ACall, type OperationName, operationNames, operations } from '../../../src/a2a/operations.ts'
import { matchRestPath } from '../../../src/a2a/rest-paths.ts'
import { readTaskReferences } from '../../../src/a2a/task-references.ts'
import { isSameProtocol } from '../../../src/card/model/calls.ts'
import { callBindings, type Protocol, wireVersions } from '../../../src/card/model/versions.ts'
import { isJsonObject, type Json, type JsonObject, omit } from '../../../src/json/json.ts'
import { MAX_TRANSLATED_PATH_LENGTH } from '../../../src/limits.ts'
import { arbitraryJson, arbitraryObjects } from '../../support/a2a-objects.ts'
import { callWith } from '../../support/calls.ts'
import { webUrl } from '../../support/cards/generated.ts'
import { growth, linear } from '../../support/cpu-time.ts'
import { isNightly } from '../../support/matrix.ts'

const protocols: Protocol[] = wireVersions.flatMap(version => callBindings.map(binding => ({ binding, version })))
const v1: Protocol = { binding: 'JSONRPC', version: '1.0' }
const v03: Protocol = { binding: 'JSONRPC', version: '0.3' }
const restV1: Protocol = { binding: 'HTTP+JSON', version: '1.0' }
const restV03: Protocol = { binding: 'HTTP+JSON', version: '0.3' }

/** A number that stays as the caller wrote it. */
const exact = JSON.rawJSON('1.0')

const callOf = (operation: OperationName, params: JsonObject, { binding, version }: Protocol = v1): A2ACall =>
  callWith({ operation, params, binding, version })

type TranslatedRequest = Pick<BridgedCall, 'httpMethod' | 'path' | 'losses'> & { params?: JsonObject }

/** Returns a translated request, or its error. */
const translateRequest = (call: A2ACall, to: Protocol) => {
  const bridged = bridgeCall(call, to)
  if ('kind' in bridged) return bridged
  const { httpMethod, path, losses, hasBody } = bridged
  return { httpMethod, path, losses, ...(hasBody && { params: bridged.call.params }) }
}

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
  return { ...Object.fromEntries(new URLSearchParams(query)), ...params, ...match.pathParams }
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

it('translates a call to another protocol and back without a change', () => {
  for (const [name, arbitrary] of Object.entries(calls) as [OperationName, fc.Arbitrary<object>][])
    fc.assert(
      fc.property(arbitrary, fc.constantFrom(...protocols), fc.constantFrom(...protocols), (original, from, to) => {
        fc.pre(!isSameProtocol(from, to))
        const canonical = callOf(name, compact(original))
        const params = isSameProtocol(from, v1) ? canonical.params : paramsOf(translated(canonical, from))
        const there = translated(callOf(name, params, from), to)
        const back = translated(callOf(name, paramsOf(there), to), from)
        expect([there.losses, back.losses]).toEqual([[], []])
        expect(withoutDefaults(paramsOf(back))).toEqual(withoutDefaults(params))
      }),
    )
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
    { numRuns: isNightly ? 20_000 : 300 },
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
    { numRuns: isNightly ? 30_000 : 300 },
  )
})

describe('a call in another protocol', () => {
  const text = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'a' }] }
  const textV03 = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'a' }] }
  const content = { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'a' }] }
  const url = 'https://client.example/push'

  const config = { id: 'p', url }
  const waiting = (blocking: boolean) => ({ configuration: { blocking } })
  const schemes = (...names: string[]) => ({ authentication: { schemes: names } })

  it('has the parameters of that protocol, and reports those that it loses', () => {
    const named = { taskId: 't', name: 'tasks/t/pushNotificationConfigs/p', pushNotificationConfig: { url } }
    const single = { taskId: 't', pushNotificationConfig: config }
    const several = { taskId: 't', pushNotificationConfig: { ...config, ...schemes('Basic', 'Bearer') } }
    const pushed = {
      message: text,
      configuration: { taskPushNotificationConfig: { ...config, tenant: 'x', taskId: 'y' } },
    }
    const returns = { message: text, configuration: { returnImmediately: true } }
    const pushLosses = ['tenant', 'taskId'].map(name => `configuration.taskPushNotificationConfig.${name}`)
    const unknown = { message: textV03, configuration: { taskPushNotificationConfig: { url } } }
    const short = { configuration: { historyLength: 2 } }
    const shortReturns = { message: text, configuration: { historyLength: 2, returnImmediately: true } }
    const rows: [OperationName, from: Protocol, JsonObject, to: Protocol, expected: JsonObject, losses?: string[]][] = [
      // It waits by default, unless it says that it does not, or ProtoJSON leaves that out.
      ['send', v1, { message: text }, v03, { message: textV03, ...waiting(true) }],
      ['send', v03, { message: textV03, ...waiting(false) }, v1, returns],
      ['send', restV03, { message: content, ...short }, v1, shortReturns],
      ['stream', v1, returns, v03, { message: textV03, ...waiting(false) }],
      ['stream', v1, { message: text }, v03, { message: textV03 }],
      // A message with `kind` over HTTP.
      ['stream', restV03, { message: textV03, ...waiting(false) }, v1, returns],
      [
        'createPushConfig',
        v03,
        several,
        v1,
        { taskId: 't', ...config, authentication: { scheme: 'Basic' } },
        ['authentication.schemes'],
      ],
      // As the official JavaScript client of 0.3 sends it over HTTP.
      ['createPushConfig', restV03, named, v1, { taskId: 't', ...config }],
      // As in 0.2.
      ['getPushConfig', v03, { id: 't' }, v1, { taskId: 't', id: 't' }],
      ['getTask', v1, { id: 't', tenant: 'north' }, v03, { id: 't' }, ['tenant']],
      ['getTask', v1, { id: 't', tenant: 'a/b' }, restV1, {}],
      ['getTask', v03, { id: 't', metadata: { a: 1 } }, v1, { id: 't' }, ['metadata']],
      ['cancel', v03, { id: 't', metadata: { a: 1 } }, v1, { id: 't', metadata: { a: 1 } }],
      ['cancel', v03, { id: 't', metadata: { a: 1 } }, restV03, {}, ['metadata']],
      ['cancel', v1, { id: 't', metadata: { a: 1 } }, v03, { id: 't', metadata: { a: 1 } }],
      [
        'listPushConfigs',
        v1,
        { taskId: 't', pageToken: 'p', page_size: 1 },
        v03,
        { id: 't' },
        ['pageToken', 'page_size'],
      ],
      // Numbers and booleans of a query.
      ['getTask', restV1, { id: 't', historyLength: '3' }, v1, { id: 't', historyLength: 3 }],
      ['listTasks', restV1, { page_size: '3', includeArtifacts: 'true' }, v1, { page_size: 3, includeArtifacts: true }],
      ['listTasks', restV1, { include_artifacts: 'false', status: '3' }, v1, { include_artifacts: false, status: '3' }],
      ['listTasks', restV1, { pageSize: 'x', includeArtifacts: '1' }, v1, { pageSize: 'x', includeArtifacts: '1' }],
      // Names that mean something else.
      ['send', v03, unknown, v1, { message: text }, ['configuration.*']],
      // A name that only ProtoJSON has.
      ['createPushConfig', v03, { ...single, name: 'n' }, v1, { taskId: 't', ...config }, ['*']],
      [
        'send',
        v1,
        pushed,
        v03,
        { message: textV03, configuration: { pushNotificationConfig: config, blocking: true } },
        pushLosses,
      ],
    ]
    for (const [operation, from, params, to, expected, losses = []] of rows) {
      const request = translated(callOf(operation, params, from), to)
      expect([request.params ?? {}, request.losses], JSON.stringify(params)).toEqual([expected, losses])
    }
  })

  it('is requested where its version has it', () => {
    const rows: [OperationName, JsonObject, Protocol, method: string, path: string | undefined][] = [
      ['getTask', { id: 'a/b?c', historyLength: 2 }, restV1, 'GET', 'tasks/a%2Fb%3Fc?historyLength=2'],
      ['getTask', { id: 't', historyLength: exact }, restV1, 'GET', 'tasks/t?historyLength=1.0'],
      ['getTask', { id: 't', tenant: 'a/b' }, restV1, 'GET', 'a%2Fb/tasks/t'],
      ['cancel', { id: 't' }, restV03, 'POST', 'v1/tasks/t:cancel'],
      ['resubscribe', { id: 't' }, restV03, 'POST', 'v1/tasks/t:subscribe'],
      ['deletePushConfig', { taskId: 't', id: 'p' }, restV03, 'DELETE', 'v1/tasks/t/pushNotificationConfigs/p'],
      ['listTasks', { pageSize: 5, includeArtifacts: true }, restV1, 'GET', 'tasks?pageSize=5&includeArtifacts=true'],
      ['extendedCard', {}, restV03, 'GET', 'v1/card'],
      ['send', { message: text }, v03, 'POST', undefined],
    ]
    for (const [operation, params, to, httpMethod, path] of rows) {
      const request = translated(callOf(operation, params), to)
      expect([request.httpMethod, request.path], JSON.stringify(params)).toEqual([httpMethod, path])
    }
    // A call without a body has no parameters.
    const bridged = bridgeCall(callOf('getTask', { id: 't' }), restV1)
    expect(bridged).toHaveProperty('hasBody', false)
    expect(bridged).toHaveProperty('call.params', {})
    const created = translated(callOf('createPushConfig', { taskId: 't', ...config }), restV03)
    expect(created).toMatchObject({
      path: 'v1/tasks/t/pushNotificationConfigs',
      params: {
        ...{ parent: 'tasks/t', configId: 'p' },
        config: { name: 'tasks/t/pushNotificationConfigs/p', pushNotificationConfig: config },
      },
    })
  })

  it('is refused with the field that is wrong', () => {
    const parts = (...all: Json[]) => ({ message: { ...text, parts: all } })
    const dataV03 = { message: { ...textV03, parts: [{ kind: 'data', data: exact }] } }
    const pushed = (taskPushNotificationConfig: Json) => ({
      message: text,
      configuration: { taskPushNotificationConfig },
    })
    const pushField = 'configuration.taskPushNotificationConfig'
    const longQuery = { id: 't', other: '%'.repeat(MAX_TRANSLATED_PATH_LENGTH / 3) }
    const misread = ['..', '.', 'a:cancel', 'a/pushNotificationConfigs', 'a\\b', 'tasks/a', '\ud800']
    const rows: [OperationName, JsonObject, Protocol, field: string, description?: string][] = [
      ['send', {}, v1, 'message'],
      ['send', parts({ text: 'a', raw: 'YQ==' }), v1, 'message.parts[0]'],
      // A message of the other version.
      ['send', { message: textV03 }, v1, 'message.role'],
      ['send', { message: text }, v03, 'message.role'],
      ['send', { message: { ...text, role: undefined } }, v1, 'message.role'],
      ['send', { message: { ...text, role: 'ROLE_SYSTEM' } }, v1, 'message.role'],
      ['send', { message: { ...text, messageId: '' } }, v1, 'message.messageId'],
      ['send', { message: text, configuration: [] }, v1, 'configuration', 'must be an object'],
      ['send', pushed(url), v1, pushField, 'must be an object'],
      // Numbers that stay as they were sent are no objects.
      ['send', { message: text, configuration: exact }, v1, 'configuration'],
      ['send', pushed(exact), v1, pushField],
      ['send', dataV03, v03, 'message.parts[0].data'],
      ['getTask', {}, v1, 'id', 'must be the id of a task'],
      ['cancel', { id: 5 }, v1, 'id'],
      ['getPushConfig', {}, v03, 'id', 'must be the id of a task'],
      ['listPushConfigs', {}, v1, 'taskId', 'must be the id of a task'],
      ['createPushConfig', {}, v03, 'taskId', 'must be the id of a task'],
      ['deletePushConfig', { id: 't' }, v03, 'pushNotificationConfigId', 'must be the id of a push configuration'],
      ['getPushConfig', { taskId: 't' }, v1, 'id', 'must be the id of a push configuration'],
      [
        'cancel',
        { id: 'a'.repeat(MAX_TRANSLATED_PATH_LENGTH) },
        v1,
        'params',
        'must fit into 16384 characters of a path and query',
      ],
      ['getTask', longQuery, v1, 'params'],
      ...misread.map((id): (typeof rows)[number] => [
        'getTask',
        { id },
        v1,
        'id',
        'must be an id that a path can have',
      ]),
    ]
    for (const [operation, params, from, field, description = expect.any(String)] of rows) {
      const to: Protocol = { binding: 'HTTP+JSON', version: from.version === '1.0' ? '0.3' : '1.0' }
      const request = translateRequest(callOf(operation, params, from), to)
      const message = `${operation} ${JSON.stringify(params).slice(0, 100)}`
      expect(request, message).toMatchObject({ kind: 'invalid-params', violations: [{ field, description }] })
    }
    const longest = 'a'.repeat(MAX_TRANSLATED_PATH_LENGTH - 'v1/tasks/'.length)
    expect(translated(callOf('getTask', { id: longest }), restV03).path).toBe(`v1/tasks/${longest}`)
    const tenants = ['..', '.', 'a/../b', 'tasks/t', 'x:cancel', 'a\\b', '\ud800']
    for (const tenant of tenants)
      expect(translateRequest(callOf('getTask', { id: 't', tenant }), restV1), tenant).toMatchObject({
        violations: [{ field: 'tenant', description: 'must be a tenant that a path can have' }],
      })
    // A push configuration is never for another task than its own.
    for (const taskId of ['a/b', 'victim/pushNotificationConfigs/c', 'victim/'])
      expect(translateRequest(callOf('createPushConfig', { taskId, ...config }), restV03), taskId).toMatchObject({
        violations: [{ field: 'id' }],
      })
  })

  it('is refused if the version has no such operation', () => {
    const missing = { kind: 'operation-missing', method: 'ListTasks', version: '0.3' }
    expect([v03, restV03].map(to => translateRequest(callOf('listTasks', {}), to))).toEqual([missing, missing])
  })

  it('has no place in a query for an object or a list, which is reported', () => {
    for (const other of [{ a: 1 }, ['a']]) {
      const { path, losses } = translated(callOf('getTask', { id: 't', other }), restV1)
      expect([path, losses]).toEqual(['tasks/t', ['*']])
    }
  })

  it('has no other name in which the agent could read another task', () => {
    const rows: [OperationName, from: Protocol, to: Protocol, names: string[]][] = [
      ['getPushConfig', v1, v03, ['ID', 'pushNotificationConfigId', 'config_id']],
      ['deletePushConfig', v1, v03, ['Ids', 'task-ids']],
      ['getPushConfig', v1, restV03, ['TaskID']],
      ['getTask', v03, restV1, ['taskId']],
      ['getTask', v1, restV03, ['name']],
      ['listPushConfigs', v1, restV03, ['Parent']],
    ]
    for (const [operation, from, to, names] of rows)
      for (const name of names) {
        const own = operation === 'getTask' ? { id: 't' } : { taskId: 't', id: 'c' }
        const request = translated(callOf(operation, { ...own, [name]: 'victim' }, from), to)
        expect(JSON.stringify(request), name).not.toContain('victim')
        expect(request.losses, name).toContain('*')
      }
  })

  it('is translated in time proportional to the number of its parameters', () => {
    const translateMany = (count: number) => {
      const others = Array.from({ length: count }, (_, index) => [`other${index}`, []])
      translated(callOf('getTask', { id: 't', ...Object.fromEntries(others) }), restV1)
    }
    expect(growth(3_000, translateMany)).toBeLessThan(linear)
  })
})
