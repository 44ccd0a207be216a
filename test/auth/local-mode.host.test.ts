import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { sharedHost, startSharedUpstream, token } from '../support/host.ts'
import { combine } from '../support/matrix.ts'
import { json, reply, type UpstreamServer } from '../support/upstream.ts'

const host = sharedHost('local')
const own = 'http://127.0.0.1:8787'
const evil = 'http://evil.example:8787'
const authorization = { Authorization: `Bearer ${token}` }

let agent: UpstreamServer
beforeAll(async () => {
  agent = await startSharedUpstream()
  const manifest = { card: agentCard(agent.origin), route: 'gateway', gate: { responses: 'off' } }
  expect((await host.put('local-agent', manifest)).status).toBe(201)
  agent.respond(reply(200, json, '{"tasks":[]}'))
})
afterAll(() => agent.close())

/** Sends a request to this machine by a name that a browser has resolved to it. */
const send = (method: string, path: string, headers: Record<string, string> = {}, base = own): Promise<Response> =>
  host.fetch(`${base}${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(['PUT', 'POST'].includes(method) && { body: JSON.stringify(call()) }),
  })

const isForeign = async (response: Response): Promise<boolean> =>
  response.status === 403 && (await response.text()).includes('"code":"foreign-origin"')

const tasks = '/agents/local-agent/a2a/tasks'

/** Every kind of request but reads of public documents, with a path of each. */
const guarded = [
  ['POST', '/agents/local-agent'],
  ['POST', '/agents/local-agent/a2a'],
  ['POST', '/a2a/v1'],
  ['POST', '/agents/local-agent/a2a/message:send'],
  ['GET', '/agents/local-agent/a2a/tasks'],
  ['HEAD', '/agents/local-agent/a2a/tasks'],
  ['PUT', '/agents/local-new'],
  ['DELETE', '/agents/local-agent'],
  ['POST', '/tokens'],
  ['POST', '/later/endpoint'],
  ['PATCH', '/agents/local-agent'],
] as const

const publicReads = ['/agents/local-agent/.well-known/agent-card.json', '/agents/local-agent', '/health']

describe('a host in local mode', () => {
  it('refuses writes, calls, and reads with a token from a page of another origin', async () => {
    const spelled = ['https://127.0.0.1:8787', 'http://127.0.0.1:8788', 'http://127.0.0.1:87870', `${own}.evil.example`]
    const origins = [evil, 'null', ...spelled, 'chrome-extension://other']
    for (const [Origin, [method, path], headers] of combine(origins, guarded, [{}, authorization])) {
      const response = await send(method, path, { Origin, ...headers })
      const isRefused = method === 'HEAD' ? response.status === 403 : await isForeign(response)
      expect(isRefused, `${Origin} ${method} ${path}`).toBe(true)
    }
    const reads = [...publicReads, '/export', '/tokens', '/events', '/agents/local-agent/manifest']
    for (const [Origin, path] of combine(origins, reads))
      expect(await isForeign(await send('GET', path, { Origin, ...authorization })), `${Origin} ${path}`).toBe(true)
    expect(agent.requests).toEqual([])
  })

  it('serves public documents to pages of any origin', async () => {
    for (const Origin of [evil, 'null', own])
      for (const method of ['GET', 'HEAD'])
        for (const path of publicReads) {
          const response = await send(method, path, { Origin })
          expect([response.status, response.headers.get('access-control-allow-origin')], path).toEqual([200, '*'])
        }
  })

  it('refuses nothing from programs and from its own pages', async () => {
    const paths = guarded.flatMap(([method, path]) => (method === 'POST' ? [path] : []))
    for (const Origin of [
      undefined,
      own,
      'http://localhost:8787',
      'https://tunnel.example',
      'chrome-extension://mine',
    ]) {
      const headers: Record<string, string> = Origin === undefined ? {} : { Origin }
      for (const path of paths)
        expect(await isForeign(await send('POST', path, headers)), `${Origin} ${path}`).toBe(false)
      expect((await send('GET', '/tokens', { ...headers, ...authorization })).status).toBe(200)
      expect((await send('GET', tasks, headers)).status).toBe(200)
    }
  })

  it('refuses a page whose name was rebound to this machine, also where a browser sends no Origin', async () => {
    agent.respond(reply(200, json, '{"tasks":[]}'))
    for (const [method, path] of guarded) {
      const headers: Record<string, string> = ['GET', 'HEAD'].includes(method) ? {} : { Origin: evil }
      expect((await send(method, path, headers, evil)).status, `${method} ${path}`).toBe(403)
    }
    expect(agent.requests).toEqual([])
    expect((await send('GET', '/agents/local-agent/.well-known/agent-card.json', {}, evil)).status).toBe(200)
  })

  it('refuses a call by GET that a page of another site makes by an image, which has no Origin', async () => {
    const status = async (site: string) => (await send('GET', tasks, { 'Sec-Fetch-Site': site })).status
    const sites = ['cross-site', 'same-site', 'same-origin', 'none']
    expect(await Promise.all(sites.map(status))).toEqual([403, 403, 200, 200])
    // The name of a tunnel.
    expect((await send('GET', tasks, {}, 'http://tunnel.example')).status).toBe(200)
  })

  it('allows a page of another origin no token and no method but GET in a preflight', async () => {
    const preflight = async (Origin: string, path: string) => {
      const { status, headers } = await send('OPTIONS', path, { Origin, 'Access-Control-Request-Method': 'PUT' })
      return [status, headers.get('access-control-allow-methods'), headers.get('access-control-allow-headers')]
    }
    for (const path of ['/agents/local-agent', '/export', '/a2a'])
      expect(await preflight(evil, path)).toEqual([204, 'GET, HEAD', 'A2A-Version, A2A-Extensions, If-None-Match'])
    const methods = 'POST, GET, HEAD, PUT, DELETE, OPTIONS'
    const allowed = [204, methods, expect.stringContaining('Authorization')]
    expect(await preflight(own, '/agents/local-agent')).toEqual(allowed)
  })

  it('says what to do, in problem details that the page can read', async () => {
    const response = await send('POST', '/agents/local-agent', { Origin: evil })
    const { status, headers } = response
    expect([status, headers.get('content-type')]).toEqual([403, 'application/problem+json'])
    expect(headers.get('access-control-allow-origin')).toBe('*')
    const detail = expect.stringContaining('LOCAL_ORIGINS=http://localhost:5173 npm start')
    expect(await response.json()).toMatchObject({ code: 'foreign-origin', detail })
  })
})

describe('a host without LOCAL_ORIGINS', () => {
  it('is in no local mode, whatever its Host', async () => {
    const response = await sharedHost().fetch(`${own}/agents/local-agent`, {
      method: 'PUT',
      headers: { ...authorization, Origin: evil, 'Content-Type': 'application/json' },
      body: JSON.stringify(agentCard('https://agent.example.com')),
    })
    expect(response.status).toBe(201)
  })
})
