import { describe, expect, it } from 'vitest'
import { operations, resolveMethod } from '../../src/a2a/operations.ts'

/** Operation, method names in 0.3 and 1.0, and the capability that it needs. */
const table = [
  ['send', 'message/send', 'SendMessage', undefined],
  ['stream', 'message/stream', 'SendStreamingMessage', 'streaming'],
  ['getTask', 'tasks/get', 'GetTask', undefined],
  ['listTasks', undefined, 'ListTasks', undefined],
  ['cancel', 'tasks/cancel', 'CancelTask', undefined],
  ['resubscribe', 'tasks/resubscribe', 'SubscribeToTask', 'streaming'],
  ['createPushConfig', 'tasks/pushNotificationConfig/set', 'CreateTaskPushNotificationConfig', 'pushNotifications'],
  ['getPushConfig', 'tasks/pushNotificationConfig/get', 'GetTaskPushNotificationConfig', 'pushNotifications'],
  ['listPushConfigs', 'tasks/pushNotificationConfig/list', 'ListTaskPushNotificationConfigs', 'pushNotifications'],
  ['deletePushConfig', 'tasks/pushNotificationConfig/delete', 'DeleteTaskPushNotificationConfig', 'pushNotifications'],
  ['extendedCard', 'agent/getAuthenticatedExtendedCard', 'GetExtendedAgentCard', 'extendedAgentCard'],
] as const

describe('operations', () => {
  it('are those of the specification', () => {
    expect(Object.keys(operations)).toStrictEqual(table.map(([operation]) => operation))
  })

  it.each(table)('%s has the method names and the capability of the specification', (operation, v03, v10, needs) => {
    expect([operations[operation]['0.3'], operations[operation]['1.0'], operations[operation].needs]).toStrictEqual([
      v03,
      v10,
      needs,
    ])
  })

  it.each(table)('%s is found by its method name in each version, with or without a version', (operation, v03, v10) => {
    const resolved = [
      ...(v03 === undefined ? [] : [resolveMethod(v03, '0.3', []), resolveMethod(v03, undefined, ['1.0'])]),
      resolveMethod(v10, '1.0', []),
      resolveMethod(v10, undefined, ['0.3']),
    ]
    expect(resolved).toStrictEqual([
      ...(v03 === undefined ? [] : Array(2).fill({ operation, version: '0.3', dialect: '0.3' })),
      ...Array(2).fill({ operation, version: '1.0', dialect: '1.0' }),
    ])
  })

  it.each(table)(
    '%s is not found by the name of the other version, and the error gives the right one',
    (_, v03, v10) => {
      const errors = [...(v03 === undefined ? [] : [resolveMethod(v03, '1.0', [])]), resolveMethod(v10, '0.3', [])]
      expect(errors).toStrictEqual([
        ...(v03 === undefined ? [] : [{ kind: 'method', method: v03, version: '1.0', currentName: v10 }]),
        { kind: 'method', method: v10, version: '0.3', ...(v03 !== undefined && { currentName: v03 }) },
      ])
    },
  )
})

describe('method names of the extended card', () => {
  it.each([
    ['agent/extendedCard', 'gopherhole'],
    ['agent/authenticatedExtendedCard', 'shaman'],
    ['agent/getAuthenticatedExtendedCard', '0.3'],
    ['GetExtendedAgentCard', '1.0'],
  ])('%s requests the dialect %s', (name, dialect) => {
    expect(resolveMethod(name, undefined, [])).toMatchObject({ operation: 'extendedCard', dialect })
  })

  const aliases = ['agent/extendedCard', 'agent/authenticatedExtendedCard']

  it.each(aliases)('%s is valid in both versions', name => {
    expect([resolveMethod(name, '0.3', []), resolveMethod(name, '1.0', [])]).toStrictEqual([
      { operation: 'extendedCard', version: '0.3', dialect: expect.any(String) },
      { operation: 'extendedCard', version: '1.0', dialect: expect.any(String) },
    ])
  })

  it.each([
    [['1.0', '0.3'], '0.3'],
    [['0.3'], '0.3'],
    [['1.0'], '1.0'],
    [[], '0.3'],
  ] as const)('without a version, for an agent that speaks %j, they resolve to %s', (spoken, version) => {
    expect(aliases.map(name => resolveMethod(name, undefined, spoken))).toStrictEqual(
      aliases.map(() => ({ operation: 'extendedCard', version, dialect: expect.any(String) })),
    )
  })
})

describe('retired method names', () => {
  it.each([
    ['tasks/send', 'message/send', 'SendMessage'],
    ['tasks/sendSubscribe', 'message/stream', 'SendStreamingMessage'],
    ['tasks/pushNotification/set', 'tasks/pushNotificationConfig/set', 'CreateTaskPushNotificationConfig'],
    ['tasks/pushNotification/get', 'tasks/pushNotificationConfig/get', 'GetTaskPushNotificationConfig'],
    ['tasks/list', undefined, 'ListTasks'],
    ['TaskSubscription', 'tasks/resubscribe', 'SubscribeToTask'],
    ['SetTaskPushNotificationConfig', 'tasks/pushNotificationConfig/set', 'CreateTaskPushNotificationConfig'],
    ['ListTaskPushNotificationConfig', 'tasks/pushNotificationConfig/list', 'ListTaskPushNotificationConfigs'],
    ['GetAuthenticatedExtendedCard', 'agent/getAuthenticatedExtendedCard', 'GetExtendedAgentCard'],
  ])('%s is rejected with the current name', (method, v03, v10) => {
    expect([resolveMethod(method, '0.3', []), resolveMethod(method, '1.0', [])]).toStrictEqual([
      { kind: 'method', method, version: '0.3', ...(v03 !== undefined && { currentName: v03 }) },
      { kind: 'method', method, version: '1.0', currentName: v10 },
    ])
  })
})

describe('unknown method names', () => {
  it.each([
    ['message/shout', '0.3'],
    ['ShoutMessage', '1.0'],
    ['', '0.3'],
    ['sendmessage', '0.3'],
    ['toString', '0.3'],
    ['__proto__', '0.3'],
    ['constructor', '0.3'],
    ['message/send ', '0.3'],
  ])('%j is rejected in the version whose style it has', (method, version) => {
    expect(resolveMethod(method, undefined, ['0.3', '1.0'])).toStrictEqual({ kind: 'method', method, version })
  })
})
