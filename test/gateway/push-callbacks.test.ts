import { describe, expect, it } from 'vitest'
import { toJsonRpcError } from '../../src/a2a/error-response.ts'
import { type OperationName, operationNames } from '../../src/a2a/operations.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { callWith, evaluate as evaluateCall } from '../support/calls.ts'

const metadata = 'http://169.254.169.254/latest/meta-data'
const passes = expect.objectContaining({ warnings: [] })
const rejected = (...fields: string[]) => ({
  kind: 'invalid-params',
  detail: 'Push notifications can only be sent to public https URLs.',
  violations: fields.map(field => ({ field, description: 'must be a public https URL' })),
})
const evaluate = (operation: OperationName, params: JsonObject, allowed?: string) =>
  evaluateCall(callWith({ operation, params }), {}, allowed)
const create = (url: JsonObject[string]) => evaluate('createPushConfig', { taskId: 't', url })

/** Where the URL is, by operation. */
const fields: [OperationName, field: string][] = [
  // A configuration of 1.0, of 0.3, and of 0.3 over HTTP+JSON.
  ['createPushConfig', 'url'],
  ['createPushConfig', 'pushNotificationConfig.url'],
  ['createPushConfig', 'config.push_notification_config.url'],
  // A message of 1.0, of a draft of 1.0, of 0.3, and of 0.3 over HTTP+JSON.
  ['send', 'configuration.taskPushNotificationConfig.url'],
  ['stream', 'configuration.task_push_notification_config.pushNotificationConfig.url'],
  ['send', 'configuration.pushNotificationConfig.url'],
  ['stream', 'configuration.pushNotification.url'],
]
const paramsWith = (field: string, url: string) =>
  field.split('.').reduceRight<Json>((value, name) => ({ [name]: value }), url) as JsonObject

describe('the push notification URL in a configuration or message', () => {
  it('must be public and https', () => {
    for (const [operation, field] of fields) {
      const evaluateUrl = (url: string) => evaluate(operation, paramsWith(field, url))
      expect(evaluateUrl('https://hook.example.com/a?b=c#d'), field).toEqual(passes)
      expect(evaluateUrl(metadata), field).toEqual(rejected(field))
    }
  })

  it('may be at an allowed origin', () => {
    const params = { taskId: 't', url: 'http://localhost:9000/hook' }
    expect(evaluate('createPushConfig', params, 'http://localhost:9000')).toEqual(passes)
    expect(evaluate('createPushConfig', params, 'http://localhost:9001')).toEqual(rejected('url'))
  })

  it('is checked even if the gate is off', () => {
    const off = 'off' as const
    const gate = { capabilities: off, modes: off, extensions: off, version: off, responses: off }
    const call = callWith({ operation: 'createPushConfig', params: { taskId: 't', url: metadata } })
    expect(evaluateCall(call, { gate })).toEqual(rejected('url'))
  })
})

describe('a push notification URL', () => {
  it('is rejected with one message for every reason', () => {
    for (const url of [
      ...['http', 'http://hook.example.com/', 'https://10.0.0.1/', 'https://user:secret@hook.example.com/'],
      // It must mean the same to every URL parser.
      ...['https:hook.example.com', 'https:\\\\hook.example.com\\', 'https:///hook.example.com/'],
      ...['https://hook.example.com\\@10.0.0.1/', 'https://hook.example.com/\\@10.0.0.1/'],
      ...[' https://hook.example.com/', 'https://hook.example.com/ HTTP/1.1'],
      ...['https://hook.exam\nple.com/', 'https://hook.example.com/\r\nHost: a'],
      ...['https://hook.example.com#@10.0.0.1/', 'https://hook.example.com?a=b@metadata.internal/latest'],
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

  it('is not looked for in other operations, nor in the parts of a message', () => {
    const others = operationNames.filter(name => !/^(?:send|stream|createPushConfig|extendedCard)$/.test(name))
    const params = { url: metadata, pushNotificationConfig: { url: metadata } }
    for (const name of others) expect(evaluate(name, params), name).toEqual(passes)
    expect(evaluate('send', { url: metadata, message: { parts: [{ url: metadata }, { data: params }] } })).toEqual(
      passes,
    )
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
  const decision = evaluate('createPushConfig', nested(11))
  expect('kind' in decision && JSON.stringify(toJsonRpcError(decision, '1.0')).length).toBeLessThan(5_000)
})
