import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadManifests } from '../../cli/manifests/load.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { type CalledHost, startCalledHost } from '../support/called-host.ts'
import { agentCard } from '../support/cards/cards.ts'
import { installCurl } from '../support/curl.ts'
import { startHost, token } from '../support/host.ts'
import { snippetIn } from '../support/html.ts'
import { agentKinds, agentPath, createOfficialAgents } from '../support/sdk/agents.ts'

const run = promisify(execFile)
const CHROMIUM = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

let called: CalledHost
const standIn = installCurl()
beforeAll(async () => {
  called = await startCalledHost({}, vars => startHost(vars, { examples: ['mcp-server'] }))
  called.agent.listenWith(createOfficialAgents(called.agent.origin))
})
afterAll(async () => {
  standIn.remove()
  await called.close()
})

/** Returns a snippet of a card page, as a person copies it. */
const copySnippet = async (id: string, name: string, headers: Record<string, string> = {}): Promise<string> => {
  const response = await open(`/agents/${id}`, headers)
  expect(response.status).toBe(200)
  return snippetIn(await response.text(), name)
}

/** Runs a snippet as it stands, and returns what it prints. */
const runSnippet = async (
  name: 'curl' | 'javascript',
  code: string,
  env: Record<string, string> = {},
): Promise<string> => {
  const options = {
    cwd: process.cwd(),
    env: { ...process.env, PATH: `${process.env.PATH}:${standIn.folder}`, ...env },
    timeout: 20_000,
  }
  const { stdout } =
    name === 'curl'
      ? await run('/bin/sh', ['-c', code], options)
      : await run(process.execPath, ['--input-type=module', '-e', code], options)
  return stdout
}

/** Returns the card of an official agent, whose skill has an example that it knows. */
const cardOf = async (kind: (typeof agentKinds)[number]): Promise<JsonObject> => {
  const response = await fetch(`${called.agent.origin}${agentPath(kind)}/card.json`)
  const card = (await response.json()) as JsonObject
  return { ...card, skills: (card.skills as JsonObject[]).map(skill => ({ ...skill, examples: ['task'] })) }
}

const open = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  called.host.fetch(path, { headers: { Accept: CHROMIUM, ...headers } })

describe('GET /agents/{id} for a browser', () => {
  it('answers for an internal agent as for one that does not exist, unless the caller may read it', async () => {
    await called.register('secret-agent', { card: agentCard('https://agent.test'), visibility: 'internal' })
    const [internal, unknown] = await Promise.all([open('/agents/secret-agent'), open('/agents/nobody-agent')])
    expect([internal.status, unknown.status]).toStrictEqual([404, 404])
    const headersOf = ({ headers }: Response) => [...headers].filter(([name]) => !/^(?:date|etag|cf-ray)$/.test(name))
    expect(headersOf(internal)).toStrictEqual(headersOf(unknown))
    expect((await internal.text()).replaceAll('secret-agent', 'nobody-agent')).toBe(await unknown.text())
    const bearer = { Authorization: `Bearer ${token}` }
    const page = await open('/agents/secret-agent?view=0.3', bearer)
    expect([page.status, page.headers.get('Cache-Control')]).toStrictEqual([200, 'private, no-store'])
    expect(await page.text()).toContain('&quot;protocolVersion&quot;</i>: <bdi>&quot;0.3')
  })

  it('is cached as the card is, and confirmed while nothing changes', async () => {
    await called.register('cached', { card: agentCard('https://agent.test') })
    const response = await open('/agents/cached')
    expect(response.headers.get('Cache-Control')).toBe(
      (await called.host.fetch('/agents/cached')).headers.get('Cache-Control'),
    )
    const again = await open('/agents/cached', { 'If-None-Match': response.headers.get('ETag') ?? '' })
    expect([again.status, await again.text()]).toStrictEqual([304, ''])
  })

  it('says that the server of a remote card cannot be reached', async () => {
    const { origin } = called.agent
    await called.register('absent', { upstream: { card: `${origin}/no-card.json` }, card: {} })
    const response = await open('/agents/absent')
    expect(response.status).toBe(502)
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    expect(await response.text()).toContain('This agent&#39;s card is fetched from an upstream that is unreachable')
  })

  it.each([
    ['a long name of a view', `?view=${'x'.repeat(10_000)}`],
    ['characters that no view has', '?view=%00&view=%FF'],
    ['the name of a member of every object', '?view=__proto__'],
    ['many parameters', `?${'&'.repeat(10_000)}`],
  ])('shows the card for %s in the query', async (_, query) => {
    await called.register('asked', { card: agentCard('https://agent.test') })
    const response = await open(`/agents/asked${query}`)
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('<a href="?view=1.0#document" aria-current="true">')
  })

  it('shows signatures that only the version of 0.3 has', async () => {
    const skills = [{ id: 's', name: 'S', description: 'S', tags: ['s'] }]
    const card = { name: 'Old', description: 'Old', url: 'https://agent.test/', protocolVersion: '0.3.0', skills }
    await called.register('signed-before', { card })
    // The document that this host serves, so that it changes nothing in it, and its signatures stay valid.
    const written = (await (await called.host.fetch('/agents/signed-before?dialect=0.3')).json()) as JsonObject
    const signatures = [{ protected: btoa('{"alg":"ES256","kid":"k-0.3"}'), signature: 'c2ln' }]
    await called.register('signed-before', { card: { ...written, signatures } })
    const served = await called.host.fetch('/agents/signed-before?dialect=1.0')
    expect(await served.json()).not.toHaveProperty('signatures')
    expect(await (await open('/agents/signed-before')).text()).toContain('the key <code dir="auto">k-0.3</code>')
  })
})

describe.each(agentKinds)('the snippets of an agent of %s', kind => {
  const id = `agent-${agentKinds.indexOf(kind)}`

  it.each(['gateway', 'direct'])('call it on the route %s', async route => {
    await called.register(`${id}-${route}`, { card: await cardOf(kind), route, bridge: 'off' })
    for (const name of ['curl', 'javascript'] as const)
      expect(await runSnippet(name, await copySnippet(`${id}-${route}`, name))).toContain('It rains')
  })
})

describe('the snippets of an agent that needs credentials', () => {
  const schemes: JsonObject = {
    bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } },
    basic: { httpAuthSecurityScheme: { scheme: 'basic' } },
    key: { apiKeySecurityScheme: { name: 'X-Weather-Key', location: 'header' } },
    cookie: { apiKeySecurityScheme: { name: 'sid', location: 'cookie' } },
    query: { apiKeySecurityScheme: { name: 'a b', location: 'query' } },
  }
  const env = { AGENT_TOKEN: 'secret token', AGENT_USER: 'me', AGENT_PASSWORD: 'p$w', AGENT_API_KEY: "k'1" }

  it.each<[string, string, (request: { path: string; headers: Record<string, unknown> }) => unknown, string]>([
    ['a bearer token', 'bearer', ({ headers }) => headers.authorization, 'Bearer secret token'],
    ['a password', 'basic', ({ headers }) => headers.authorization, `Basic ${btoa('me:p$w')}`],
    ['a key in a header', 'key', ({ headers }) => headers['x-weather-key'], "k'1"],
    ['a key in a cookie', 'cookie', ({ headers }) => headers.cookie, "sid=k'1"],
    ['a key in the query', 'query', ({ path }) => new URL(path, 'http://a').searchParams.get('a b'), "k'1"],
  ])('send %s of the environment', async (_, scheme, sent, expected) => {
    const secured = { securitySchemes: schemes, securityRequirements: [{ schemes: { [scheme]: { list: [] } } }] }
    const card = { ...(await cardOf('1.0')), ...secured }
    await called.register(`needs-${scheme}`, { card })
    for (const name of ['curl', 'javascript'] as const) {
      const code = await copySnippet(`needs-${scheme}`, name)
      called.agent.requests.length = 0
      expect(await runSnippet(name, code, env)).toContain('It rains')
      expect(called.agent.requests.map(request => sent(request))).toStrictEqual([expected])
    }
  })
})

describe('the snippets of an internal agent', () => {
  it('send a token of this host for the card and the call, and not to an agent that is called directly', async () => {
    const headers = { Authorization: `Bearer ${token}` }
    for (const route of ['gateway', 'direct']) {
      const id = `internal-${route}`
      await called.register(id, { card: await cardOf('1.0'), route, visibility: 'internal' })
      for (const name of ['curl', 'javascript'] as const) {
        const code = await copySnippet(id, name, headers)
        called.agent.requests.length = 0
        expect(await runSnippet(name, code, { HOST_TOKEN: token })).toContain('It rains')
        expect(JSON.stringify(called.agent.requests)).not.toContain(token)
      }
    }
  })
})

describe('the snippets of an agent with required extensions', () => {
  it('declare them', async () => {
    const card = await cardOf('1.0')
    const extensions = ['https://e.example/1', "https://e.example/it's"].map(uri => ({ uri, required: true }))
    const capabilities = { ...(card.capabilities as JsonObject), extensions }
    await called.register('extended', { card: { ...card, capabilities }, route: 'gateway' })
    for (const name of ['curl', 'javascript'] as const)
      expect(await runSnippet(name, await copySnippet('extended', name))).toContain('It rains')
  })
})

describe('the snippets of an MCP server', () => {
  it('call its first tool', async () => {
    const { manifest = {} } = loadManifests(['examples/cards/tool-box.yaml'], called.host.url.origin).drafts[0] ?? {}
    await called.register('tools', manifest)
    const argument = /"skillId":"count-words","arguments":\{"text":"text"\}/
    expect(await copySnippet('tools', 'curl')).toMatch(argument)
    for (const name of ['curl', 'javascript'] as const)
      expect(await runSnippet(name, await copySnippet('tools', name))).toMatch(/TASK_STATE_COMPLETED|state: 3/)
  })
})

describe('the snippets of a hostile card', () => {
  const hostile = `it's "$(touch pwned)" \`id\` \${process.exit(1)} \\ </code><script>\u202e\u009b201~\n; rm -rf /tmp/x #`

  it('send its text, and run nothing of it', async () => {
    const { origin } = called.agent
    const skill = { id: 's', name: 'S', description: 'S', tags: ['s'], examples: [hostile] }
    const url = `${origin}${agentPath('1.0')}?a='$(id)'&b="\`id\``
    await called.register('hostile', {
      card: agentCard(origin, {
        skills: [skill],
        supportedInterfaces: [
          { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: hostile.replace(/[\n\u009b]/g, '') },
        ],
      }),
    })
    const curl = await copySnippet('hostile', 'curl')
    expect(curl).not.toMatch(/[\p{Cf}\p{Cc}](?<!\n)/u)
    const printed = await runSnippet('curl', `curl() { printf '%s\\0' "$@"; }\n${curl}`)
    const args = printed.split('\0')
    expect(JSON.parse(args[args.indexOf('-d') + 1] ?? '').params.message.parts).toStrictEqual([{ text: hostile }])
    expect(args.filter(arg => arg.startsWith('-'))).toStrictEqual(['-sS', '-H', '-H', '-d'])
    const javascript = await copySnippet('hostile', 'javascript')
    const [, literal] = /parts: \[\{ text: (.*) \}\],/.exec(javascript) ?? []
    expect(await runSnippet('javascript', `console.log(JSON.stringify(${literal}))`)).toBe(
      `${JSON.stringify(hostile)}\n`,
    )
  })
})
