/** A row of "How to add …" with an example of it. */
export type Recipe = {
  /** The first cell of the row. */
  row: string
  /** The whole text of each new file, or the edit of each other one, by its path. */
  edits: Readonly<Record<string, string | ((text: string) => string)>>
  /** A test of what was added. */
  test: string
}

const insertBefore =
  (anchor: string, inserted: string) =>
  (text: string): string => {
    if (!text.includes(anchor)) throw new Error(`the text has no ${JSON.stringify(anchor)}`)
    return text.replace(anchor, () => inserted + anchor)
  }

const testOf = (title: string, body: string, imports = ''): string => `import { expect, it } from 'vitest'
import { startNodeHost } from './support/node-host.ts'
import { token } from './support/runtime.ts'
${imports}
it('${title}', async () => {
  const host = await startNodeHost()
  const headers = { Authorization: \`Bearer \${token}\`, 'Content-Type': 'application/json' }
${body}
})
`

/** The examples, which touch as many files as the figures of the project allow. */
export const recipes: readonly Recipe[] = [
  {
    row: 'a dialect',
    edits: {
      'src/card/dialects/acme.ts': `import * as v from 'valibot'
import { absentMeansFalse } from '../read/index.ts'
import { type Dialect, defineV0Dialect } from './dialect.ts'

/** Acme's card: A2A 0.3 with the number of the agent at Acme. */
export const acme: Dialect = {
  ...defineV0Dialect({ card: { acmeNumber: v.nullish(v.number()) } }),
  detect: card => 'acmeNumber' in card,
  capabilityDefaults: () => absentMeansFalse('Acme'),
}
`,
      'src/card/dialects/index.ts': text =>
        insertBefore(
          'import { gopherhole,',
          "import { acme } from './acme.ts'\n",
        )(insertBefore("telex, shaman, '0.3'", 'acme, ')(text)),
      'src/card/model/constants.ts': insertBefore("  shaman: 'Shaman',", "  acme: 'Acme',\n"),
      'test/card/dialects/oauth-flows.test.ts': insertBefore('  telex: {', '  acme: { acmeNumber: 7 },\n'),
    },
    test: testOf(
      'reads and serves the dialect',
      `  const card = { name: 'A', description: 'Sells anvils to coyotes.', url: 'https://a.example/', acmeNumber: 7 }
  expect(await host.put('anvils', card)).toMatchObject({ report: { dialect: 'acme' } })
  const served = await host.fetch('/agents/anvils/.well-known/agent-card.json?dialect=acme', { headers })
  expect(await served.json()).toMatchObject({ acmeNumber: 7 })`,
    ),
  },
  {
    row: 'a member of the Agent Card',
    edits: {
      'src/card/model/agent-card.ts': insertBefore(
        '  inputModes: plain(',
        "  exampleOutputs: plain(texts, 'What the skill returns for its examples.', { is: 'text' }),\n",
      ),
    },
    test: testOf(
      'validates, serves, signs and describes the member',
      `  const skill = { id: 'anvils', name: 'Anvils', description: 'Sells anvils to coyotes.', tags: ['anvil'] }
  const card = { name: 'A', description: 'Sells anvils to coyotes.', url: 'https://a.example/' }
  const put = (exampleOutputs: unknown) => host.put('anvils', { ...card, skills: [{ ...skill, exampleOutputs }] })
  await expect(put('Sold.')).rejects.toThrow('/skills/0/exampleOutputs must be a list of strings')
  const { report } = (await put(['Sold.'])) as { report: { issues: unknown[] } }
  expect(report.issues).not.toContainEqual(expect.objectContaining({ pointer: '/skills/0/exampleOutputs' }))
  const read = (path: string) => host.fetch(path, { headers }).then(response => response.json())
  for (const dialect of ['1.0', '0.3']) {
    const served = await read(\`/agents/anvils/.well-known/agent-card.json?dialect=\${dialect}\`)
    expect(served).toMatchObject({ skills: [{ exampleOutputs: ['Sold.'] }] })
  }
  const signed = (exampleOutputs: string[]) => writePayload('served', { ...card, skills: [{ ...skill, exampleOutputs }] })
  expect([signed(['Sold.'])?.includes('exampleOutputs'), signed([])?.includes('exampleOutputs')]).toEqual([true, false])
  expect(JSON.stringify(await read('/schema/manifest.json'))).toContain('What the skill returns for its examples.')`,
      "import { writePayload } from '../src/card/signatures/index.ts'",
    ),
  },
  {
    row: 'an A2A operation',
    edits: {
      'src/a2a/operations.ts': insertBefore(
        '  resubscribe: {',
        `  pauseTask: {
    names: { '1.0': 'PauseTask' },
    http: [['POST'], 'tasks/{id}:pause'],
    ...{ task: 'id', result: { one: 'task' }, params: METADATA },
  },
`,
      ),
    },
    test: testOf(
      'permits and describes the operation',
      `  expect(resolveMethod('PauseTask', undefined)).toMatchObject({ operation: 'pauseTask', version: '1.0' })
  expect(matchRestPath('POST', 'tasks/7:pause')).toMatchObject({ operation: 'pauseTask', pathParams: { id: '7' } })
  const { paths } = (await (await host.fetch('/openapi.json', { headers })).json()) as { paths: object }
  expect(Object.keys(paths)).toContain('/agents/{id}/a2a/tasks/{taskId}:pause')`,
      "import { matchRestPath, resolveMethod } from '../src/a2a/index.ts'",
    ),
  },
  {
    row: 'a version of A2A that adds to another',
    edits: {
      'src/card/model/versions.ts': insertBefore(
        '} as const satisfies Record<string, Version>',
        "  '1.1': { ...v1_0, follows: '1.0', forms: { JSONRPC: 'proto-1.1', 'HTTP+JSON': 'proto-1.1' } },\n",
      ),
      'src/a2a/objects/table.ts': insertBefore(
        "    { name: 'url', is: 'text', required: true },",
        "    { name: 'redacted', since: '1.1' },\n",
      ),
      'src/a2a/operations.ts': text =>
        text.replaceAll('params: METADATA,\n', "params: { ...METADATA, cursor: { since: '1.1' } },\n"),
    },
    test: testOf(
      'serves an agent of the version, and translates between it and those before',
      `  const sent: string[] = []
  const config = { id: 'p', taskId: 't', url: 'https://client.example/push' }
  const fetch = async (input: string, init: RequestInit) => {
    sent.push(new Request(input, init).headers.get('A2A-Version') ?? '')
    return Response.json({ jsonrpc: '2.0', id: 7, result: { ...config, redacted: true } })
  }
  Object.assign(host.env, { AGENT: { fetch } })
  const register = (id: string, protocolVersion: string) => {
    const skills = [{ id: 's', name: 'Rain', description: 'Tells whether it rains.', tags: ['rain'] }]
    const supportedInterfaces = [{ url: 'https://agent.example', protocolBinding: 'JSONRPC', protocolVersion }]
    const card = {
      ...{ name: id, description: 'Knows the weather.', version: '1.0.0', skills, supportedInterfaces },
      ...{ defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] },
      capabilities: { streaming: true, pushNotifications: true },
    }
    return host.put(id, { card, route: 'gateway', upstream: { service: 'AGENT' }, gate: { tasks: 'shared' } })
  }
  await register('new', '1.1')
  await register('old', '1.0')
  const call = async (id: string, version: string, method: string, params: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params })
    const init = { method: 'POST', headers: { ...headers, 'A2A-Version': version }, body }
    const response = await host.fetch(\`/agents/\${id}/a2a\`, init)
    return [await response.text(), response.headers.get('Gate-Warning')]
  }
  const read = (version: string) => call('new', version, 'GetTaskPushNotificationConfig', { taskId: 't', id: 'p' })
  expect(await read('1.1')).toEqual([expect.stringContaining('redacted'), null])
  expect(await read('1.0')).toEqual([expect.not.stringContaining('redacted'), 'lossy (redacted)'])
  const follow = await call('old', '1.1', 'SubscribeToTask', { id: 't', cursor: '5' })
  expect(follow).toEqual([expect.anything(), expect.stringContaining('lossy (cursor)')])
  expect(sent).toEqual(['1.1', '1.1', '1.0'])`,
    ),
  },
  {
    row: 'an endpoint',
    edits: {
      'src/api/ping.ts': `import * as v from 'valibot'
import { json, endpoint } from './contract/index.ts'

const Pong = v.object({ caller: v.string() })

/** \`GET /ping\`: says that the host runs. */
export const ping = endpoint(
  {
    tag: 'documents',
    summary: 'Ask whether the host runs',
    access: 'token',
    responses: { 200: json('It runs.', Pong) },
  },
  ({ caller }) => ({ body: { caller: caller.subject } }),
)
`,
      'src/app.ts': text =>
        insertBefore(
          'const revisions =',
          "const ping = () => import('./api/ping.ts')\n",
        )(insertBefore("  route('GET', '/health'", "  route('GET', '/ping', lazy(ping, 'ping')),\n")(text)),
    },
    test: testOf(
      'serves, protects and describes the endpoint',
      `  expect((await host.fetch('/ping')).status).toBe(401)
  expect(await (await host.fetch('/ping', { headers })).json()).toEqual({ caller: 'admin' })
  const { paths } = (await (await host.fetch('/openapi.json')).json()) as { paths: object }
  expect(Object.keys(paths)).toContain('/ping')`,
    ),
  },
  {
    row: 'a page',
    edits: {
      'src/pages/about-page.tsx': `import { scriptPage } from './layout/index.ts'

/** \`GET /about\`: says whose host this is. */
export const getAboutPage = scriptPage('Get the page about this host', () => ({
  title: 'About',
  main: <h1>About this host</h1>,
}))
`,
      'src/pages/index.ts': insertBefore('export { getCardPage }', "export { getAboutPage } from './about-page.tsx'\n"),
      'src/app.ts': insertBefore("  route('GET', '/lint'", "  route('GET', '/about', lazy(pages, 'getAboutPage')),\n"),
    },
    test: testOf(
      'serves and describes the page',
      `  const page = await host.fetch('/about', { headers: { Accept: 'text/html' } })
  expect([page.status, page.headers.get('Content-Security-Policy')]).toEqual([200, expect.stringContaining("'none'")])
  expect(await page.text()).toContain('<h1>About this host</h1>')
  const { paths } = (await (await host.fetch('/openapi.json', { headers })).json()) as { paths: object }
  expect(Object.keys(paths)).toContain('/about')`,
    ),
  },
  {
    row: 'a problem',
    edits: {
      'src/problems.ts': insertBefore("  'host-taken':", "  'gone-fishing': [410, 'the host has gone fishing'],\n"),
    },
    test: `import { expect, it } from 'vitest'
import { problem, statusOf } from '../src/http/index.ts'

it('has the status', () => {
  expect(statusOf(problem('gone-fishing', 'Come back later.'))).toBe(410)
})
`,
  },
  {
    row: 'a token scope',
    edits: {
      'src/card/model/constants.ts': insertBefore("'admin'] as const", "'inspect', "),
      'src/auth/principal.ts': insertBefore(
        "isAdmin(caller) || (scope === 'read'",
        "(scope === 'inspect' && caller.scopes.includes('write')) || ",
      ),
      'src/api/admin/audit-log.ts': text => text.replace("access: 'admin'", "access: 'inspect'"),
    },
    test: testOf(
      'issues and requires the scope',
      `  const issue = async (scope: string) => {
    const body = JSON.stringify({ scopes: [scope] })
    const issued = await host.fetch('/tokens', { method: 'POST', headers, body })
    return ((await issued.json()) as { token: string }).token
  }
  const statusWith = async (scope: string) =>
    (await host.fetch('/audit', { headers: { Authorization: \`Bearer \${await issue(scope)}\` } })).status
  expect([await statusWith('inspect'), await statusWith('write'), await statusWith('read')]).toEqual([200, 200, 403])`,
    ),
  },
  {
    row: 'a member of a response',
    edits: {
      'src/api/schemas/tokens.ts': text =>
        text
          .replace(
            'export const Token = v.object({',
            "export const Token = v.object({ isAdmin: flag('Whether it allows all.'),",
          )
          .replace('): Token => ({', "): Token => ({\n  isAdmin: scopes.includes('admin'),"),
    },
    test: testOf(
      'returns the member',
      `  const body = JSON.stringify({ scopes: ['admin'] })
  await host.fetch('/tokens', { method: 'POST', headers, body })
  expect(await (await host.fetch('/tokens', { headers })).json()).toMatchObject({ tokens: [{ isAdmin: true }] })`,
    ),
  },
  {
    row: 'a header on every refusal',
    edits: {
      'src/app.ts': text =>
        text.replace(
          "  if (url.startsWith('https:'))",
          "  if (response.status >= 400) response.headers.set('X-Refused', 'yes')\n  if (url.startsWith('https:'))",
        ),
      'src/a2a/error-response.ts': text => text.replaceAll('{ ...headers, ', "{ ...headers, 'X-Refused': 'yes', "),
    },
    test: testOf(
      'sends the header',
      `  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/stream', params: {} })
  const responses = [
    await host.fetch('/nothing'),
    await host.fetch('/agents/none/a2a', { method: 'POST', headers, body: call }),
    await host.fetch('/ard/agents?pageSize=0'),
    await host.fetch('/nothing', { headers: { Accept: 'text/html' } }),
  ]
  expect(responses.map(({ headers }) => headers.get('X-Refused'))).toEqual(['yes', 'yes', 'yes', 'yes'])`,
    ),
  },
]
