import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadManifests } from '../../cli/manifests/load.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
import { agentCard } from '../support/cards/cards.ts'
import { sharedHost, token } from '../support/host.ts'
import { snippetIn } from '../support/html.ts'
import { agentKinds, agentPath, createOfficialAgents } from '../support/sdk/agents.ts'

const run = promisify(execFile)
const CHROMIUM = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

let called: CalledHost
beforeAll(async () => {
  called = await useSharedHost('examples')
  called.agent.listenWith(createOfficialAgents(called.agent.origin))
})
afterAll(() => called.close())

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
    env: { ...process.env, ...env },
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
    await called.register('page-secret-agent', { card: agentCard('https://agent.test'), visibility: 'internal' })
    const [internal, unknown] = await Promise.all([
      open('/agents/page-secret-agent'),
      open('/agents/page-nobody-agent'),
    ])
    expect([internal.status, unknown.status]).toStrictEqual([404, 404])
    const headersOf = ({ headers }: Response) => [...headers].filter(([name]) => !/^(?:date|etag|cf-ray)$/.test(name))
    expect(headersOf(internal)).toStrictEqual(headersOf(unknown))
    expect((await internal.text()).replaceAll('page-secret-agent', 'page-nobody-agent')).toBe(await unknown.text())
    const bearer = { Authorization: `Bearer ${token}` }
    const page = await open('/agents/page-secret-agent?view=0.3', bearer)
    expect([page.status, page.headers.get('Cache-Control')]).toStrictEqual([200, 'private, no-store'])
    expect(await page.text()).toContain('&quot;protocolVersion&quot;</i>: <bdi>&quot;0.3')
  })

  it('is cached as the card is, and confirmed while nothing changes', async () => {
    await called.register('page-cached', { card: agentCard('https://agent.test') })
    const [response, card] = [await open('/agents/page-cached'), await called.host.fetch('/agents/page-cached')]
    expect(response.headers.get('Cache-Control')).toBe(card.headers.get('Cache-Control'))
    const again = await open('/agents/page-cached', { 'If-None-Match': response.headers.get('ETag') ?? '' })
    expect([again.status, await again.text()]).toEqual([304, ''])
    // The origin that may receive tokens of this host is not that of a host name which a manifest claims.
    expect(await response.text()).toContain(`data-origin="${called.host.url.origin}"`)
  })

  it('names the key of this host that has signed the card', async () => {
    const signing = sharedHost('signing')
    await signing.put('page-signed', { card: agentCard('https://agent.test') })
    const { keys } = (await (await signing.fetch('/.well-known/jwks.json')).json()) as { keys: { kid: string }[] }
    const page = await (await signing.fetch('/agents/page-signed', { headers: { Accept: CHROMIUM } })).text()
    expect(page.replace(/<[^>]*>/g, '')).toContain(`Signed by this host with the key ${keys[0]?.kid} (ES256)`)
  })

  it('shows signatures that only the version of 0.3 has', async () => {
    const skills = [{ id: 's', name: 'S', description: 'S', tags: ['s'] }]
    const card = { name: 'Old', description: 'Old', url: 'https://agent.test/', protocolVersion: '0.3.0', skills }
    await called.register('page-signed-before', { card })
    // The document that this host serves, so that it changes nothing in it, and its signatures stay valid.
    const written = (await (await called.host.fetch('/agents/page-signed-before?dialect=0.3')).json()) as JsonObject
    const signatures = [{ protected: btoa('{"alg":"ES256","kid":"k-0.3"}'), signature: 'c2ln' }]
    await called.register('page-signed-before', { card: { ...written, signatures } })
    const served = await called.host.fetch('/agents/page-signed-before?dialect=1.0')
    expect(await served.json()).not.toHaveProperty('signatures')
    expect(await (await open('/agents/page-signed-before')).text()).toMatch(/the key <code[^>]*>k-0.3<\/code>/)
  })
})

/** Copies both snippets of an agent, runs them, and returns what they print. */
const runSnippets = (id: string, env: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  Promise.all(
    (['curl', 'javascript'] as const).map(async name => runSnippet(name, await copySnippet(id, name, headers), env)),
  )
const rains = [expect.stringContaining('It rains'), expect.stringContaining('It rains')]

describe('the snippets of an agent', () => {
  it.each(agentKinds)('of %s call it through this host, with the extensions that it requires', async kind => {
    const card = await cardOf(kind)
    const extensions = ['https://e.example/1', "https://e.example/it's"].map(uri => ({ uri, required: true }))
    const capabilities = { ...(card.capabilities as JsonObject), extensions }
    const id = `snippets-${agentKinds.indexOf(kind)}`
    await called.register(id, { card: { ...card, capabilities }, route: 'gateway', bridge: 'off' })
    expect(await runSnippets(id)).toEqual(rains)
  })

  it('send the credentials of the environment', async () => {
    const securitySchemes: JsonObject = {
      bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } },
      basic: { httpAuthSecurityScheme: { scheme: 'basic' } },
      key: { apiKeySecurityScheme: { name: 'X-Weather-Key', location: 'header' } },
      cookie: { apiKeySecurityScheme: { name: 'sid', location: 'cookie' } },
      query: { apiKeySecurityScheme: { name: 'a b', location: 'query' } },
    }
    const keys = { AGENT_API_KEY_2: "k'2", AGENT_API_KEY_3: "k'3", AGENT_API_KEY_4: "k'4" }
    const env = { AGENT_TOKEN: 'secret token', AGENT_USER: 'me', AGENT_PASSWORD: 'p$w', ...keys }
    for (const [schemes, sent] of [
      [
        ['bearer', 'key', 'cookie', 'query'],
        ['Bearer secret token', "k'2", "sid=k'3", "k'4"],
      ],
      [['basic'], [`Basic ${btoa('me:p$w')}`, undefined, undefined, null]],
    ] as const) {
      const required = Object.fromEntries(schemes.map(name => [name, { list: [] }]))
      const card = { ...(await cardOf('1.0')), securitySchemes, securityRequirements: [{ schemes: required }] }
      await called.register('snippets-secured', { card })
      called.agent.requests.length = 0
      expect(await runSnippets('snippets-secured', env)).toEqual(rains)
      const found = called.agent.requests.map(({ headers, path }) => [
        ...[headers.authorization, headers['x-weather-key'], headers.cookie],
        new URL(path, 'http://a').searchParams.get('a b'),
      ])
      expect(found, schemes.join()).toEqual([sent, sent])
    }
  })

  it('send a token of this host for the card and the call, and not to an agent that is called directly', async () => {
    const headers = { Authorization: `Bearer ${token}` }
    for (const route of ['gateway', 'direct']) {
      const id = `snippets-internal-${route}`
      await called.register(id, { card: await cardOf('1.0'), route, visibility: 'internal' })
      called.agent.requests.length = 0
      expect(await runSnippets(id, { HOST_TOKEN: token }, headers)).toEqual(rains)
      expect(JSON.stringify(called.agent.requests)).not.toContain(token)
    }
  })

  it('call the first tool of an MCP server', async () => {
    const { manifest = {} } = loadManifests(['examples/cards/tool-box.yaml'], called.host.url.origin).drafts[0] ?? {}
    await called.register('snippets-tools', manifest)
    const argument = /"skillId":"count-words","arguments":\{"text":"text"\}/
    expect(await copySnippet('snippets-tools', 'curl')).toMatch(argument)
    const completed = expect.stringMatching(/TASK_STATE_COMPLETED|state: 3/)
    expect(await runSnippets('snippets-tools')).toEqual([completed, completed])
  })

  const hostile = `it's "$(touch pwned)" \`id\` \${process.exit(1)} \\ </code><script>\u202e\u009b201~\n; rm -rf /tmp/x #`

  it('send the text of a hostile card, and run nothing of it', async () => {
    const { origin } = called.agent
    const skill = { id: 's', name: 'S', description: 'S', tags: ['s'], examples: [hostile] }
    const url = `${origin}${agentPath('1.0')}?a='$(id)'&b="\`id\``
    await called.register('page-hostile', {
      card: agentCard(origin, {
        skills: [skill],
        supportedInterfaces: [
          { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: hostile.replace(/[\n\u009b]/g, '') },
        ],
      }),
    })
    const curl = await copySnippet('page-hostile', 'curl')
    expect(curl).not.toMatch(/[\p{Cf}\p{Cc}](?<!\n)/u)
    const printed = await runSnippet('curl', `curl() { printf '%s\\0' "$@"; }\n${curl}`)
    const args = printed.split('\0')
    expect(JSON.parse(args[args.indexOf('-d') + 1] ?? '').params.message.parts).toStrictEqual([{ text: hostile }])
    expect(args.filter(arg => arg.startsWith('-'))).toStrictEqual(['-sS', '-H', '-H', '-d'])
    const javascript = await copySnippet('page-hostile', 'javascript')
    const [, literal] = /parts: \[\{ text: (.*) \}\],/.exec(javascript) ?? []
    expect(await runSnippet('javascript', `console.log(JSON.stringify(${literal}))`)).toBe(
      `${JSON.stringify(hostile)}\n`,
    )
  })
})
