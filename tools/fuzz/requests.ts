import { type Json, type JsonObject, jsonEntries } from '../../src/json/json.ts'
import { completeCards } from '../../test/support/cards/complete.ts'
import { hostilePieces, mapStrings, repeatTo, stringPaths } from '../../test/support/hostile.ts'
import { type RequestSample, requestSamples } from '../../test/support/request-samples.ts'

/** A request as it is sent: `body` may be any bytes, and `cut` sends only a part of it before the connection ends. */
export type FuzzRequest = {
  method: string
  path: string
  headers: [name: string, value: string][]
  body?: Buffer
  cut?: number
}

/** A source of random choices that a seed repeats. */
export type Random = {
  below: (limit: number) => number
  chance: (probability: number) => boolean
  pick: <Item>(items: readonly Item[]) => Item
}

/** Creates a source of random choices (mulberry32). */
export const createRandom = (seed: number): Random => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    below,
    chance: probability => next() < probability,
    pick: items => items[below(items.length)] as (typeof items)[number],
  }
}

/** Makes one request: a valid one to any endpoint, with a few random changes. */
export const makeRequest = (random: Random): FuzzRequest => {
  const sample = structuredClone(random.pick(samples))
  for (let changes = random.below(4); changes > 0; changes--) changeSample(sample, random)
  const request = write(sample, random)
  for (let changes = random.chance(0.3) ? 1 + random.below(2) : 0; changes > 0; changes--) changeBytes(request, random)
  return request
}

const registrations: RequestSample[] = Object.values(completeCards).flatMap(card => [
  { method: 'POST', path: ['lint'], body: card },
  {
    method: 'PUT',
    path: ['agents', 'other'],
    headers: requestSamples['a registration']?.headers ?? {},
    body: { card, route: 'gateway', hosts: ['other.example'], upstream: { url: 'https://upstream.example/a2a' } },
  },
])

const samples: readonly RequestSample[] = [
  ...Object.values(requestSamples),
  ...Object.values(requestSamples),
  ...registrations,
  { path: ['.well-known', 'agent-card.json'], query: { dialect: 'telex' } },
  { path: ['.well-known', 'a2a', 'agents'] },
  { path: ['agents', 'other', 'manifest'], headers: requestSamples['a list']?.headers ?? {} },
  { path: ['agents', 'other', 'source'], headers: requestSamples['a list']?.headers ?? {} },
  { method: 'POST', path: ['agents', 'other', 'refresh'], headers: requestSamples['a list']?.headers ?? {} },
  { method: 'DELETE', path: ['agents', 'other'], headers: requestSamples['a list']?.headers ?? {} },
  { path: ['tokens'], headers: requestSamples['a list']?.headers ?? {} },
  { method: 'DELETE', path: ['agents', 'echo', 'tasks'], headers: requestSamples['a list']?.headers ?? {} },
  { method: 'DELETE', path: ['tokens', 'aaaaaaaaaaaa'], headers: requestSamples['a list']?.headers ?? {} },
]

const MAX_LONG_TEXT = 20_000
const MAX_SHORT_TEXT = 40

const hostileText = (random: Random, isLong = random.chance(0.2)): string =>
  repeatTo(random.pick(hostilePieces), 1 + random.below(isLong ? MAX_LONG_TEXT : MAX_SHORT_TEXT))

const methodNames = [
  ...['SendMessage', 'SendStreamingMessage', 'GetTask', 'ListTasks', 'CancelTask', 'SubscribeToTask'],
  ...['message/send', 'message/stream', 'tasks/get', 'tasks/cancel', 'tasks/resubscribe', 'tasks/list'],
  ...['tasks/pushNotificationConfig/set', 'CreateTaskPushNotificationConfig', 'agents/get', 'agents/list'],
  ...['agent/getAuthenticatedExtendedCard', 'GetExtendedAgentCard', 'agent/extendedCard', 'toString', '__proto__', ''],
]

const words = [
  ...['0.3', '1.0', '0.2.5', '2', '-1', '1e400', 'true', 'null', 'NaN', '*', '*/*', 'text', 'application/json', '..'],
  ...['https://127.0.0.1/', 'http://[::1]/', 'https://a.example#@127.0.0.1/', 'ftp://a', 'javascript:alert(1)', '//a'],
  ...[
    'echo',
    'other',
    'Weather',
    'constructor',
    'hasOwnProperty',
    '\ud800',
    '\u0000',
    '\u202e',
    'W/"',
    'Bearer',
    'Basic YTpi',
  ],
  ...methodNames,
]

const MAX_DEPTH = 3

const randomValue = (random: Random, depth = 0): Json => {
  const simple: (() => Json)[] = [
    () => null,
    () => random.chance(0.5),
    () => random.pick([0, -0, 1, -1, 1.5, 2 ** 53, 1e300, -1e-300]),
    () => random.pick(words),
    () => (depth === 0 ? hostileText(random) : hostileText(random, false)),
  ]
  if (depth > MAX_DEPTH || random.chance(0.6)) return random.pick(simple)()
  // A long list has no lists in it.
  const isLong = depth === 0 && random.chance(0.1)
  const count = random.below(isLong ? 1500 : 4)
  const items = Array.from({ length: count }, () => randomValue(random, isLong ? MAX_DEPTH + 1 : depth + 1))
  return random.chance(0.5) ? items : Object.fromEntries(items.map((item, index) => [random.pick(names(index)), item]))
}

const names = (index: number): string[] => [
  ...['__proto__', 'constructor', 'toJSON', '', 'id', 'url', 'text', 'parts', 'Parts', 'message', 'skills', 'config'],
  ...['kind', 'mediaType', 'securitySchemes', 'tenant', 'metadata', 'pushNotificationConfig', `x${index}`],
]

/** Changes one place of a sample: a string of any part, or a member or item of the body. */
const changeSample = (sample: RequestSample, random: Random): void => {
  if (sample.body !== undefined && random.chance(0.5)) {
    sample.body = changeValue(sample.body, random)
    return
  }
  const place = random.pick(stringPaths(sample as Json).filter(each => each !== 'method'))
  const text = random.chance(0.5) ? random.pick(words) : hostileText(random)
  const append = random.chance(0.5)
  const changed = mapStrings(sample as Json, (value, path) =>
    path.join('/') === place ? (append ? value + text : text) : value,
  )
  Object.assign(sample, changed)
}

/** Returns a value in which a random member or item is another one, has another name, is gone, or is repeated. */
const changeValue = (value: Json, random: Random): Json => {
  if (typeof value !== 'object' || value === null || random.chance(0.15)) return randomValue(random)
  if (Array.isArray(value)) {
    if (value.length === 0) return [randomValue(random)]
    const at = random.below(value.length)
    const repeated = random.chance(0.1) ? Array<Json>(random.below(600)).fill(value[at] ?? null) : []
    return [...value.map((item, index) => (index === at ? changeValue(item, random) : item)), ...repeated]
  }
  const entries = jsonEntries(value)
  const at = random.below(entries.length + 1)
  const [name, inner] = entries[at] ?? [random.pick(names(at)), null]
  const rest = entries.filter((_, index) => index !== at)
  const changes: (() => [string, Json][])[] = [
    () => [...rest, [name, changeValue(inner, random)]],
    () => [...rest, [name, changeValue(inner, random)]],
    () => [...rest, [name, randomValue(random)]],
    () => [...rest, [random.chance(0.5) ? name.toUpperCase() : random.pick(names(at)), inner]],
    () => [...rest, [name, inner], [random.pick(names(at)), randomValue(random)]],
    () => rest,
  ]
  return Object.fromEntries(random.pick(changes)()) as JsonObject
}

const write = (
  { method = 'GET', path, query = {}, headers = {}, body }: RequestSample,
  random: Random,
): FuzzRequest => {
  const encode = (text: string): string =>
    random.chance(0.5) ? encodeURIComponent(text.toWellFormed()) : encodeUnsafe(text)
  const search = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(String(value))}`)
  const all = { 'Content-Type': 'application/json', ...headers }
  return {
    method: random.chance(0.05) ? random.pick(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) : method,
    path: `/${path.map(segment => (random.chance(0.1) ? encode(String(segment)) : encodeUnsafe(String(segment)))).join('/')}${search.length > 0 ? `?${search.join('&')}` : ''}`.slice(
      0,
      12_000,
    ),
    headers: Object.entries(all).map(([name, value]) => [name, toHeader(String(value))]),
    ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
  }
}

/** Escapes what an HTTP client cannot send in a path or the runtime itself refuses there, and leaves the rest as it is. */
const encodeUnsafe = (text: string): string =>
  text.toWellFormed().replace(/[^!#-;=?-~]/gu, character => encodeURIComponent(character))

const toHeader = (text: string): string =>
  text
    .replace(/[^\t\x20-\x7e\x80-\xff]/g, '?')
    .trim()
    .slice(0, 12_000)

const rawBodies = [
  '',
  '{',
  '[[',
  '"',
  '\ufeff{}',
  '{"a":1,"a":2}',
  '[]',
  'null',
  '['.repeat(100_000),
  '{"a":'.repeat(20_000),
]

/** Changes what is sent below JSON: headers, bytes of the body, where the connection ends. */
const changeBytes = (request: FuzzRequest, random: Random): void => {
  const { body } = request
  const changes: (() => void)[] = [
    () =>
      void request.headers.push([
        random.pick(headerNames),
        toHeader(random.chance(0.5) ? random.pick(words) : hostileText(random)),
      ]),
    () => {
      request.headers = request.headers.filter(() => random.chance(0.5))
    },
    () => {
      request.body = Buffer.from(random.pick(rawBodies))
    },
    () => {
      if (body) request.body = body.subarray(0, random.below(body.length + 1))
    },
    () => {
      if (body?.length) body[random.below(body.length)] = random.below(256)
    },
    () => {
      if (body?.length) request.cut = random.below(body.length)
    },
  ]
  random.pick(changes)()
}

const headerNames = [
  ...[
    'Accept',
    'A2A-Version',
    'A2A-Extensions',
    'X-A2A-Extensions',
    'Authorization',
    'Content-Encoding',
    'Content-Type',
  ],
  ...['Cookie', 'If-Match', 'If-None-Match', 'If-Modified-Since', 'Origin', 'Range', 'Via', 'X-API-Key', 'traceparent'],
  ...['X-Forwarded-For', 'CF-Connecting-IP', 'Last-Event-ID', 'User-Agent', 'tracestate'],
]
