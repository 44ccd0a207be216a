import { brotliCompressSync, gzipSync } from 'node:zlib'
import { operationNames, operations } from '../../src/a2a/operations.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { resultOf } from '../../test/support/answers.ts'
import type { Random } from '../fuzz/requests.ts'
import { changeJson, changeJsonText, toBytes } from './mutate.ts'
import {
  type AgentResponse,
  asObject,
  eventValues,
  formOf,
  jsonResponse,
  type ReceivedCall,
  type Respond,
  resultValue,
  sseType,
  streamOf,
  toEvents,
  wrap,
} from './received-call.ts'

const errorValue = ({ binding, version, id }: ReceivedCall, random: Random, status: number): Json => {
  const code = random.pick([
    -32001, -32003, -32004, -32005, -32006, -32009, -40_000, -1, -32600, -32601, -32602, -32603, -32000, 1, 404,
  ])
  const extra: JsonObject = random.pick([
    {},
    {},
    { data: [{ a: 1 }] },
    { data: { stack: 'at a.js:1' } },
    { stackTrace: ['a'] },
  ])
  const error: JsonObject = { code, message: 'It failed\n    at run (/srv/agent.js:1:2)', ...extra }
  if (binding === 'JSONRPC') return { jsonrpc: '2.0', id, error }
  if (version === '0.3') return random.chance(0.5) ? error : { message: 'It failed', stack: 'at a.js:1' }
  const details = [
    { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' },
  ]
  return { error: { code: status, status: 'NOT_FOUND', message: 'It failed', ...(random.chance(0.6) && { details }) } }
}

const streamMutations: ((events: Json[], random: Random) => string)[] = [
  (events, random) =>
    toEvents(events.map((event, index) => (index === events.length - 1 ? changeJson(event, random) : event))),
  (events, random) => toEvents(events.map(event => (random.chance(0.3) ? changeJson(event, random) : event))),
  (events, random) =>
    toEvents(events.map(event => changeJsonText(JSON.stringify(event), random).replace(/[\r\n]/g, ' '))),
  events => toEvents(events).replaceAll('\n', '\r\n'),
  events => toEvents(events).replaceAll('\n', '\r'),
  events => `\ufeff${toEvents(events)}`,
  events =>
    [
      ': hello\n\nretry: 1000\n',
      ...events.map((event, id) => `id: ${id}\nevent: message\ndata:${JSON.stringify(event)}\n\n`),
      ': bye\n\n',
    ].join(''),
  events => events.map(event => JSON.stringify(event, undefined, 1).replace(/^/gm, 'data: ')).join('\n\n'),
  events => toEvents([...events, '[DONE]']),
  events => `data:\n\n${toEvents(events)}data\n\n`,
  events => toEvents(events).trimEnd(),
  events => toEvents(events.map(event => `\x1e${JSON.stringify(event)}`)),
  events => toEvents([events[0] ?? null, { jsonrpc: '2.0', id: 'foreign', result: {} }, ...events]),
  events => toEvents([{ foreign: true }, ...events]),
  events => toEvents(['not JSON', ...events]),
  () => '',
  () => ': nothing\n\n',
  (events, random) =>
    toEvents([...events, { big: 'x'.repeat(random.pick([1000, 1000, 70_000, random.chance(0.2) ? 1_100_000 : 100])) }]),
  events => JSON.stringify(events[0]),
  events => `${events.map(event => JSON.stringify(event)).join('\n')}\n`,
]

const statuses = [
  200, 201, 202, 204, 205, 206, 300, 304, 400, 401, 402, 403, 404, 405, 406, 409, 410, 413, 415, 422, 429, 500, 501,
  502, 503, 504,
]

const texts = [
  '',
  'null',
  '[]',
  '{}',
  '"text"',
  '1',
  'OK',
  '<html><body>Error</body></html>',
  '{"a":',
  '\ufeff{}',
  '\x1e{}',
  'data: {}\n\n',
  '['.repeat(5000),
]

const types = [
  ...[
    'text/plain',
    'text/plain; charset=utf-8',
    'text/html',
    'application/json; charset=utf-8',
    'application/json;charset=latin1',
  ],
  ...[
    'APPLICATION/JSON',
    'application/a2a+json',
    'application/problem+json',
    'application/x-ndjson',
    'text/event-stream',
  ],
  ...[
    'text/event-stream; charset=utf-8',
    'application/octet-stream',
    'text/json',
    'json',
    '',
    'application/json, text/plain',
  ],
]

const challenges = [
  ...[
    'Bearer',
    'Bearer realm="a", resource_metadata="https://agent.example/meta"',
    'Basic realm="http://127.0.0.1/"',
    'Digest a=b',
  ],
  ...[
    'Bearer error="invalid_token", error_description="No", authorization_uri="https://a.example", Basic realm="b"',
    '"',
    'Bearer a=,',
  ],
]

const withBody = (response: AgentResponse, change: (text: string) => string): AgentResponse => ({
  ...response,
  body: toBytes(change(Buffer.from(response.body, 'latin1').toString())),
})

const compressed = (response: AgentResponse, random: Random): AgentResponse => {
  const [encoding, encode] = random.pick<[string, (bytes: Buffer) => Buffer]>([
    ['gzip', gzipSync],
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['gzip', bytes => bytes],
    ['gzip', bytes => gzipSync(bytes).subarray(0, 30)],
    ['identity', bytes => bytes],
    ['zstd', bytes => bytes],
  ])
  const body = encode(Buffer.from(response.body, 'latin1')).toString('latin1')
  return { ...response, headers: [...response.headers, ['Content-Encoding', encoding]], body }
}

const anyResponse: Respond = (call, random, served) => {
  const isStream = operations[call.operation].streams === true
  return isStream && random.chance(0.6)
    ? streamOf(toEvents(eventValues(call)))
    : jsonResponse(resultValue(call, random, served))
}

/** Responds as a good agent does. */
export const goodResponse: Respond = (call, random, served) => {
  const isStream = operations[call.operation].streams === true
  const headers: [string, string][] = random.chance(0.1)
    ? [
        ...([['A2A-Version', call.version]] as [string, string][]),
        ...([
          ['A2A-Extensions', 'https://a.example/1'],
          ['Set-Cookie', 'a=b'],
          ['X-Own', '1'],
        ] as [string, string][]),
      ]
    : []
  if (isStream) {
    const events = eventValues(call)
    return { ...streamOf(toEvents(random.chance(0.5) ? events : events.slice(0, 1))), headers: [sseType, ...headers] }
  }
  const type = call.binding === 'HTTP+JSON' && call.version === '1.0' ? 'application/a2a+json' : 'application/json'
  const response = jsonResponse(resultValue(call, random, served))
  return {
    ...{ ...response, headers: [['Content-Type', type], ...headers] },
    framing: random.chance(0.7) ? 'length' : 'chunked',
  }
}

/** The responses that differ from what a good agent sends, each as often as it is listed. */
export const otherResponses: readonly Respond[] = [
  // Results of a wrong shape.
  ...Array<Respond>(5).fill((call, random, served) => {
    const changed = changeJson(resultValue(call, random, served), random)
    return jsonResponse(random.chance(0.7) ? changed : changeJson(changed, random))
  }),
  ...Array<Respond>(2).fill((call, random, served) =>
    withBody(jsonResponse(resultValue(call, random, served)), text => changeJsonText(text, random)),
  ),
  // Results of another operation, in another form, or without their wrapper.
  (call, random) => jsonResponse(wrap(call, resultOf(random.pick(operationNames), formOf(call)))),
  (call, random) => jsonResponse(wrap(call, resultOf(call.operation, random.pick(['0.3', '0.3 over HTTP', '1.0'])))),
  call => jsonResponse(resultOf('getTask', formOf(call))),
  call => jsonResponse(wrap(call, resultOf('getTask', formOf(call)))),
  (call, random) =>
    jsonResponse(
      wrap({ ...call, id: random.pick<Json>(['other', null, 1, '1', {}]) }, resultOf(call.operation, formOf(call))),
    ),
  // Lists with tasks of others.
  call => {
    const task = resultOf('getTask', formOf(call))
    const tasks = Array.from({ length: 60 }, (_, index) => ({
      ...asObject(task),
      id: index > 0 && index < 4 ? `t-${index}` : `of-others-${index}`,
    }))
    const list = { tasks, nextPageToken: 'next', pageSize: 50, totalSize: 60 }
    return jsonResponse(wrap(call, list))
  },
  // Errors.
  ...Array<Respond>(3).fill((call, random) => {
    const status = random.pick(call.binding === 'JSONRPC' ? [200, 200, 400, 500] : [400, 404, 409, 500, 501])
    return jsonResponse(errorValue(call, random, status), status)
  }),
  (call, random) => jsonResponse(changeJson(errorValue(call, random, 400), random), random.pick([200, 400])),
  (call, random) => ({
    ...jsonResponse({ ...asObject(resultValueOf(call)), error: random.pick<Json>([null, { code: 1, message: 'a' }]) }),
  }),
  (call, random) => {
    const response = random.chance(0.5) ? jsonResponse(errorValue(call, random, 401), 401) : textResponse(random, 401)
    const repeated = random.chance(0.3) ? 2 : 1
    const challenged = Array.from({ length: repeated }, (): [string, string] => [
      'WWW-Authenticate',
      random.pick(challenges),
    ])
    return { ...response, headers: [...response.headers, ...challenged] }
  },
  (_, random) => ({
    ...textResponse(random, random.pick([429, 503])),
    headers: [['Retry-After', random.pick(['5', 'soon', 'Sun, 06 Nov 2094 08:49:37 GMT'])]],
  }),
  // Other statuses, types and texts.
  (_, random) => textResponse(random, random.pick(statuses)),
  (call, random, served) => ({ ...anyResponse(call, random, served), status: random.pick(statuses) }),
  (_, random) => ({
    ...textResponse(random, random.pick([301, 302, 303, 307, 308])),
    headers: [['Location', random.pick(['/a', 'https://b.example/', ''])]],
  }),
  ...Array<Respond>(2).fill((call, random, served) => {
    const response = anyResponse(call, random, served)
    const type = random.pick(types)
    return { ...response, headers: type === '' ? [] : [['Content-Type', type]] }
  }),
  // Framing and compression.
  (call, random, served) => ({
    ...anyResponse(call, random, served),
    framing: random.pick(['cut', 'short', 'chunked'] as const),
  }),
  ...Array<Respond>(2).fill((call, random, served) => compressed(anyResponse(call, random, served), random)),
  (call, random, served) =>
    random.chance(0.1)
      ? withBody(anyResponse(call, random, served), text => text.padEnd(4_300_000))
      : withBody(anyResponse(call, random, served), text => text.padEnd(random.pick([20_000, 100_000]))),
  // Streams.
  ...Array<Respond>(4).fill((call, random, served) => {
    if (operations[call.operation].streams !== true) return goodResponse(call, random, served)
    const body = random.pick(streamMutations)(eventValues(call), random)
    const framing = random.pick(['chunked', 'chunked', 'chunked', 'length', 'cut'] as const)
    const cut = framing === 'cut' ? body.slice(0, random.below(body.length + 1)) : body
    return streamOf(cut, framing)
  }),
  call => streamOf(toEvents(eventValues(call))),
  (call, random) => streamOf(toEvents([errorValue(call, random, 400)])),
]

const resultValueOf = (call: ReceivedCall): Json => wrap(call, resultOf(call.operation, formOf(call)))

const textResponse = (random: Random, status: number): AgentResponse => {
  const type = random.pick(types)
  return {
    status,
    headers: type === '' ? [] : [['Content-Type', type]],
    body: toBytes(random.pick(texts)),
    framing: 'length',
  }
}
