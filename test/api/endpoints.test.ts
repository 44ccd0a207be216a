import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Access, NamedDescription, RateLimitName } from '../../src/api/contract/index.ts'
import { listLimits } from '../../src/api/openapi/index.ts'
import { routes } from '../../src/app.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { type NodeHost, startNodeHost } from '../support/node-host.ts'
import { token } from '../support/runtime.ts'

const KIB = 1024
const MIB = 1024 * KIB

/**
 * Who may use an endpoint, and what parameters of its query or `ROLE=internal` require; its rate limits; the largest
 * body in bytes, or 0 if it reads none; and whether a refusal is recorded in the audit.
 */
type Row = [method: string, path: string, access: string, limits: string, maxBytes: number, audit: boolean]

const reported = true
const silent = false

/** Every endpoint of the host. A change of a permission or a limit is a change of this table. */
const endpoints: Row[] = [
  // Calls
  ['POST', '/agents/:id/a2a', 'card', 'AUTH_LIMIT CALL_LIMIT FETCH_LIMIT', 4 * MIB, silent],
  ['POST', '/agents/:id', 'card', 'AUTH_LIMIT CALL_LIMIT FETCH_LIMIT', 4 * MIB, silent],
  ['POST', '/a2a', 'card', 'AUTH_LIMIT CALL_LIMIT FETCH_LIMIT', 4 * MIB, silent],
  ['POST', '/a2a/v1', 'card', 'AUTH_LIMIT CALL_LIMIT FETCH_LIMIT', 4 * MIB, silent],
  ['GET', '/agents/:id/a2a/:operation+', 'card', 'AUTH_LIMIT CALL_LIMIT FETCH_LIMIT', 0, silent],
  ['POST', '/agents/:id/a2a/:operation+', 'card', 'AUTH_LIMIT CALL_LIMIT FETCH_LIMIT', 4 * MIB, silent],
  ['DELETE', '/agents/:id/a2a/:operation+', 'card', 'AUTH_LIMIT CALL_LIMIT FETCH_LIMIT', 0, silent],
  ['POST', '/agents/:id/mcp', 'card', 'AUTH_LIMIT CALL_LIMIT FETCH_LIMIT', 4 * MIB, silent],
  ['POST', '/mcp', 'card', 'AUTH_LIMIT CALL_LIMIT FETCH_LIMIT', 4 * MIB, silent],
  // Cards and lists
  ['GET', '/.well-known/oauth-protected-resource/agents/:id/mcp', 'public', '', 0, silent],
  ['GET', '/.well-known/agent-card.json', 'optional', 'AUTH_LIMIT', 0, silent],
  ['GET', '/.well-known/agent.json', 'optional', 'AUTH_LIMIT', 0, silent],
  ['GET', '/agents/:id/.well-known/agent-card.json', 'optional', 'AUTH_LIMIT', 0, silent],
  ['GET', '/agents/:id/.well-known/agent.json', 'optional', 'AUTH_LIMIT', 0, silent],
  ['GET', '/agents/:id', 'optional', 'AUTH_LIMIT PAGE_LIMIT', 0, silent],
  ['GET', '/agents/.well-known/:file', 'public', '', 0, silent],
  ['GET', '/agents', 'reader, set: token, writable: write, id: write', 'AUTH_LIMIT CALL_LIMIT PAGE_LIMIT', 0, silent],
  ['GET', '/agents/:id/card.svg', 'optional', 'AUTH_LIMIT PAGE_LIMIT', 0, silent],
  ['GET', '/agents/:id/badge.svg', 'optional', 'AUTH_LIMIT PAGE_LIMIT', 0, silent],
  ['GET', '/agents/:id/mcp/server-card', 'optional', 'AUTH_LIMIT CALL_LIMIT', 0, silent],
  ['GET', '/mcp/server-card', 'public', 'CALL_LIMIT', 0, silent],
  // Registrations
  ['PUT', '/agents/:id', 'write', 'AUTH_LIMIT WRITE_LIMIT', 256 * KIB, reported],
  ['DELETE', '/agents/:id', 'write', 'AUTH_LIMIT WRITE_LIMIT', 0, reported],
  ['DELETE', '/agents/:id/tasks', 'write', 'AUTH_LIMIT WRITE_LIMIT', 0, reported],
  ['GET', '/agents/:id/manifest', 'write', 'AUTH_LIMIT', 0, silent],
  ['GET', '/agents/:id/revisions', 'write', 'AUTH_LIMIT', 0, silent],
  ['GET', '/agents/:id/revisions/:seq', 'write', 'AUTH_LIMIT', 0, silent],
  ['GET', '/agents/:id/revisions/:seq/diff', 'write', 'AUTH_LIMIT', 0, silent],
  ['POST', '/agents/:id/rollback', 'write', 'AUTH_LIMIT WRITE_LIMIT', 256 * KIB, reported],
  ['GET', '/agents/:id/source', 'write', 'AUTH_LIMIT', 0, silent],
  ['GET', '/agents/:id/observed', 'write', 'AUTH_LIMIT', 0, silent],
  ['POST', '/agents/:id/check', 'write', 'AUTH_LIMIT CALL_LIMIT WRITE_LIMIT', 256 * KIB, reported],
  ['POST', '/agents/:id/admit', 'write', 'AUTH_LIMIT WRITE_LIMIT', 256 * KIB, reported],
  ['GET', '/agents/:id/receipt', 'optional', 'AUTH_LIMIT', 0, silent],
  ['POST', '/agents/:id/refresh', 'write', 'AUTH_LIMIT WRITE_LIMIT', 256 * KIB, reported],
  ['POST', '/agents:batch', 'write', 'AUTH_LIMIT WRITE_LIMIT', 4 * MIB, reported],
  ['POST', '/lint', 'public', 'LINT_LIMIT', 256 * KIB, silent],
  ['POST', '/verify', 'public', 'FETCH_LIMIT LINT_LIMIT', 256 * KIB, silent],
  // Changes
  ['GET', '/agents/:id/events', 'reader', 'AUTH_LIMIT CALL_LIMIT', 0, silent],
  ['GET', '/events', 'reader', 'AUTH_LIMIT CALL_LIMIT', 0, silent],
  // Catalogs
  ['GET', '/.well-known/ai-catalog.json', 'public', 'CALL_LIMIT', 0, silent],
  ['GET', '/.well-known/ard.json', 'public', 'CALL_LIMIT', 0, silent],
  ['GET', '/.well-known/api-catalog', 'public', 'CALL_LIMIT', 0, silent],
  ['POST', '/search', 'public', 'CALL_LIMIT', 256 * KIB, silent],
  ['POST', '/ard/search', 'public', 'CALL_LIMIT', 256 * KIB, silent],
  ['GET', '/ard/agents', 'public', 'CALL_LIMIT', 0, silent],
  ['GET', '/ard/agents/:identifier', 'public', 'CALL_LIMIT', 0, silent],
  ['GET', '/llms.txt', 'public', 'CALL_LIMIT', 0, silent],
  ['GET', '/robots.txt', 'public', 'CALL_LIMIT', 0, silent],
  ['GET', '/sitemap.xml', 'public', 'CALL_LIMIT', 0, silent],
  // Administration
  ['POST', '/tokens', 'admin', 'AUTH_LIMIT WRITE_LIMIT', 256 * KIB, reported],
  ['GET', '/tokens', 'admin', 'AUTH_LIMIT', 0, silent],
  ['GET', '/tokens/self', 'token', 'AUTH_LIMIT', 0, silent],
  ['DELETE', '/tokens/:id', 'admin', 'AUTH_LIMIT WRITE_LIMIT', 0, reported],
  ['GET', '/audit', 'admin', 'AUTH_LIMIT', 0, silent],
  ['GET', '/keys', 'admin', 'AUTH_LIMIT', 0, silent],
  ['GET', '/export', 'admin', 'AUTH_LIMIT', 0, silent],
  ['POST', '/import', 'admin', 'AUTH_LIMIT WRITE_LIMIT', 2048 * MIB, reported],
  // Pages
  ['GET', '/', 'public', 'PAGE_LIMIT', 0, silent],
  ['GET', '/lint', 'public', 'PAGE_LIMIT', 0, silent],
  ['GET', '/manage', 'public', 'PAGE_LIMIT', 0, silent],
  // Documents
  ['GET', '/.well-known/jwks.json', 'public', '', 0, silent],
  ['GET', '/.well-known/did.json', 'public', '', 0, silent],
  ['GET', '/openapi.json', 'public', '', 0, silent],
  ['GET', '/schema/manifest.json', 'public', '', 0, silent],
  ['GET', '/health', 'public', '', 0, silent],
  // Clients of other hosts
  ['GET', '/.well-known/a2a/agents', 'reader, ROLE=internal: read', 'AUTH_LIMIT CALL_LIMIT', 0, silent],
  ['GET', '/a2a/v1/agents/:name', 'optional, ROLE=internal: read', 'AUTH_LIMIT CALL_LIMIT', 0, silent],
  ['POST', '/rpc', 'optional', 'AUTH_LIMIT CALL_LIMIT WRITE_LIMIT', 4 * MIB, silent],
]

/** An endpoint of the route table, with its description. */
type Endpoint = NamedDescription & { method: string; path: string }

let described: Endpoint[]
let host: NodeHost
/** Tokens for all agents, by their scopes (`call` includes `read`); and one for an agent that no request names. */
const tokens = { read: '', call: '', write: '', callAndWrite: '', admin: token, other: '' }
beforeEach(() => void vi.spyOn(console, 'info').mockReturnValue())
beforeAll(async () => {
  described = await Promise.all(
    routes.map(async ([method, path, { describe }]) => ({ ...(await describe()), method, path })),
  )
  host = await startNodeHost()
  await host.put('known', minimalCard)
  await host.put('hidden', { card: minimalCard, visibility: 'internal', hosts: ['*'] })
  tokens.read = await issue(['read'])
  tokens.call = await issue(['call'])
  tokens.write = await issue(['write'])
  tokens.callAndWrite = await issue(['call', 'write'])
  tokens.other = await issue(['call', 'write'], ['other'])
})

const issue = async (scopes: string[], agents = ['*']): Promise<string> => {
  const response = await host.fetch('/tokens', {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ scopes, agents }),
  })
  return (await response.json<{ token: string }>()).token
}

/** For each access that needs a token: one with nothing else, and one with everything else. */
const sufficient: Partial<Record<Access, keyof typeof tokens>> = {
  ...{ token: 'read', reader: 'read', read: 'read', write: 'write', admin: 'admin' },
}
const insufficient: Partial<Record<Access, keyof typeof tokens>> = {
  ...{ reader: 'write', read: 'write', write: 'call', admin: 'callAndWrite' },
}

it('has the access, the limits and the audit of this table', () => {
  const toRow = ({ method, path, access, internal, query = {}, body, ...rest }: Endpoint): Row => {
    const needs = Object.entries(query).flatMap(([name, { needs }]) => (needs ? [`${name}: ${needs}`] : []))
    const required = [access, ...needs, ...(internal ? [`ROLE=internal: ${internal}`] : [])].join(', ')
    const limits = listLimits({ ...rest, access })
      .toSorted()
      .join(' ')
    const isWrite = (access === 'write' || access === 'admin') && method !== 'GET'
    return [method, path, required, limits, body?.maxBytes ?? 0, isWrite]
  }
  const sorted = (rows: Row[]) => rows.map(row => row.join(' | ')).toSorted()
  expect(sorted(described.map(toRow))).toEqual(sorted(endpoints))
})

type Options = {
  id?: string
  as?: keyof typeof tokens | 'stranger'
  query?: string
  accept?: string
  body?: string
  to?: NodeHost
}

let addresses = 0

/** Sends a request to an endpoint from a new address, and returns its status; 429 for any form of that error. */
const send = async ({ method, path, body: described }: Endpoint, options: Options = {}): Promise<number> => {
  const { id = 'known', as, query = '', accept = '*/*', to = host } = options
  const operation = { GET: 'tasks/t', POST: 'message:send', DELETE: 'tasks/t/pushNotificationConfigs/p' }[method]
  const identifier = `urn%3Aair%3Ahost.example%3Aagent%3A${id}`
  const values: Record<string, string | undefined> = {
    id,
    name: id,
    seq: '1',
    file: 'agent.json',
    identifier,
    operation,
  }
  const params = { id, tenant: id, agentName: id }
  const superx = as === 'admin' ? 'agents/refreshCard' : 'agents/list'
  const call = { jsonrpc: '2.0', id: 1, method: path === '/rpc' ? superx : 'SendMessage', params }
  const { body = JSON.stringify(call) } = options
  addresses++
  const response = await to.fetch(path.replaceAll(/(?<=\/):(\w+)\+?/g, (_, name) => values[name] ?? name) + query, {
    method,
    headers: {
      Accept: accept,
      'CF-Connecting-IP': `2001:db8:${addresses.toString(16)}::1`,
      'Content-Type': Object.keys(described?.content ?? {})[0] ?? 'application/json',
      ...(as && { Authorization: `Bearer ${as === 'stranger' ? 'wrong' : tokens[as]}` }),
    },
    ...((method === 'POST' || method === 'PUT') && { body }),
  })
  return (await response.text()).includes('"too-many-requests"') ? 429 : response.status
}

type Sample = [endpoint: Endpoint, options: Options, isExpected: (status: number) => boolean]

/** Sends requests, and lists those that have another status than expected. */
const findWrong = async (samples: Sample[]): Promise<string[]> => {
  const wrong: string[] = []
  for (const [endpoint, options, isExpected] of samples) {
    const status = await send(endpoint, options)
    if (!isExpected(status)) wrong.push(`${endpoint.method} ${endpoint.path}${options.query ?? ''}: ${status}`)
  }
  return wrong
}

const isAdmitted = (status: number): boolean => status !== 401 && status !== 403

const has = (expected: number) => (status: number) => status === expected

/** The parameters of a query that need more than the endpoint does, each with the access. */
const neededQueries = ({ query = {} }: Endpoint) =>
  Object.entries(query).flatMap(([name, { needs }]) => (needs ? [[`?${name}=a`, needs] as const] : []))

describe('every endpoint', () => {
  it('refuses a request without the token that it needs with 401, and no other one', async () => {
    const internal = await startNodeHost({ vars: { ROLE: 'internal' } })
    const samples = described.flatMap((endpoint): Sample[] => [
      [endpoint, {}, ['token', 'read', 'write', 'admin'].includes(endpoint.access) ? has(401) : isAdmitted],
      ...neededQueries(endpoint).map(([query]): Sample => [endpoint, { query }, has(401)]),
      ...(endpoint.internal ? [[endpoint, { to: internal }, has(401)] satisfies Sample] : []),
    ])
    expect(await findWrong(samples)).toEqual([])
  })

  it('refuses a token that lacks the scope with 403, and records it in the audit if it is a write', async () => {
    const record = vi.spyOn(host.registry, 'recordRefusal')
    for (const endpoint of described) {
      const { method, path, access } = endpoint
      const as = insufficient[access]
      if (!as) continue
      record.mockClear()
      const status = await send(endpoint, { as })
      const [, , , , , isReported] = endpoints.find(row => row[0] === method && row[1] === path) ?? []
      expect([method, path, status, record.mock.calls.length > 0]).toEqual([method, path, 403, isReported])
    }
  })

  it('refuses a token that lacks what a parameter needs, or the agent of the path, with 403', async () => {
    const samples = described.flatMap((endpoint): Sample[] => [
      ...neededQueries(endpoint).flatMap(([query, needs]): Sample[] => {
        const as = insufficient[needs]
        return as ? [[endpoint, { query, as }, has(403)]] : []
      }),
      ...(endpoint.access === 'write' && endpoint.path.startsWith('/agents/:id')
        ? [[endpoint, { as: 'other' }, has(403)] satisfies Sample]
        : []),
    ])
    expect(samples.length).toBeGreaterThan(10)
    expect(await findWrong(samples)).toEqual([])
  })

  it('admits a token with the scope that it needs', async () => {
    // For an agent that is not registered, so that nothing changes.
    const samples = described.map((endpoint): Sample => {
      const as = sufficient[endpoint.access]
      return [endpoint, { id: 'none', ...(as && { as }) }, isAdmitted]
    })
    expect(await findWrong(samples)).toEqual([])
  })

  it('refuses requests past each of its rate limits with 429', async () => {
    const env = host.env as unknown as Record<RateLimitName, { limit: () => Promise<{ success: boolean }> }>
    const wrong: string[] = []
    for (const endpoint of described)
      for (const limit of listLimits(endpoint)) {
        // Counted with each request that the host itself sends.
        if (limit === 'FETCH_LIMIT') continue
        const passing = env[limit]
        env[limit] = { limit: async () => ({ success: false }) }
        const caller = limit === 'AUTH_LIMIT' ? { id: 'hidden', as: 'stranger' as const } : { as: 'admin' as const }
        const accept = limit === 'PAGE_LIMIT' ? 'text/html' : '*/*'
        const found = await findWrong([[endpoint, { ...caller, accept }, has(429)]])
        wrong.push(...found.map(each => `${each} past ${limit}`))
        env[limit] = passing
      }
    expect(wrong).toEqual([])
  })

  it('refuses a body above its limit with 413, and none of its size', async () => {
    const samples = described.flatMap((endpoint): Sample[] => {
      const { body } = endpoint
      // A stream may have any size, and is counted while it is read.
      if (!body || body.as === 'stream') return []
      const ofSize = (size: number): Options => ({ id: 'none', as: 'admin', body: ' '.repeat(size) })
      return [
        [endpoint, ofSize(body.maxBytes + 1), has(413)],
        [endpoint, ofSize(body.maxBytes), status => status !== 413],
      ]
    })
    expect(samples.length).toBeGreaterThan(20)
    expect(await findWrong(samples)).toEqual([])
  })
})
