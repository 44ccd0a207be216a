import { timingSafeEqual } from 'node:crypto'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Handler } from '../../src/http/handler.ts'

const ctx = {
  waitUntil: () => undefined,
  exports: { Catalog: () => ({ fetch: async () => Response.json({ agents: [] }) }) },
} as unknown as ExecutionContext

/** What was asked of the platform, in order; and what it says. */
let asked: string[]
let limited: boolean
let kv: () => Promise<unknown>
let env: Env
let errors: typeof import('../../src/http/errors.ts')
let calls: Pick<typeof import('../../src/api/compat/shaman.ts'), 'namedCard'> &
  Pick<typeof import('../../src/gateway/index.ts'), 'agentCall' | 'hostCall' | 'namedCall'> &
  typeof import('../../src/gateway/rest-binding.ts') &
  typeof import('../../src/api/compat/superx.ts')
beforeEach(async () => {
  Object.assign(crypto.subtle, {
    timingSafeEqual: (left: ArrayBuffer, right: ArrayBuffer) => timingSafeEqual(Buffer.from(left), Buffer.from(right)),
  })
  for (const level of ['info', 'error'] as const) vi.spyOn(console, level).mockImplementation(() => undefined)
  vi.resetModules()
  errors = await import('../../src/http/errors.ts')
  const { namedCard } = await import('../../src/api/compat/shaman.ts')
  calls = {
    ...(await import('../../src/gateway/index.ts')),
    ...(await import('../../src/gateway/rest-binding.ts')),
    ...(await import('../../src/api/compat/superx.ts')),
    namedCard,
  }
  asked = []
  limited = false
  kv = async () => ({ value: null, metadata: null })
  const read = (key: string) => {
    asked.push(`kv ${key}`)
    return kv()
  }
  const limit = (name: string) => ({
    limit: async ({ key }: { key: string }) => {
      asked.push(`${name} ${key}`)
      return { success: !limited }
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
          asked.push(`registry ${name}`)
          return kv().then(() => ({ public: name === 'shown' ? name : null, internal: [] }))
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
  const made = new Request(`https://host.example${path}`, {
    method,
    headers: {
      'Content-Type': 'application/json',
      'CF-Connecting-IP': '192.0.2.1',
      ...(body !== undefined && { 'Content-Length': String(body.length) }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  })
  return Object.assign(made, {
    params: { id: path.split('/')[2] ?? '', name: path.split('/').at(-1) ?? '' },
    query: {},
  }) as unknown as Parameters<Handler>[0]
}
const send = async (handler: keyof typeof calls, ...made: Parameters<typeof request>) => {
  const response = await answer(calls[handler], request(...made))
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text && JSON.parse(text) }
}
/** As the router answers it. */
const answer = async (handler: Handler, asking: Parameters<Handler>[0]): Promise<Response> => {
  try {
    return await handler(asking, env, ctx)
  } catch (error) {
    return errors.toErrorResponse(error)
  }
}
const call = (params: object = {}) => JSON.stringify({ jsonrpc: '2.0', id: 'mine', method: 'SendMessage', params })
const superx = (method: string) => JSON.stringify({ jsonrpc: '2.0', id: 'mine', method, params: { id: 'a' } })
const large = call({ text: 'x'.repeat(100_000) })

const each: [string, keyof typeof calls, ...Parameters<typeof request>][] = [
  ['a call of an agent', 'agentCall', '/agents/a/a2a', call()],
  ['a call by the host name', 'hostCall', '/a2a', call()],
  ['a call by a tenant', 'hostCall', '/a2a', call({ tenant: 'a' })],
  ['a call by a name', 'namedCall', '/a2a/v1', call({ agentName: 'A' })],
  ["SuperX's question for an agent", 'handleSuperxRpc', '/rpc', superx('agents/get')],
  ["SuperX's question for all agents", 'handleSuperxRpc', '/rpc', superx('agents/list')],
  ["SuperX's wish to read a card again", 'handleSuperxRpc', '/rpc', superx('agents/refreshCard')],
  ['what is no JSON', 'agentCall', '/agents/a/a2a', '{'],
  ['what is no JSON, by the host name', 'hostCall', '/a2a', '{'],
  ['what names nobody', 'namedCall', '/a2a/v1', call()],
  ['what is too large', 'hostCall', '/a2a', 'x'.repeat(5_000_000)],
  ['HTTP+JSON', 'restCall', '/agents/a/a2a/message:send', '{}'],
  ['a path that there is not', 'restCall', '/agents/a/a2a/nothing', '{}'],
  ['a method that a path has not', 'restCall', '/agents/a/a2a/tasks', '{}'],
]

describe('the limit of calls', () => {
  it.each(each)('counts %s once', async (_, ...sent) => {
    await send(...sent)
    expect(asked.filter(what => what.startsWith('calls'))).toEqual(['calls 192.0.2.1'])
  })

  it.each(each)('comes before the Registry and the name of the host: %s', async (_, ...sent) => {
    limited = true
    expect((await send(...sent)).status).toBe(429)
    expect(asked.filter(what => /registry|kv host:/.test(what))).toEqual([])
  })

  it('costs an address past it no look-up of an agent', async () => {
    limited = true
    await send('agentCall', '/agents/first/a2a', call())
    asked = []
    const { status } = await send('agentCall', '/agents/second/a2a', call())
    expect([status, asked]).toEqual([429, ['calls 192.0.2.1']])
    limited = false
    asked = []
    await send('agentCall', '/agents/third/a2a', call())
    expect(asked).toContain('kv card:third')
    expect(asked.filter(what => what.startsWith('calls'))).toHaveLength(1)
  })

  it('says whose call it refuses, where that is told in few words', async () => {
    limited = true
    const ids = [(await send('hostCall', '/a2a', call())).body.id, (await send('hostCall', '/a2a', large)).body.id]
    expect(ids).toEqual(['mine', null])
  })
})

describe('a card that is asked for by a name', () => {
  const get = (name: string, headers: Record<string, string> = {}) =>
    send('namedCard', `/a2a/v1/agents/${name}`, undefined, { method: 'GET', ...headers })
  const counted = () => asked.filter(what => what.startsWith('calls'))

  it('counts as a call where the Registry has to be asked for it, and no more while it is known', async () => {
    const statuses = [await get('A'), await get('a'), await get('B')].map(({ status }) => status)
    expect([statuses, counted(), asked.filter(what => what.startsWith('registry'))]).toEqual([
      [404, 404, 404],
      ['calls 192.0.2.1', 'calls 192.0.2.1'],
      ['registry a', 'registry b'],
    ])
  })

  it('is refused past the limit, before the Registry is asked; what is known is not', async () => {
    await get('known')
    limited = true
    const { status, headers, body } = await get('unknown')
    expect([status, headers.get('retry-after'), headers.get('cache-control'), body.code]).toEqual([
      429,
      '60',
      'no-store',
      'too-many-requests',
    ])
    expect([(await get('known')).status, asked.filter(what => what.startsWith('registry'))]).toEqual([
      404,
      ['registry known'],
    ])
  })

  it('has credentials that do not hold counted once', async () => {
    await get('shown', { Authorization: 'Bearer cc_x' })
    expect(asked).toContain('kv card:shown')
    expect(asked.filter(what => what.startsWith('failures'))).toEqual(['failures 192.0.2.1'])
  })
})

describe('credentials that do not hold', () => {
  it.each(each)('are counted once, and before anything else is asked: %s', async (_, handler, path, body) => {
    await send(handler, path, body, { Authorization: 'Bearer cc_x' })
    expect([asked[0], asked.filter(what => what.startsWith('failures'))]).toEqual([
      'failures 192.0.2.1',
      ['failures 192.0.2.1'],
    ])
  })
})

describe('while KV and the Registry are away', () => {
  it.each([
    ...each.slice(0, 5),
    ['HTTP+JSON', 'restCall', '/agents/a/a2a/message:send', '{}'] as (typeof each)[number],
  ])('says so, and when to come back: %s', async (_, ...sent) => {
    kv = () => Promise.reject(new Error('away'))
    const message = 'This host cannot look up its agents right now. Try again in a moment.'
    const { status, headers, body } = await send(...sent)
    expect([status, headers.get('retry-after')]).toEqual([503, '10'])
    expect(body).toEqual(
      sent[0] === 'restCall'
        ? { error: expect.objectContaining({ code: 503, message }) }
        : { jsonrpc: '2.0', id: 'mine', error: expect.objectContaining({ code: expect.any(Number), message }) },
    )
  })
})

describe('a body that breaks off', () => {
  it.each([
    ['agentCall', '/agents/a/a2a'],
    ['hostCall', '/a2a'],
    ['namedCall', '/a2a/v1'],
  ] as const)('is a call that was aborted: %s', async (handler, path) => {
    const broken = request(path, '{}')
    vi.spyOn(broken, 'text').mockRejectedValue(new Error('Network connection lost.'))
    const response = await calls[handler](broken, env, ctx)
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { jsonrpc: '2.0', id: null, error: { code: -32600, data: { reason: 'REQUEST_ABORTED' } } },
    ])
    expect(console.info).toHaveBeenCalledWith(expect.stringContaining('"verdict":"aborted"'))
  })
})

describe('HTTP+JSON, asked in another way', () => {
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
  ])('%s %s is 405 in the form of its version, and in the log', async (method, path, allow, expected) => {
    const { status, headers, body } = await send('restCall', path, undefined, { method })
    expect([status, headers.get('allow'), body]).toEqual([405, allow, expected])
    expect(console.info).toHaveBeenCalledWith(expect.stringContaining('"verdict":"http-method"'))
  })

  it('answers HEAD of an extended card as GET', async () => {
    const sent = ['/agents/a/a2a/extendedAgentCard', undefined] as const
    const [head, get] = [
      await send('restCall', ...sent, { method: 'HEAD' }),
      await send('restCall', ...sent, { method: 'GET' }),
    ]
    expect([head.status, head.body]).toEqual([get.status, get.body])
  })
})
