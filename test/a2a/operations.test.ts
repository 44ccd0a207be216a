import { describe, expect, it } from 'vitest'
import {
  methodOf,
  operations,
  readExtensions,
  readVersion,
  resolveMethod,
  versionForError,
} from '../../src/a2a/operations.ts'

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

  it('have the method names and the capability of the specification', () => {
    for (const [operation, v03, v10, needs] of table) {
      expect(operations[operation]).toMatchObject({
        names: { '1.0': v10, ...(v03 && { '0.3': v03 }) },
        ...(needs && { needs }),
      })
      // A name is found in its version, with or without a version.
      const found = { operation, version: '1.0', dialect: '1.0' }
      expect([resolveMethod(v10, '1.0'), resolveMethod(v10, undefined, () => ['0.3'])]).toStrictEqual([found, found])
      // The error for a name of the other version gives the right one.
      const missing = { kind: 'method', method: v10, version: '0.3', ...(v03 !== undefined && { currentName: v03 }) }
      expect(resolveMethod(v10, '0.3')).toStrictEqual(missing)
      if (v03 === undefined) continue
      const foundV03 = { operation, version: '0.3', dialect: '0.3' }
      expect([resolveMethod(v03, '0.3'), resolveMethod(v03, undefined, () => ['1.0'])]).toStrictEqual([
        foundV03,
        foundV03,
      ])
      const otherVersion = { kind: 'method', method: v03, version: '1.0', currentName: v10 }
      expect(resolveMethod(v03, '1.0')).toStrictEqual(otherVersion)
    }
    const capabilities = Object.entries(operations).map(([name, { needs }]) => [name, needs])
    expect(capabilities).toStrictEqual(table.map(([operation, , , needs]) => [operation, needs]))
    expect(methodOf('listTasks', '0.3')).toBeUndefined()
  })
})

describe('method names of the extended card', () => {
  it.each([
    ['agent/extendedCard', 'gopherhole'],
    ['agent/authenticatedExtendedCard', 'shaman'],
    ['agent/getAuthenticatedExtendedCard', '0.3'],
    ['GetExtendedAgentCard', '1.0'],
  ])('%s requests the dialect %s', (name, dialect) => {
    expect(resolveMethod(name, undefined)).toMatchObject({ operation: 'extendedCard', dialect })
  })

  const aliases = ['agent/extendedCard', 'agent/authenticatedExtendedCard']

  it('are valid in both versions', () => {
    const dialect = expect.any(String)
    for (const name of aliases)
      expect([resolveMethod(name, '0.3'), resolveMethod(name, '1.0')]).toStrictEqual([
        { operation: 'extendedCard', version: '0.3', dialect },
        { operation: 'extendedCard', version: '1.0', dialect },
      ])
    // Without a version, the agent's own decides.
    const spoken = [['1.0', '0.3'], ['0.3'], ['1.0'], []] as const
    const found = spoken.flatMap(each => aliases.map(name => resolveMethod(name, undefined, () => each)))
    const versions = ['0.3', '0.3', '0.3', '0.3', '1.0', '1.0', '0.3', '0.3']
    expect(found).toEqual(versions.map(version => ({ operation: 'extendedCard', version, dialect })))
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
    expect([resolveMethod(method, '0.3'), resolveMethod(method, '1.0')]).toStrictEqual([
      { kind: 'method', method, version: '0.3', ...(v03 !== undefined && { currentName: v03 }) },
      { kind: 'method', method, version: '1.0', currentName: v10 },
    ])
  })
})

describe('unknown method names', () => {
  it('are rejected in the version whose style they have', () => {
    const names = ['message/shout', '', 'sendmessage', 'toString', '__proto__', 'constructor', 'message/send ']
    for (const [method, version] of [['ShoutMessage', '1.0'], ...names.map(name => [name, '0.3'] as const)] as const)
      expect(resolveMethod(method, undefined, () => ['0.3', '1.0'])).toStrictEqual({ kind: 'method', method, version })
  })
})

const requestWith = (header: string | null, query: string[] = []) => ({
  headers: new Headers(header === null ? {} : { 'A2A-Version': header }),
  url: `https://host.example/${query.length > 0 ? '?' : ''}${query.map(each => `a2a-version=${each}`).join('&')}`,
})

describe('readVersion', () => {
  const versionOf = (header: string | null, ...query: string[]) => {
    const parsed = readVersion(requestWith(header, query))
    return 'kind' in parsed ? parsed : (parsed.version ?? 'none')
  }
  const all = (...headers: (string | null)[]) => new Set(headers.map(header => versionOf(header)))

  it('reads the header and the query', () => {
    expect(all(null, '', ',')).toEqual(new Set(['none']))
    expect(all('0.3', '0.3.0', '0.2', '0.2.6', '0.2, 0.3')).toEqual(new Set(['0.3']))
    expect(all('1.0', '1.0.1', ' 1.0 ', '1.0, 1.0', '1.0, 1.0.1', '1.0,')).toEqual(new Set(['1.0']))
    expect([
      ...[versionOf(' ', ''), versionOf(null, '1.0'), versionOf(null, '0.3', '0.3'), versionOf('', '1.0.1')],
      ...[versionOf('1.0', '1.0'), versionOf('1.0', '')],
    ]).toEqual(['none', '1.0', '0.3', '1.0', '1.0', '1.0'])
  })

  it('rejects other versions, and several', () => {
    const rejected = (offered: string) => ({ kind: 'version', offered, accepted: ['0.3', '1.0'] })
    const other = ['9.9', '1', 'v1.0', '1.0-beta', '1.1', '0.1', '0.4', '00.3', 'latest', '0.3, 1.0', '1.0, 9.9']
    for (const header of other) expect(versionOf(header)).toStrictEqual(rejected(header))
    expect(versionOf('9.9, 9.9.1')).toStrictEqual(rejected('9.9'))
    expect(versionOf('0.3', '1.0')).toStrictEqual(rejected('0.3, 1.0'))
    expect(versionOf(null, '0.3', '1.0')).toStrictEqual(rejected('0.3, 1.0'))
    expect(versionOf(null, '9.9')).toStrictEqual(rejected('9.9'))
    expect(versionOf('1.0', 'toString')).toStrictEqual(rejected('1.0, toString'))
  })
})

describe('versionForError', () => {
  it.each([
    ['0.3', 'SendMessage', '0.3'],
    ['1.0', 'message/send', '1.0'],
    [null, 'message/send', '0.3'],
    [null, 'SendMessage', '1.0'],
    [null, '', '0.3'],
    [null, undefined, '0.3'],
    ['9.9', undefined, '1.0'],
    ['9.9', 'SendMessage', '1.0'],
    ['9.9', 'message/send', '0.3'],
  ])('for the version %j and the method %j is %s', (header, method, version) => {
    expect(versionForError(readVersion(requestWith(header)), method)).toBe(version)
  })
})

describe('readExtensions', () => {
  const read = (current?: string, old?: string) =>
    readExtensions(
      new Headers({
        ...(current !== undefined && { 'A2A-Extensions': current }),
        ...(old !== undefined && { 'X-A2A-Extensions': old }),
      }),
    )

  it('reads the lists of both headers, each extension once', () => {
    const [x, y] = ['https://a.example/x', 'https://a.example/y']
    expect(read()).toStrictEqual([])
    expect(read('', ' , ')).toStrictEqual([])
    expect(read(x)).toStrictEqual([x])
    expect(read(`${x}, ${y},${x}`)).toStrictEqual([x, y])
    expect(read(x, y)).toStrictEqual([x, y])
  })

  it('returns at most 200 extensions', () => {
    expect(read(Array.from({ length: 1000 }, (_, index) => `urn:${index}`).join(','))).toHaveLength(200)
  })
})
