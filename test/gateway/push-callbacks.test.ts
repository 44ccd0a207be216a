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

/** Where the URL is: an operation, its parameters, and the path of the URL in them. */
const shapes: [OperationName, (url: string) => JsonObject, field: string][] = [
  // A configuration of 1.0, of 0.3, and of 0.3 over HTTP+JSON.
  ['createPushConfig', url => ({ taskId: 't', url }), 'url'],
  ['createPushConfig', url => ({ taskId: 't', pushNotificationConfig: { url } }), 'pushNotificationConfig.url'],
  [
    'createPushConfig',
    url => ({ config: { name: 'a', push_notification_config: { url } } }),
    'config.push_notification_config.url',
  ],
  // A message of 1.0, of a draft of 1.0, of 0.3, and of 0.3 over HTTP+JSON.
  [
    'send',
    url => ({ message: {}, configuration: { taskPushNotificationConfig: { url } } }),
    'configuration.taskPushNotificationConfig.url',
  ],
  [
    'stream',
    url => ({ configuration: { task_push_notification_config: { pushNotificationConfig: { url } } } }),
    'configuration.task_push_notification_config.pushNotificationConfig.url',
  ],
  [
    'send',
    url => ({ configuration: { pushNotificationConfig: { url, token: 'a' } } }),
    'configuration.pushNotificationConfig.url',
  ],
  ['stream', url => ({ configuration: { pushNotification: { url } } }), 'configuration.pushNotification.url'],
]

describe('the push notification URL in a configuration or message', () => {
  it('must be public and https', () => {
    for (const [operation, params, field] of shapes) {
      expect(evaluate(operation, params('https://hook.example.com/a?b=c#d')), field).toEqual(passes)
      expect(evaluate(operation, params(metadata)), field).toEqual(rejected(field))
    }
  })

  it('may be at an allowed origin', () => {
    const url = 'http://localhost:9000/hook'
    for (const [operation, params, field] of shapes) {
      expect(evaluate(operation, params(url), 'http://localhost:9000'), field).toEqual(passes)
      expect(evaluate(operation, params(url), 'http://localhost:9001'), field).toEqual(rejected(field))
    }
  })

  it('is checked at every gate level', () => {
    for (const level of ['off', 'warn', 'enforce'] as const)
      for (const [operation, params, field] of shapes) {
        const gate = { capabilities: level, modes: level, extensions: level, version: level, responses: level }
        const call = callWith({ operation, params: params(metadata) })
        expect(evaluateCall(call, profileWith({ gate })), `${level}: ${field}`).toEqual(rejected(field))
      }
  })
})

describe('a push notification URL', () => {
  it('is rejected with one message for every reason', () => {
    for (const url of [
      ...['http', '//hook.example.com/', 'http://hook.example.com/', 'https://hook.example.com:8443/'],
      ...[
        'https://10.0.0.1/',
        'https://2130706433/',
        'https://[::1]/',
        'https://localhost/',
        'https://vault.internal/',
      ],
      ...['https://127.0.0.1.nip.io/', 'https://user:secret@hook.example.com/'],
      ...['file:///etc/passwd', 'gopher://hook.example.com/'],
      // It must mean the same to every URL parser.
      ...['https:hook.example.com', 'https:\\\\hook.example.com\\', 'https:///hook.example.com/'],
      ...['https://hook.example.com\\@10.0.0.1/', 'https://hook.example.com/\\@10.0.0.1/'],
      ...[' https://hook.example.com/', 'https://hook.example.com/ HTTP/1.1'],
      ...['https://hook.exam\nple.com/', 'https://hook.example.com/\r\nHost: a'],
      ...['https://hook.example.com#@10.0.0.1/', 'https://hook.example.com?@10.0.0.1/'],
      ...['https://hook.example.com#?x=@localhost', 'https://hook.example.com?a=b@metadata.internal/latest'],
      'https://hook.example.com#\\@10.0.0.1/',
      // It must be a string.
      ...[['https://10.0.0.1/'], { href: 'https://10.0.0.1/' }, 7, true],
    ])
      expect(create(url), JSON.stringify(url)).toEqual(rejected('url'))
  })

  it('may have every other part of a URL, or be empty', () => {
    const host = 'https://hook.example.com'
    for (const url of [host, `${host}/@me?to=a@b.example#c@d`, `${host}?a=b`, `${host}#fragment`, '', null])
      expect(create(url), `${url}`).toEqual(passes)
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
    const checked = ['send', 'stream', 'createPushConfig', 'extendedCard']
    const others = (Object.keys(operations) as OperationName[]).filter(name => !checked.includes(name))
    const params = { url: metadata, pushNotificationConfig: { url: metadata } }
    expect(others).toHaveLength(7)
    for (const name of others) expect(evaluate(name, params), name).toEqual(passes)
  })

  it('is not looked for in the parts of a message', () => {
    const parts = [{ url: metadata }, { data: { pushNotificationConfig: { url: metadata } } }]
    expect(evaluate('send', { url: metadata, message: { parts } })).toEqual(passes)
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
    const fieldViolations = [{ field: 'url', description: 'must be a public https URL' }]
    expect('kind' in verdict && toJsonRpcError(verdict, '1.0')).toEqual({
      code: -32602,
      message: 'Push notifications can only be sent to public https URLs.',
      data: [
        expect.objectContaining({ reason: 'INVALID_PARAMS' }),
        { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations },
      ],
    })
  })
})

it('keeps the error short for thousands of URLs', () => {
  const nested = (depth: number): JsonObject => ({
    url: metadata,
    ...(depth > 0 && {
      config: nested(depth - 1),
      pushNotification: nested(depth - 1),
      taskPushNotificationConfig: {},
    }),
  })
  const verdict = evaluate('createPushConfig', nested(11))
  expect('kind' in verdict && JSON.stringify(toJsonRpcError(verdict, '1.0')).length).toBeLessThan(5_000)
})
