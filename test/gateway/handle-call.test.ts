import { beforeEach, describe, expect, it, vi } from 'vitest'
import { getNamedCard } from '../../src/api/compat/shaman.ts'
import { callSuperx } from '../../src/api/compat/superx.ts'
import { agentCall, hostCall, namedCall, restCall } from '../../src/gateway/index.ts'
import { JsonRpcExchange } from '../../src/gateway/receive/index.ts'
import { toErrorResponse } from '../../src/http/error-response.ts'
import type { Handler } from '../../src/http/handler.ts'
import { gateWith, messageV03 } from '../support/calls.ts'

const handlers = { getNamedCard, callSuperx, agentCall, hostCall, namedCall, restCall }

const ctx = {
  waitUntil: () => undefined,
  exports: { Catalog: () => ({ fetch: async () => Response.json({ agents: [] }) }) },
} as unknown as ExecutionContext

/** The requests to KV, the Registry and the rate limits in their order, and how these respond. */
let requests: string[]
let isLimited: boolean
let readStorage: () => Promise<unknown>
/** Unique to what is in memory: it is part of host, agent and address. */
let unique = 0
const renew = () => {
  unique++
  requests = []
  isLimited = false
  readStorage = async () => ({ value: null, metadata: null })
}
beforeEach(() => {
  for (const level of ['info', 'error'] as const) vi.spyOn(console, level).mockImplementation(() => undefined)
  renew()
})

const address = () => `192.0.2.${unique}`
const read = (key: string) => {
  requests.push(`kv ${key}`)
  return readStorage()
}
const limit = (name: string) => ({
  limit: async ({ key }: { key: string }) => {
    requests.push(`${name} ${key}`)
    return { success: !isLimited }
  },
})
const namedAgents = async (name: string) => {
  requests.push(`registry ${name}`)
  await readStorage()
  return { public: name.startsWith('shown') ? name : null, internal: [] }
}
const env = {
  ADMIN_TOKEN: 'the-long-admin-token',
  ROOT_AGENT: '',
  CARDS: { getWithMetadata: read },
  CALL_LIMIT: limit('calls'),
  AUTH_LIMIT: limit('failures'),
  REGISTRY: { getByName: () => ({ namedAgents, recordRefusal: async () => undefined }) },
} as unknown as Env

type Sent = [handler: keyof typeof handlers, path: string, body?: string | undefined, init?: Record<string, string>]

const requestOf = (path: string, body?: string, { method = 'POST', ...headers }: Record<string, string> = {}) =>
  new Request(`https://host${unique}.example${path}`, {
    method,
    headers: {
      ...{ 'Content-Type': 'application/json', 'CF-Connecting-IP': address() },
      ...(body !== undefined && { 'Content-Length': String(body.length) }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  })
/** Handles a request, and errors as the router does. */
const handle = async (handler: Handler, incoming: Request): Promise<Response> => {
  const segments = new URL(incoming.url).pathname.split('/')
  const params = { id: segments[2] ?? '', name: segments.at(-1) ?? '' }
  try {
    return await handler(incoming, env, ctx, params)
  } catch (error) {
    return toErrorResponse(error)
  }
}
const send = async (...[handler, path, body, init]: Sent) => {
  const response = await handle(handlers[handler], requestOf(path, body, init))
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text && JSON.parse(text) }
}
const requestsTo = (name: string) => requests.filter(entry => entry.startsWith(name))

const call = (params: object = {}) => JSON.stringify({ jsonrpc: '2.0', id: 'mine', method: 'SendMessage', params })
const superx = (method: string) => JSON.stringify({ jsonrpc: '2.0', id: 'mine', method, params: { id: `a${unique}` } })

const callsOfEveryKind = (): Sent[] => {
  const path = `/agents/a${unique}/a2a`
  return [
    ['agentCall', path, call()],
    ['hostCall', '/a2a', call()],
    ['hostCall', '/a2a', call({ tenant: `a${unique}` })],
    ['namedCall', '/a2a/v1', call({ agentName: `A${unique}` })],
    ['callSuperx', '/rpc', superx('agents/get')],
    ['restCall', `${path}/message:send`, '{}'],
    ['callSuperx', '/rpc', superx('agents/list')],
    ['callSuperx', '/rpc', superx('agents/refreshCard')],
    ['hostCall', '/a2a', '{'],
    ['namedCall', '/a2a/v1', call()],
    ['restCall', `${path}/nothing`, '{}'],
    ['restCall', `${path}/tasks`, '{}'],
  ]
}
/** Calls back for each kind of call, with nothing in memory. */
const forEachKind = async (check: (sent: Sent, name: string) => Promise<void>, kinds = callsOfEveryKind().length) => {
  for (let kind = 0; kind < kinds; kind++) {
    renew()
    const sent = callsOfEveryKind()[kind] as Sent
    await check(sent, sent.join(' ').slice(0, 99))
  }
}

describe('the rate limit of calls', () => {
  it('counts each call once', () =>
    forEachKind(async (sent, name) => {
      await send(...sent)
      expect(requestsTo('calls'), name).toEqual([`calls ${address()}`])
    }))

  it('is applied before the Registry and the host name are looked up', () =>
    forEachKind(async (sent, name) => {
      isLimited = true
      expect((await send(...sent)).status, name).toBe(429)
      expect([...requestsTo('registry'), ...requestsTo('kv host:')], name).toEqual([])
    }))

  it('spares the look-up of an agent for an address past it', async () => {
    isLimited = true
    await send('agentCall', '/agents/first-handled/a2a', call())
    requests = []
    const { status } = await send('agentCall', '/agents/second-handled/a2a', call())
    expect([status, requests]).toEqual([429, [`calls ${address()}`]])
    isLimited = false
    await send('agentCall', '/agents/third-handled/a2a', call())
    expect(requests).toContain('kv card:third-handled')
  })

  it('returns the id of a small call, and null for a large one', async () => {
    isLimited = true
    const large = call({ text: 'x'.repeat(100_000) })
    const ids = [(await send('hostCall', '/a2a', call())).body.id, (await send('hostCall', '/a2a', large)).body.id]
    expect(ids).toEqual(['mine', null])
  })
})

describe('a card requested by name', () => {
  const get = (name: string, headers: Record<string, string> = {}) =>
    send('getNamedCard', `/a2a/v1/agents/${name}`, undefined, { method: 'GET', ...headers })

  it('counts as a call, and queries the Registry only while the name is not cached', async () => {
    const statuses = [await get('Card-A'), await get('card-a'), await get('Card-B')].map(({ status }) => status)
    expect([statuses, requestsTo('calls'), requestsTo('registry')]).toEqual([
      [404, 404, 404],
      [`calls ${address()}`, `calls ${address()}`, `calls ${address()}`],
      ['registry card-a', 'registry card-b'],
    ])
  })

  it('returns 429 past the limit before the Registry is queried', async () => {
    isLimited = true
    const { status, headers, body } = await get('unknown-card')
    expect([status, headers.get('retry-after'), body.code]).toEqual([429, '60', 'too-many-requests'])
    expect(requestsTo('registry')).toEqual([])
  })

  it('counts invalid credentials once', async () => {
    await get('shown-card', { Authorization: 'Bearer cc_x' })
    expect(requests).toContain('kv card:shown-card')
    expect(requestsTo('failures')).toEqual([`failures ${address()}`])
  })

  it('counts as a call without a token after too many failed attempts, which are the reason of a refusal', async () => {
    const invalid = { Authorization: 'Bearer cc_x' }
    isLimited = true
    await get('hidden-card', invalid)
    isLimited = false
    requests = []
    const { status, body } = await get('hidden-card', invalid)
    expect([status, body.code, requestsTo('calls')]).toEqual([429, 'too-many-attempts', [`calls ${address()}`]])
  })
})

it('counts invalid credentials once, before anything else', () =>
  forEachKind(async ([handler, path, body], name) => {
    await send(handler, path, body, { Authorization: 'Bearer cc_x' })
    expect([requests[0], requestsTo('failures')], name).toEqual([`failures ${address()}`, [`failures ${address()}`]])
  }))

it('returns 503 with Retry-After without KV and the Registry', () =>
  forEachKind(async (sent, name) => {
    readStorage = () => Promise.reject(new Error('away'))
    const message = 'This host cannot look up its agents right now. Try again in a moment.'
    const { status, headers, body } = await send(...sent)
    expect([status, headers.get('retry-after')], name).toEqual([503, '10'])
    const error = sent[0] === 'restCall' ? { code: 503, message } : { code: expect.any(Number), message }
    expect(body, name).toMatchObject(sent[0] === 'restCall' ? { error } : { jsonrpc: '2.0', id: 'mine', error })
  }, 6))

it('logs a client that disconnects while it sends the body as an aborted call', async () => {
  const broken = requestOf('/a2a', '{}')
  vi.spyOn(broken, 'text').mockRejectedValue(new Error('Network connection lost.'))
  const response = await handle(hostCall, broken)
  const error = { code: -32600, data: { reason: 'REQUEST_ABORTED' } }
  expect([response.status, await response.json()]).toMatchObject([400, { jsonrpc: '2.0', id: null, error }])
  expect(console.info).toHaveBeenCalledWith(expect.stringContaining('"error.type":"aborted"'))
})

// As a2aproject/a2a-tck sends them.
it('rejects a call without an id, whose wrong parameters are reported first', async () => {
  for (const [params, kind] of [
    [messageV03(), 'not-a-request'],
    [{ '': 'not_a_dict' }, 'invalid-params'],
  ] as const) {
    const body = JSON.stringify({ jsonrpc: '2.0', method: 'message/send', params })
    const exchange = new JsonRpcExchange(requestOf('/agents/a/a2a', body), env, ctx, { id: 'a', named: 'a' })
    expect(exchange.parseBody(await exchange.readBody())).toBeUndefined()
    expect(exchange.parse(gateWith())).toMatchObject({ kind })
  }
})

it('returns 405 for another method over HTTP+JSON, in the form of its version, and logs it', async () => {
  for (const [method, path, allow, expected] of [
    ['DELETE', 'message:send', 'POST', { error: { code: 405, status: 'UNIMPLEMENTED' } }],
    ['HEAD', 'tasks', 'GET', { error: { code: 405 } }],
    ['DELETE', 'v1/message:send', 'POST', { code: -32601 }],
  ] as const) {
    vi.mocked(console.info).mockClear()
    const { status, headers, body } = await send('restCall', `/agents/a/a2a/${path}`, undefined, { method })
    expect([status, headers.get('allow')], path).toEqual([405, allow])
    expect(body, path).toMatchObject(expected)
    expect(console.info).toHaveBeenCalledWith(expect.stringContaining('"error.type":"http-method"'))
  }
})
