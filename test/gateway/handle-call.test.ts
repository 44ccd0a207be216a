import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Handler } from '../../src/http/handler.ts'

const ctx = {
  waitUntil: () => undefined,
  exports: { Catalog: () => ({ fetch: async () => Response.json({ agents: [] }) }) },
} as unknown as ExecutionContext

/** The requests to KV, the Registry and the rate limits in their order, and how these respond. */
let requests: string[]
let isLimited: boolean
let readStorage: () => Promise<unknown>
let env: Env
let errors: typeof import('../../src/http/errors.ts')
let handlers: Pick<typeof import('../../src/api/compat/shaman.ts'), 'namedCard'> &
  Pick<typeof import('../../src/gateway/index.ts'), 'agentCall' | 'hostCall' | 'namedCall'> &
  Omit<typeof import('../../src/gateway/rest-binding.ts'), 'RestCall'> &
  typeof import('../../src/api/compat/superx.ts')
beforeEach(async () => {
  for (const level of ['info', 'error'] as const) vi.spyOn(console, level).mockImplementation(() => undefined)
  vi.resetModules()
  errors = await import('../../src/http/errors.ts')
  const { namedCard } = await import('../../src/api/compat/shaman.ts')
  handlers = {
    ...(await import('../../src/gateway/index.ts')),
    ...(await import('../../src/gateway/rest-binding.ts')),
    ...(await import('../../src/api/compat/superx.ts')),
    namedCard,
  }
  requests = []
  isLimited = false
  readStorage = async () => ({ value: null, metadata: null })
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
  env = {
    ADMIN_TOKEN: 'the-long-admin-token',
    ROOT_AGENT: '',
    CARDS: { getWithMetadata: read, get: (key: string) => read(key).then(() => null) },
    CALL_LIMIT: limit('calls'),
    AUTH_LIMIT: limit('failures'),
    REGISTRY: {
      getByName: () => ({
        namedAgents: async (name: string) => {
          requests.push(`registry ${name}`)
          return readStorage().then(() => ({ public: name === 'shown' ? name : null, internal: [] }))
        },
      }),
    },
  } as unknown as Env
})

const request = (
  path: string,
  body: string | undefined,
  { method = 'POST', ...headers }: Record<string, string> = {},
) => {
  return new Request(`https://host.example${path}`, {
    method,
    headers: {
      'Content-Type': 'application/json',
      'CF-Connecting-IP': '192.0.2.1',
      ...(body !== undefined && { 'Content-Length': String(body.length) }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  })
}
/** The parameters of the paths that these tests request. */
const paramsOf = ({ url }: Request) => {
  const segments = new URL(url).pathname.split('/')
  return { id: segments[2] ?? '', name: segments.at(-1) ?? '' }
}
const send = async (handler: keyof typeof handlers, ...parameters: Parameters<typeof request>) => {
  const response = await handle(handlers[handler], request(...parameters))
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text && JSON.parse(text) }
}
/** Handles errors as the router does. */
const handle = async (handler: Handler, incoming: Request): Promise<Response> => {
  try {
    return await handler(incoming, env, ctx, paramsOf(incoming))
  } catch (error) {
    return errors.toErrorResponse(error)
  }
}
const call = (params: object = {}) => JSON.stringify({ jsonrpc: '2.0', id: 'mine', method: 'SendMessage', params })
const superx = (method: string) => JSON.stringify({ jsonrpc: '2.0', id: 'mine', method, params: { id: 'a' } })
const large = call({ text: 'x'.repeat(100_000) })

const callsOfEveryKind: [string, keyof typeof handlers, ...Parameters<typeof request>][] = [
  ['a call of an agent', 'agentCall', '/agents/a/a2a', call()],
  ['a call by the host name', 'hostCall', '/a2a', call()],
  ['a call by a tenant', 'hostCall', '/a2a', call({ tenant: 'a' })],
  ['a call by a name', 'namedCall', '/a2a/v1', call({ agentName: 'A' })],
  ["SuperX's agents/get", 'handleSuperxRpc', '/rpc', superx('agents/get')],
  ["SuperX's agents/list", 'handleSuperxRpc', '/rpc', superx('agents/list')],
  ["SuperX's agents/refreshCard", 'handleSuperxRpc', '/rpc', superx('agents/refreshCard')],
  ['invalid JSON', 'agentCall', '/agents/a/a2a', '{'],
  ['invalid JSON, by the host name', 'hostCall', '/a2a', '{'],
  ['a call without a name', 'namedCall', '/a2a/v1', call()],
  ['a body that is too large', 'hostCall', '/a2a', 'x'.repeat(5_000_000)],
  ['an HTTP+JSON call', 'restCall', '/agents/a/a2a/message:send', '{}'],
  ['an unknown path', 'restCall', '/agents/a/a2a/nothing', '{}'],
  ['a method that the path does not allow', 'restCall', '/agents/a/a2a/tasks', '{}'],
]

describe('the rate limit of calls', () => {
  it.each(callsOfEveryKind)('counts %s once', async (_, ...parameters) => {
    await send(...parameters)
    expect(requests.filter(entry => entry.startsWith('calls'))).toEqual(['calls 192.0.2.1'])
  })

  it.each(callsOfEveryKind)(
    'is applied before the Registry and the host name are looked up: %s',
    async (_, ...parameters) => {
      isLimited = true
      expect((await send(...parameters)).status).toBe(429)
      expect(requests.filter(entry => /registry|kv host:/.test(entry))).toEqual([])
    },
  )

  it('spares the look-up of an agent for an address past it', async () => {
    isLimited = true
    await send('agentCall', '/agents/first/a2a', call())
    requests = []
    const { status } = await send('agentCall', '/agents/second/a2a', call())
    expect([status, requests]).toEqual([429, ['calls 192.0.2.1']])
    isLimited = false
    requests = []
    await send('agentCall', '/agents/third/a2a', call())
    expect(requests).toContain('kv card:third')
    expect(requests.filter(entry => entry.startsWith('calls'))).toHaveLength(1)
  })

  it('returns the id of a small call, and null for a large one', async () => {
    isLimited = true
    const ids = [(await send('hostCall', '/a2a', call())).body.id, (await send('hostCall', '/a2a', large)).body.id]
    expect(ids).toEqual(['mine', null])
  })
})

describe('a card requested by name', () => {
  const get = (name: string, headers: Record<string, string> = {}) =>
    send('namedCard', `/a2a/v1/agents/${name}`, undefined, { method: 'GET', ...headers })
  const countedCalls = () => requests.filter(entry => entry.startsWith('calls'))

  it('counts as a call if the Registry is queried, and not while the name is cached', async () => {
    const statuses = [await get('A'), await get('a'), await get('B')].map(({ status }) => status)
    expect([statuses, countedCalls(), requests.filter(entry => entry.startsWith('registry'))]).toEqual([
      [404, 404, 404],
      ['calls 192.0.2.1', 'calls 192.0.2.1'],
      ['registry a', 'registry b'],
    ])
  })

  it('returns 429 past the limit before the Registry is queried, unless the name is cached', async () => {
    await get('known')
    isLimited = true
    const { status, headers, body } = await get('unknown')
    expect([status, headers.get('retry-after'), headers.get('cache-control'), body.code]).toEqual([
      429,
      '60',
      'no-store',
      'too-many-requests',
    ])
    expect([(await get('known')).status, requests.filter(entry => entry.startsWith('registry'))]).toEqual([
      404,
      ['registry known'],
    ])
  })

  it('counts invalid credentials once', async () => {
    await get('shown', { Authorization: 'Bearer cc_x' })
    expect(requests).toContain('kv card:shown')
    expect(requests.filter(entry => entry.startsWith('failures'))).toEqual(['failures 192.0.2.1'])
  })
})

describe('invalid credentials', () => {
  it.each(callsOfEveryKind)('are counted once, before anything else: %s', async (_, handler, path, body) => {
    await send(handler, path, body, { Authorization: 'Bearer cc_x' })
    expect([requests[0], requests.filter(entry => entry.startsWith('failures'))]).toEqual([
      'failures 192.0.2.1',
      ['failures 192.0.2.1'],
    ])
  })
})

describe('without KV and the Registry', () => {
  it.each([
    ...callsOfEveryKind.slice(0, 5),
    ['an HTTP+JSON call', 'restCall', '/agents/a/a2a/message:send', '{}'] as (typeof callsOfEveryKind)[number],
  ])('the response is 503 with Retry-After: %s', async (_, ...parameters) => {
    readStorage = () => Promise.reject(new Error('away'))
    const message = 'This host cannot look up its agents right now. Try again in a moment.'
    const { status, headers, body } = await send(...parameters)
    expect([status, headers.get('retry-after')]).toEqual([503, '10'])
    expect(body).toEqual(
      parameters[0] === 'restCall'
        ? { error: expect.objectContaining({ code: 503, message }) }
        : { jsonrpc: '2.0', id: 'mine', error: expect.objectContaining({ code: expect.any(Number), message }) },
    )
  })
})

describe('a client that disconnects while it sends the body', () => {
  it.each([
    ['agentCall', '/agents/a/a2a'],
    ['hostCall', '/a2a'],
    ['namedCall', '/a2a/v1'],
  ] as const)('is logged as an aborted call: %s', async (handler, path) => {
    const broken = request(path, '{}')
    vi.spyOn(broken, 'text').mockRejectedValue(new Error('Network connection lost.'))
    const response = await handlers[handler](broken, env, ctx, paramsOf(broken))
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { jsonrpc: '2.0', id: null, error: { code: -32600, data: { reason: 'REQUEST_ABORTED' } } },
    ])
    expect(console.info).toHaveBeenCalledWith(expect.stringContaining('"error.type":"aborted"'))
  })
})

describe('HTTP+JSON with another method', () => {
  it.each([
    [
      'DELETE',
      '/agents/a/a2a/message:send',
      'POST',
      { error: expect.objectContaining({ code: 405, status: 'UNIMPLEMENTED' }) },
    ],
    ['POST', '/agents/a/a2a/tasks', 'GET', { error: expect.objectContaining({ code: 405 }) }],
    ['HEAD', '/agents/a/a2a/tasks', 'GET', { error: expect.objectContaining({ code: 405 }) }],
    ['DELETE', '/agents/a/a2a/v1/message:send', 'POST', expect.objectContaining({ code: -32601 })],
  ])('%s %s returns 405 in the form of its version, and is logged', async (method, path, allow, expected) => {
    const { status, headers, body } = await send('restCall', path, undefined, { method })
    expect([status, headers.get('allow'), body]).toEqual([405, allow, expected])
    expect(console.info).toHaveBeenCalledWith(expect.stringContaining('"error.type":"http-method"'))
  })

  it('HEAD of an extended card responds as GET', async () => {
    const parameters = ['/agents/a/a2a/extendedAgentCard', undefined] as const
    const [head, get] = [
      await send('restCall', ...parameters, { method: 'HEAD' }),
      await send('restCall', ...parameters, { method: 'GET' }),
    ]
    expect([head.status, head.body]).toEqual([get.status, get.body])
  })
})
