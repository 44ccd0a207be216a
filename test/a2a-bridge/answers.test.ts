import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { specifiedErrors } from '../../src/a2a/error-catalogue.ts'
import { type OperationName, operationNames } from '../../src/a2a/operations.ts'
import { type AnswerPlace, readResult } from '../../src/a2a/results.ts'
import { translateAnswer } from '../../src/a2a-bridge/answers.ts'
import { bridgeCall } from '../../src/a2a-bridge/index.ts'
import { callBindings, isSameProtocol, type Protocol, wireVersions } from '../../src/card/model/calls.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { arbitraryJson } from '../support/a2a-objects.ts'
import { eventsOf, type ResultForm, resultOf } from '../support/answers.ts'
import { callWith } from '../support/calls.ts'

const protocols: Protocol[] = wireVersions.flatMap(version => callBindings.map(binding => ({ binding, version })))
const v1: Protocol = { binding: 'JSONRPC', version: '1.0' }
const v03: Protocol = { binding: 'JSONRPC', version: '0.3' }
const restV1: Protocol = { binding: 'HTTP+JSON', version: '1.0' }
const restV03: Protocol = { binding: 'HTTP+JSON', version: '0.3' }
const nameOf = ({ binding, version }: Protocol): string => `${binding} ${version}`

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

const formOf = ({ binding, version }: Protocol): ResultForm =>
  version === '0.3' && binding === 'HTTP+JSON' ? '0.3 over HTTP' : version

/** Returns an answer as an agent writes it. */
const answerOf = (result: Json, { binding }: Protocol): Json =>
  binding === 'JSONRPC' ? { jsonrpc: '2.0', id: 7, result } : result

const pairs = protocols.flatMap(from =>
  protocols.filter(to => !isSameProtocol(from, to)).map(to => [nameOf(from), nameOf(to), from, to] as const),
)

describe.each(pairs)('an answer over %s to a caller over %s', (_from, _to, from, to) => {
  const operations: OperationName[] = [
    ...(['send', 'stream', 'getTask', 'cancel', 'resubscribe', 'createPushConfig', 'getPushConfig'] as const),
    ...(['listPushConfigs', 'deletePushConfig'] as const),
  ]
  it.each(operations)('is what an agent of that version answers: %s', operation => {
    const expected = answerOf(resultOf(operation, formOf(to)), to)
    const translated = translate(answerOf(resultOf(operation, formOf(from)), from), from, to, { operation })
    const listed = operation === 'listPushConfigs' && from.version !== '1.0' && from.binding === 'JSONRPC'
    const { nextPageToken: _, ...withoutPages } = expected as JsonObject
    expect(translated).toMatchObject({ status: 200, isError: false, losses: [] })
    if (listed && to.binding === 'HTTP+JSON') expect(translated.body).toEqual(withoutPages)
    else if (listed) expect(translated.body).toMatchObject({ result: { configs: [expect.any(Object)] } })
    else expect(translated.body).toEqual(expected)
  })

  it('has the events that an agent of that version sends', () => {
    const translated = eventsOf(formOf(from)).map(
      event => translate(answerOf(event, from), from, to, { operation: 'stream', place: 'event' }).body,
    )
    const withFinal = eventsOf(formOf(to)).map(event => answerOf(event, to))
    expect(translated).toMatchObject(withFinal)
  })

  it.each(specifiedErrors)(
    'has the same error, and after it is translated back: $reason',
    ({ code, reason, httpStatus: status }) => {
      const errorOf = ({ binding, version }: Protocol, data?: Json): JsonObject => {
        const details = data === undefined ? {} : { data }
        if (binding === 'JSONRPC') return { jsonrpc: '2.0', id: 7, error: { code, message: 'M', ...details } }
        if (version === '0.3') return { code, message: 'M', ...details }
        return { error: { code: status, status: expect.any(String), message: 'M', details: [info] } }
      }
      const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' }
      const own = JSON.parse(JSON.stringify(errorOf(from, from.version === '1.0' ? [info] : undefined)))
      if (own.error?.status !== undefined) own.error.status = 'UNKNOWN'
      const place = from.binding === 'JSONRPC' ? 'response' : 'error-response'
      const there = translate(own, from, to, { place, status: from.binding === 'JSONRPC' ? 200 : status })
      expect(there).toEqual({
        body: errorOf(to, to.version === '1.0' ? [info] : undefined),
        status: to.binding === 'JSONRPC' ? 200 : status,
        isError: true,
        losses: [],
      })
      const back = translate(there.body, to, from, {
        place: to.binding === 'JSONRPC' ? 'response' : 'error-response',
        status: there.status,
      })
      expect(back.body).toEqual(errorOf(from, from.version === '1.0' ? [info] : undefined))
    },
  )
})

it.each<[Protocol, JsonObject, AnswerPlace]>([
  [v1, { jsonrpc: '2.0', id: 7, error: { code: -32001, message: 'M', type: 'a' } }, 'response'],
  [restV1, { error: { code: 404, status: 'NOT_FOUND', message: 'M', type: 'a' } }, 'error-response'],
])('loses the unknown members of an error: %j', (from, answer, place) => {
  const { body, losses } = translate(answer, from, v03, { place, status: 404 })
  expect([body, losses]).toEqual([{ jsonrpc: '2.0', id: 7, error: { code: -32001, message: 'M' } }, ['*']])
})

it('writes an answer that clients can read, whatever the agent sends and its check lets pass', () => {
  let passed = 0
  fc.assert(
    fc.property(
      fc.constantFrom(...operationNames.filter(name => name !== 'extendedCard')),
      arbitraryJson,
      fc.constantFrom(...pairs),
      (operation, json, [, , from, to]) => {
        if (operation === 'listTasks' && [from, to].some(({ version }) => version === '0.3')) return
        const valid = resultOf(operation, formOf(from))
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
    { numRuns: 2000 },
  )
  expect(passed).toBeGreaterThan(200)
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

  it('keeps the details of 1.0 in the data of 0.3', () => {
    const details = [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: 'TASK_NOT_FOUND',
        domain: 'x',
        metadata: { a: 'b' },
      },
      { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [] },
    ]
    const answer = { jsonrpc: '2.0', id: 7, error: { code: -32001, message: 'M', data: details } }
    const there = translate(answer, v1, v03)
    expect(there.body).toEqual(answer)
    expect(translate(there.body, v03, v1).body).toEqual(answer)
  })

  it.each<[string, Protocol, Json, number, Protocol, Json, string[]]>([
    [
      "an agent's own code",
      v03,
      { jsonrpc: '2.0', id: 7, error: { code: -32050, message: 'M' } },
      200,
      restV1,
      { error: { code: 500, status: 'INTERNAL', message: 'M' } },
      ['error.code'],
    ],
    [
      'a code that stays as it was sent',
      v1,
      { jsonrpc: '2.0', id: 7, error: { code: JSON.rawJSON('-32001.0'), message: 'M' } },
      200,
      v03,
      { jsonrpc: '2.0', id: 7, error: { code: -32001, message: 'M' } },
      [],
    ],
    [
      'a status that no code stands for',
      restV1,
      { error: { code: 503, status: 'UNAVAILABLE', message: 'M' } },
      503,
      v1,
      { jsonrpc: '2.0', id: 7, error: { code: -32603, message: 'M' } },
      ['error.status'],
    ],
    [
      'such a status for a caller who gets it, too',
      restV1,
      { error: { code: 503, status: 'UNAVAILABLE', message: 'M' } },
      503,
      restV03,
      { code: -32603, message: 'M' },
      [],
    ],
    [
      'a status without a reason',
      restV1,
      { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'M' } },
      400,
      v03,
      { jsonrpc: '2.0', id: 7, error: { code: -32602, message: 'M' } },
      [],
    ],
    [
      'only a message',
      restV03,
      { message: 'M' },
      404,
      restV1,
      {
        error: {
          code: 404,
          status: 'NOT_FOUND',
          message: 'M',
          details: [expect.objectContaining({ reason: 'TASK_NOT_FOUND' })],
        },
      },
      [],
    ],
  ])('is translated as far as it can be: %s', (_, from, answer, status, to, body, losses) => {
    const place = from.binding === 'JSONRPC' ? 'response' : 'error-response'
    expect(translate(answer, from, to, { place, status })).toMatchObject({ body, losses })
  })

  it.each([
    [v1, { jsonrpc: '2.0', id: 7, error: { code: -32602, message: 'M' } }, 400],
    [restV1, { error: { code: 400, message: 'M' } }, 200],
  ])("has the agent's own status only if that speaks JSON-RPC, too: %j", (from, answer, expected) => {
    expect(translate(answer, from, v03, { place: 'error-response', status: 400 }).status).toBe(expected)
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

it.each([
  [v03, answerOf([], v03), ['nextPageToken', '*']],
  [restV03, { configs: [], nextPageToken: 'n', other: 1 }, ['*']],
])('reports what a page of push configurations has, but not that of the caller: %j', (to, body, losses) => {
  const page = { configs: [], nextPageToken: 'n', kind: 'page', ...(to === restV03 && { other: 1 }) }
  const translated = translate(page, restV1, to, { operation: 'listPushConfigs' })
  expect([translated.body, translated.losses]).toEqual([body, losses])
})

it('has the task of the call where the agent leaves it out of a push configuration', () => {
  const config = { id: 'p', url: 'https://a.example' }
  expect(translate(answerOf(config, v1), v1, v03, { operation: 'createPushConfig' }).body).toEqual(
    answerOf({ taskId: 't-1', pushNotificationConfig: config }, v03),
  )
})

it('reports what is beside the object of an answer', () => {
  const { message } = resultOf('send', '1.0') as { message: JsonObject }
  expect(translate(answerOf({ message, other: 1 }, v1), v1, v03).losses).toEqual(['*'])
})
