import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bridgeCall } from '../../../src/a2a/bridge/bridge-call.ts'
import { translateAnswer } from '../../../src/a2a/bridge/translate-answer.ts'
import { specifiedErrors } from '../../../src/a2a/error-catalogue.ts'
import { type OperationName, operationNames } from '../../../src/a2a/operations.ts'
import { type AnswerPlace, readResult } from '../../../src/a2a/read-result.ts'
import { isSameProtocol } from '../../../src/card/model/calls.ts'
import { callBindings, type Protocol, wireVersions } from '../../../src/card/model/versions.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { arbitraryJson } from '../../support/a2a-objects.ts'
import { eventsOf, resultFormOf, resultOf } from '../../support/answers.ts'
import { callWith } from '../../support/calls.ts'
import { isNightly } from '../../support/matrix.ts'

const protocols: Protocol[] = wireVersions.flatMap(version => callBindings.map(binding => ({ binding, version })))
const v1: Protocol = { binding: 'JSONRPC', version: '1.0' }
const v03: Protocol = { binding: 'JSONRPC', version: '0.3' }
const restV1: Protocol = { binding: 'HTTP+JSON', version: '1.0' }
const restV03: Protocol = { binding: 'HTTP+JSON', version: '0.3' }

const translate = (
  answer: Json,
  from: Protocol,
  to: Protocol,
  {
    operation = 'send',
    place = 'response',
    status = 200,
  }: { operation?: OperationName; place?: AnswerPlace; status?: number } = {},
) => translateAnswer(answer, place, status, { operation, from, to, id: 7, task: 't-1' })

/** Returns an answer as an agent writes it. */
const answerOf = (result: Json, { binding }: Protocol): Json =>
  binding === 'JSONRPC' ? { jsonrpc: '2.0', id: 7, result } : result

const pairs = protocols.flatMap(from =>
  protocols.filter(to => !isSameProtocol(from, to)).map(to => [from, to] as const),
)
const nameOf = (...each: Protocol[]): string => each.map(({ binding, version }) => `${binding} ${version}`).join(' to ')

describe('an answer, for a caller of another protocol', () => {
  it('is what an agent of that protocol answers', () => {
    const answered = operationNames.filter(name => name !== 'listTasks' && name !== 'extendedCard')
    for (const [from, to] of pairs)
      for (const operation of answered) {
        const expected = answerOf(resultOf(operation, resultFormOf(to)), to)
        const translated = translate(answerOf(resultOf(operation, resultFormOf(from)), from), from, to, { operation })
        // A list with `kind` has no pages.
        const listed = operation === 'listPushConfigs' && from.version !== '1.0' && from.binding === 'JSONRPC'
        const { nextPageToken: _, ...withoutPages } = expected as JsonObject
        const name = `${operation} ${nameOf(from, to)}`
        expect(translated, name).toMatchObject({ status: 200, isError: false, losses: [] })
        if (listed && to.binding === 'HTTP+JSON') expect(translated.body, name).toEqual(withoutPages)
        else if (listed) expect(translated.body, name).toMatchObject({ result: { configs: [expect.any(Object)] } })
        else expect(translated.body, name).toEqual(expected)
      }
  })

  it('has the events that an agent of that protocol sends', () => {
    for (const [from, to] of pairs) {
      const options = { operation: 'stream', place: 'event' } as const
      const translated = eventsOf(resultFormOf(from)).map(
        event => translate(answerOf(event, from), from, to, options).body,
      )
      expect(translated, nameOf(from, to)).toMatchObject(eventsOf(resultFormOf(to)).map(event => answerOf(event, to)))
    }
  })

  it('has the same error, also after it is translated back', () => {
    for (const [from, to] of pairs)
      for (const { code, reason, httpStatus: status } of specifiedErrors) {
        const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' }
        const errorIn = ({ binding, version }: Protocol): JsonObject => {
          const error = { code, message: 'M', ...(version === '1.0' && { data: [info] }) }
          if (binding === 'JSONRPC') return { jsonrpc: '2.0', id: 7, error }
          if (version === '0.3') return error
          return { error: { code: status, status: expect.any(String), message: 'M', details: [info] } }
        }
        const statusOf = ({ binding }: Protocol) => (binding === 'JSONRPC' ? 200 : status)
        const placeOf = ({ binding }: Protocol) => (binding === 'JSONRPC' ? 'response' : 'error-response')
        const own = JSON.parse(JSON.stringify(errorIn(from)))
        if (own.error?.details) own.error.status = 'UNKNOWN'
        const there = translate(own, from, to, { place: placeOf(from), status: statusOf(from) })
        const name = `${reason} ${nameOf(from, to)}`
        expect(there, name).toEqual({ body: errorIn(to), status: statusOf(to), isError: true, losses: [] })
        const back = translate(there.body, to, from, { place: placeOf(to), status: there.status })
        expect(back.body, name).toEqual(errorIn(from))
      }
  })
})

it('writes an answer that clients can read, whatever the agent sends and its check lets pass', () => {
  let passed = 0
  fc.assert(
    fc.property(
      fc.constantFrom(...operationNames.filter(name => name !== 'extendedCard')),
      arbitraryJson,
      fc.constantFrom(...pairs),
      (operation, json, [from, to]) => {
        if (operation === 'listTasks' && [from, to].some(({ version }) => version === '0.3')) return
        const valid = resultOf(operation, resultFormOf(from))
        for (const result of [json, { ...(valid as JsonObject), ...(json as JsonObject) }]) {
          const answer = answerOf(result, from)
          const there = translate(answer, from, to, { operation })
          if ('fault' in readResult({ ...from, operation }, answer)) continue
          // JSON-RPC of 0.3 has empty ids, which ProtoJSON cannot distinguish from none.
          if (/"(?:messageId|artifactId)":""/.test(JSON.stringify(answer))) continue
          passed++
          expect(readResult({ ...to, operation }, there.body)).not.toHaveProperty('fault')
        }
      },
    ),
    { numRuns: isNightly ? 20_000 : 400 },
  )
  expect(passed).toBeGreaterThan(40)
})

describe('an error', () => {
  const data = fc.oneof(
    fc.dictionary(fc.string({ minLength: 1, maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1 }),
    fc.string(),
    fc.integer(),
    fc.array(fc.integer(), { minLength: 1 }),
  )

  it('keeps what 0.3 has in data on its way to 1.0 and back', () => {
    fc.assert(
      fc.property(data, fc.constantFrom(-32001, -32602, -32603, -32050), (data, code) => {
        const answer = { jsonrpc: '2.0', id: 7, error: { code, message: 'M', data: JSON.parse(JSON.stringify(data)) } }
        const there = translate(answer, v03, v1)
        const details = (there.body as { error: { data: JsonObject[] } }).error.data
        expect(details.map(detail => typeof detail['@type'])).toEqual(details.map(() => 'string'))
        expect(translate(there.body, v1, v03).body).toEqual(answer)
      }),
    )
  })

  const rpcError = (more: JsonObject): JsonObject => ({ jsonrpc: '2.0', id: 7, error: { message: 'M', ...more } })

  it('keeps the details of 1.0 in the data of 0.3', () => {
    const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'TASK_NOT_FOUND', domain: 'x' }
    const request = { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [] }
    const answer = rpcError({ code: -32001, data: [{ ...info, metadata: { a: 'b' } }, request] })
    const there = translate(answer, v1, v03)
    expect(there.body).toEqual(answer)
    expect(translate(there.body, v03, v1).body).toEqual(answer)
  })

  it('is translated as far as it can be', () => {
    const unavailable = { error: { code: 503, status: 'UNAVAILABLE', message: 'M' } }
    const typed = { error: { code: 404, status: 'NOT_FOUND', message: 'M', type: 'a' } }
    const details = [expect.objectContaining({ reason: 'TASK_NOT_FOUND' })]
    const restStatus = (code: number) => ({ error: { code, message: 'M' } })
    const rows: [Json, from: Protocol, status: number, to: Protocol, body: Json, losses?: string[]][] = [
      // The agent's own code has no status, and its own members no place.
      [
        rpcError({ code: -32050 }),
        v03,
        200,
        restV1,
        { error: { code: 500, status: 'INTERNAL', message: 'M' } },
        ['error.code'],
      ],
      [rpcError({ code: -32050, type: 'a' }), v03, 200, restV1, restStatus(500), ['*', 'error.code']],
      [rpcError({ code: -32001, type: 'a' }), v1, 200, v03, rpcError({ code: -32001 }), ['*']],
      [rpcError({ code: -32001, type: 'a' }), v1, 200, restV03, { code: -32001, message: 'M' }, ['*']],
      [typed, restV1, 404, v03, rpcError({ code: -32001 }), ['*']],
      // A number that stays as it was sent, and what is no code and no message.
      [rpcError({ code: JSON.rawJSON('-32001.0') }), v1, 200, v03, rpcError({ code: -32001 })],
      [rpcError({ code: 'x', message: 1 }), v1, 200, v03, rpcError({ code: -32603, message: '' })],
      // A status for which no code stands, which a caller over HTTP gets.
      [unavailable, restV1, 503, v1, rpcError({ code: -32603 }), ['error.status']],
      [unavailable, restV1, 503, restV03, { code: -32603, message: 'M' }],
      [{ message: 'M' }, restV03, 404, restV1, { error: { code: 404, status: 'NOT_FOUND', message: 'M', details } }],
      // A status without a reason.
      ...(
        [
          [400, -32602],
          [404, -32001],
          [405, -32601],
          [500, -32603],
          [501, -32004],
        ] as const
      ).map(([status, code]): [Json, Protocol, number, Protocol, Json] => [
        restStatus(status),
        restV1,
        status,
        v03,
        rpcError({ code }),
      ]),
    ]
    for (const [answer, from, status, to, body, losses = []] of rows) {
      const place = from.binding === 'JSONRPC' ? 'response' : 'error-response'
      const translated = translate(answer, from, to, { place, status })
      expect(translated, JSON.stringify(answer)).toMatchObject({ body, losses })
    }
  })

  it('has an object or another value of 0.3 as a detail of its type', () => {
    const typesOf = (data: Json) => {
      const { body } = translate(rpcError({ code: -32001, data }), v03, v1)
      return (body as { error: { data: JsonObject[] } }).error.data.map(detail => detail['@type'])
    }
    const [info, type] = ['type.googleapis.com/google.rpc.ErrorInfo', 'type.googleapis.com/google.protobuf']
    expect([typesOf({ a: 1 }), typesOf('a'), typesOf([{ a: 1 }]), typesOf([]), typesOf(null)]).toEqual([
      ...[[info, `${type}.Struct`], [info, `${type}.Value`], [info, `${type}.Value`], [info], [info]],
    ])
  })

  it("has the agent's own status only if that speaks JSON-RPC, too", () => {
    const options = { place: 'error-response', status: 400 } as const
    expect(translate(rpcError({ code: -32602 }), v1, v03, options).status).toBe(400)
    expect(translate({ error: { code: 400, message: 'M' } }, restV1, v03, options).status).toBe(200)
  })

  it('in an event of a stream is one for the caller', () => {
    const event = { code: -32603, message: 'M' }
    expect(translate(event, restV03, restV1, { operation: 'stream', place: 'event' })).toMatchObject({
      body: { error: { code: 500, message: 'M' } },
      isError: true,
    })
  })
})

it('is null for a caller of 0.3 where an agent over HTTP+JSON deletes something, and answers without a body', () => {
  const params = { id: 't-1', pushNotificationConfigId: 'p' }
  const bridged = bridgeCall(callWith({ operation: 'deletePushConfig', version: '0.3', id: 7, params }), restV1)
  const translated = 'kind' in bridged ? bridged : bridged.translate('', 'response', 204)
  expect(translated).toMatchObject({ text: JSON.stringify(answerOf(null, v03)), status: 200 })
})

it('reports what a page of push configurations has, but not that of the caller', () => {
  const page = { configs: [], nextPageToken: 'n', kind: 'page' }
  const translatePage = (to: Protocol, more: JsonObject) => {
    const { body, losses } = translate({ ...page, ...more }, restV1, to, { operation: 'listPushConfigs' })
    return [body, losses]
  }
  expect(translatePage(v03, { next_page_token: 'm', other: 1, none: '' })).toEqual([
    answerOf([], v03),
    ['nextPageToken', '*'],
  ])
  expect(translatePage(restV03, { other: 1 })).toEqual([{ configs: [], nextPageToken: 'n', other: 1 }, ['*']])
})

it('refuses an answer that JavaScript cannot write as it was', () => {
  const bridged = bridgeCall(callWith({ operation: 'getTask', version: '0.3', id: 7, params: { id: 't' } }), restV1)
  const translated = 'kind' in bridged ? bridged : bridged.translate(`{"a":${'1'.repeat(1001)}}`, 'response', 200)
  expect(translated).toEqual({ kind: 'invalid-response', status: 200, detail: 'the body must be JSON' })
})

describe('a push configuration', () => {
  const config = { id: 'p', url: 'https://a.example' }
  const translateConfig = (answer: JsonObject, from: Protocol, to: Protocol) => {
    const { body, losses } = translate(answerOf(answer, from), from, to, { operation: 'createPushConfig' })
    return [to.binding === 'JSONRPC' ? (body as JsonObject).result : body, losses]
  }
  const inV03 = { taskId: 't-1', pushNotificationConfig: config }

  it('has the task of the call where the agent leaves it out', () => {
    expect(translateConfig(config, v1, v03)).toEqual([inV03, []])
    expect(translateConfig({ pushNotificationConfig: config }, v03, v1)).toEqual([{ ...config, taskId: 't-1' }, []])
  })

  it('has its task and id wherever 0.3 writes them over HTTP', () => {
    const own = { ...config, taskId: 't' }
    const { id: _, ...withoutId } = config
    const rows: JsonObject[] = [
      { name: 'tasks/t/pushNotificationConfigs/p', pushNotificationConfig: withoutId },
      { taskId: 't', pushNotificationConfig: config },
      { task_id: 't', configId: 'p', pushNotificationConfig: withoutId },
      { parent: 'tasks/t', config_id: 'p', config: { pushNotificationConfig: withoutId } },
      { config: { taskId: 't', pushNotificationConfig: config } },
      { taskId: 't', config: { pushNotificationConfig: config } },
    ]
    for (const row of rows) expect(translateConfig(row, restV03, v1), JSON.stringify(row)).toEqual([own, []])
  })

  it('reports what its other form does not have', () => {
    const inV1 = { ...config, taskId: 't-1' }
    const v1With = (authentication: JsonObject) => ({ ...inV1, authentication })
    const v03With = (authentication: JsonObject) => ({
      ...{ ...inV03, pushNotificationConfig: { ...config, authentication } },
    })
    const [scheme, schemes] = [{ scheme: 'Bearer' }, { schemes: ['Bearer'] }]
    const named = { name: 'tasks/a/b/pushNotificationConfigs/p', pushNotificationConfig: config }
    const rows: [JsonObject, from: Protocol, to: Protocol, expected: JsonObject, losses: string[]][] = [
      [{ ...inV1, tenant: 'x' }, v1, v03, inV03, ['tenant']],
      [{ ...config, taskId: 5 }, v1, v03, inV03, ['taskId']],
      [{ ...inV03, own: 1 }, v03, v1, inV1, ['*']],
      [{ ...inV03, config: {} }, restV03, v1, inV1, ['*']],
      [{ ...config, taskId: 'a/b' }, v1, restV03, named, ['name']],
      [v1With(scheme), v1, v03, v03With(schemes), []],
      [v1With({}), v1, v03, v03With({ schemes: [] }), []],
      [v03With(schemes), v03, v1, v1With(scheme), []],
      [v03With({ ...schemes, scheme: 'a' }), v03, v1, v1With(scheme), ['authentication.*']],
      [v1With({ ...scheme, schemes: ['a'] }), v1, v03, v03With(schemes), ['authentication.*']],
    ]
    for (const [answer, from, to, expected, losses] of rows)
      expect(translateConfig(answer, from, to), JSON.stringify(answer)).toEqual([expected, losses])
  })
})

it('reports what is beside the object of an answer', () => {
  const { message } = resultOf('send', '1.0') as { message: JsonObject }
  expect(translate(answerOf({ message, other: 1 }, v1), v1, v03).losses).toEqual(['*'])
})
