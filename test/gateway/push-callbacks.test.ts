import { describe, expect, it } from 'vitest'
import { toJsonRpcError } from '../../src/a2a/error-response.ts'
import { type OperationName, operations } from '../../src/a2a/operations.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { callWith, evaluate as evaluateCall, profileWith } from '../support/calls.ts'

const metadata = 'http://169.254.169.254/latest/meta-data'
const passes = { warnings: [] }
const rejected = (...fields: string[]) => ({
  kind: 'invalid-params',
  detail: 'Push notifications can only be sent to public https URLs.',
  violations: fields.map(field => ({ field, description: 'must be a public https URL' })),
})
const evaluate = (operation: OperationName, params: JsonObject, allowed?: string) => {
  const result = evaluateCall(callWith({ operation, params }), profileWith(), allowed)
  return 'kind' in result ? result : { warnings: result.warnings }
}
const create = (url: JsonObject[string]) => evaluate('createPushConfig', { taskId: 't', url })

/** Name, operation, parameters with the URL, and the path of the URL in them. */
const shapes: [string, OperationName, (url: string) => JsonObject, string][] = [
  ['a configuration of 1.0', 'createPushConfig', url => ({ taskId: 't', url }), 'url'],
  [
    'a configuration of 0.3',
    'createPushConfig',
    url => ({ taskId: 't', pushNotificationConfig: { url } }),
    'pushNotificationConfig.url',
  ],
  [
    'a configuration of 0.3 over HTTP+JSON',
    'createPushConfig',
    url => ({ config: { name: 'a', push_notification_config: { url } } }),
    'config.push_notification_config.url',
  ],
  [
    'a message of 1.0',
    'send',
    url => ({ message: {}, configuration: { taskPushNotificationConfig: { url } } }),
    'configuration.taskPushNotificationConfig.url',
  ],
  [
    'a message of a draft of 1.0',
    'stream',
    url => ({ configuration: { task_push_notification_config: { pushNotificationConfig: { url } } } }),
    'configuration.task_push_notification_config.pushNotificationConfig.url',
  ],
  [
    'a message of 0.3',
    'send',
    url => ({ configuration: { pushNotificationConfig: { url, token: 'a' } } }),
    'configuration.pushNotificationConfig.url',
  ],
  [
    'a message of 0.3 over HTTP+JSON',
    'stream',
    url => ({ configuration: { pushNotification: { url } } }),
    'configuration.pushNotification.url',
  ],
]

describe.each(shapes)('the push notification URL in %s', (_, operation, params, field) => {
  it('must be public and https', () => {
    expect([
      evaluate(operation, params('https://hook.example.com/a?b=c#d')),
      evaluate(operation, params(metadata)),
    ]).toEqual([passes, rejected(field)])
  })

  it('may be at an allowed origin', () => {
    const url = 'http://localhost:9000/hook'
    expect([
      evaluate(operation, params(url), 'http://localhost:9000'),
      evaluate(operation, params(url), 'http://localhost:9001'),
    ]).toEqual([passes, rejected(field)])
  })

  it.each(['off', 'warn', 'enforce'] as const)('is checked at the gate level %s', level => {
    const gate = { capabilities: level, modes: level, extensions: level, version: level, responses: level }
    expect(evaluateCall(callWith({ operation, params: params(metadata) }), profileWith({ gate }))).toEqual(
      rejected(field),
    )
  })
})

describe('a push notification URL', () => {
  it.each([
    ['http'],
    ['//hook.example.com/'],
    ['http://hook.example.com/'],
    ['https://hook.example.com:8443/'],
    ['https://10.0.0.1/'],
    ['https://2130706433/'],
    ['https://[::1]/'],
    ['https://localhost/'],
    ['https://vault.internal/'],
    ['https://127.0.0.1.nip.io/'],
    ['https://user:secret@hook.example.com/'],
    ['file:///etc/passwd'],
    ['gopher://hook.example.com/'],
  ])('is rejected with one message for every reason: %s', url => {
    expect(create(url)).toEqual(rejected('url'))
  })

  it.each([
    ['https:hook.example.com'],
    ['https:\\\\hook.example.com\\'],
    ['https://hook.example.com\\@10.0.0.1/'],
    ['https://hook.example.com/\\@10.0.0.1/'],
    [' https://hook.example.com/'],
    ['https://hook.example.com/ HTTP/1.1'],
    ['https://hook.exam\nple.com/'],
    ['https://hook.example.com/\r\nHost: a'],
    ['https:///hook.example.com/'],
    ['https://hook.example.com#@10.0.0.1/'],
    ['https://hook.example.com?@10.0.0.1/'],
    ['https://hook.example.com#?x=@localhost'],
    ['https://hook.example.com?a=b@metadata.internal/latest'],
    ['https://hook.example.com#\\@10.0.0.1/'],
  ])('must mean the same to every URL parser: not %j', url => {
    expect(create(url)).toEqual(rejected('url'))
  })

  it.each([
    ['https://hook.example.com'],
    ['https://hook.example.com/@me?to=a@b.example#c@d'],
    ['https://hook.example.com?a=b'],
    ['https://hook.example.com#fragment'],
  ])('may have every other part of a URL: %s', url => {
    expect(create(url)).toEqual(passes)
  })

  it.each([[['https://10.0.0.1/']], [{ href: 'https://10.0.0.1/' }], [7], [true]])('must be a string: not %j', url => {
    expect(create(url)).toEqual(rejected('url'))
  })

  it.each([[''], [null]])('may be empty: %j', url => {
    expect(create(url)).toEqual(passes)
  })

  it('is checked in every field that an agent may read it from', () => {
    const params = {
      url: 'https://hook.example.com/',
      pushNotificationConfig: { url: metadata },
      config: { url: metadata, pushNotificationConfig: { url: metadata } },
    }
    expect(evaluate('createPushConfig', params)).toEqual(
      rejected('pushNotificationConfig.url', 'config.url', 'config.pushNotificationConfig.url'),
    )
  })

  it('is not looked for in other operations', () => {
    const others = (Object.keys(operations) as OperationName[]).filter(
      name => !['send', 'stream', 'createPushConfig', 'extendedCard'].includes(name),
    )
    const params = { url: metadata, pushNotificationConfig: { url: metadata } }
    expect(others.map(name => evaluate(name, params))).toEqual(others.map(() => passes))
  })

  it('is not looked for in the parts of a message', () => {
    const params = {
      url: metadata,
      message: { parts: [{ url: metadata }, { data: { pushNotificationConfig: { url: metadata } } }] },
    }
    expect(evaluate('send', params)).toEqual(passes)
  })

  it('is checked after what the card allows', () => {
    const call = callWith({ operation: 'createPushConfig', params: { url: metadata } })
    expect([
      evaluateCall(call, profileWith({ pushNotifications: false })),
      evaluateCall(call, profileWith({ requiredExtensions: ['urn:a'] })),
      evaluateCall(call, profileWith({ route: 'closed' })),
    ]).toMatchObject([{ kind: 'push-notifications' }, { kind: 'extensions' }, { kind: 'closed' }])
  })

  it('is reported as invalid parameters, and not repeated', () => {
    const verdict = create(metadata)
    const error = 'kind' in verdict ? toJsonRpcError(verdict, '1.0') : undefined
    expect(error).toEqual({
      code: -32602,
      message: 'Push notifications can only be sent to public https URLs.',
      data: [
        expect.objectContaining({ reason: 'INVALID_PARAMS' }),
        {
          '@type': 'type.googleapis.com/google.rpc.BadRequest',
          fieldViolations: [{ field: 'url', description: 'must be a public https URL' }],
        },
      ],
    })
  })
})

it('keeps the error short for thousands of URLs', () => {
  const nested = (depth: number): JsonObject =>
    depth === 0
      ? { url: metadata }
      : {
          url: metadata,
          config: nested(depth - 1),
          pushNotification: nested(depth - 1),
          taskPushNotificationConfig: {},
        }
  const verdict = evaluate('createPushConfig', nested(11))
  expect('kind' in verdict && JSON.stringify(toJsonRpcError(verdict, '1.0')).length).toBeLessThan(5_000)
})
