import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createContext } from '../../cli/context.ts'
import {
  checkPort,
  EXAMPLE_WORKERS,
  parseStateFolder,
  readChosenToken,
  writeDevConfig,
} from '../../cli/dev/dev-server.ts'
import { SAMPLES, welcome } from '../../cli/dev/welcome.ts'
import { json } from './fake-host.ts'
import { card, containing, useFakeHost, Workspace } from './workspace.ts'

const { host } = useFakeHost()

const runWelcome = async (files: Record<string, unknown>): Promise<string> => {
  const { io, output } = new Workspace(files).io()
  const started = { url: host.url, token: host.token, shellToken: 'the-token', state: 'state' }
  await welcome(started, createContext(io, 'npm start'))
  return output().stdout
}

describe('welcome', () => {
  it('shows how to call the samples', async () => {
    const samples = ['echo', 'tool-box', 'weather'].map(id => [`examples/cards/${id}.json`, card(id)])
    const stdout = await runWelcome(Object.fromEntries(samples))
    const shown = Object.entries(SAMPLES).flatMap(([id, { commands }]) => commands(`${host.url}/agents/${id}`))
    for (const command of shown) expect(stdout).toContain(`\n  ${command}\n`)
  })

  it('sends echo first, the other samples, then cards/, and no sample with the id of a card there, even an invalid one', async () => {
    const stdout = await runWelcome({
      'examples/cards/agents.json': { A: { url: 'https://a.example.com' }, B: { url: 'https://b.example.com' } },
      'examples/cards/c.json': card('c'),
      'examples/cards/echo.yaml': JSON.stringify(card('echo')),
      'cards/a.json': card('own'),
      'cards/b.yaml': 'name: B',
    })
    expect(stdout).toMatch(/✗ invalid {3}b \(cards\/b\.yaml/)
    expect(host.writes).toEqual(['PUT /agents/echo', 'PUT /agents/c', 'PUT /agents/a'])
  })

  it('lets a card replace a sample of an earlier start, but no sample an agent of the owner', async () => {
    host.register('a', { card: card('sample'), set: 'examples' })
    host.register('b', { card: card('b'), set: 'mine' })
    const stdout = await runWelcome({
      'examples/cards/defaults.yaml': 'set: examples',
      'examples/cards/b.json': card('sample'),
      'cards/defaults.yaml': 'set: mine',
      'cards/a.json': card('a'),
    })
    expect(host.writes).toEqual(['PUT /agents/a'])
    expect(stdout).toMatch(/^a {2}/)
  })

  it('shows no call of a sample whose card is internal, or whose id a card has', async () => {
    const internal = { card: card('echo'), visibility: 'internal' }
    for (const own of [{}, { 'cards/echo.json': card('echo') }]) {
      const stdout = await runWelcome({ 'examples/cards/echo.json': internal, ...own })
      expect([stdout, stdout.includes('SendMessage')]).toEqual([containing('echo  '), false])
    }
  })

  it('reports an agent that the host cannot call, also if it is unchanged', async () => {
    const message = 'cannot be sent. This Worker has no secret "A_TOKEN".'
    host.issues = [{ rule: 'missing-binding', severity: 'warning', pointer: '/upstream/secret', message }]
    host.register('a', { card: card('a') })
    const stdout = await runWelcome({ 'cards/a.json': { card: card('a') } })
    expect(stdout).toMatch(/^= unchanged a .*\n {4}cards\/a\.json:.* warning \/upstream\/secret cannot be sent\. /)
    expect(stdout).toContain(': 1 unchanged, 1 of which cannot be called yet (see above)\n')
  })

  it('marks the agents whose card or calls need the token', async () => {
    const gated = { url: `${host.url}/agents/a/a2a`, security: [{ bearer: [] }] }
    const own = { url: 'https://b.example.com', security: [{ bearer: [] }] }
    const cards: Record<string, object> = { a: gated, b: own, c: { ...gated, security: [] } }
    host.faults = [
      ({ method, path }, response) => {
        const [, id = ''] = /^\/agents\/(.)\/\.well-known/.exec(path) ?? []
        if (id === 'e') return Boolean(json(response, 503, { code: 'upstream-card-unavailable' }))
        return method === 'GET' && id in cards && Boolean(json(response, 200, cards[id]))
      },
    ]
    const files = Object.fromEntries(['a', 'b', 'c', 'e'].map(id => [`cards/${id}.json`, card(id)]))
    const stdout = await runWelcome({ ...files, 'cards/d.json': { card: card('d'), visibility: 'internal' } })
    expect(stdout.split('\n').slice(0, 5)).toEqual([
      `a  ${host.url}/agents/a/  calls need $TOKEN`,
      `b  ${host.url}/agents/b/`,
      `c  ${host.url}/agents/c/`,
      `d  ${host.url}/agents/d/  internal: needs $TOKEN`,
      `e  ${host.url}/agents/e/  its card has not been fetched yet`,
    ])
  })

  it('works without any cards', async () => {
    const stdout = await runWelcome({})
    expect(stdout).toMatch(
      /^There is no folder cards here\..*\nNo agents yet: npx sync-card sends those of cards\/\.\n/,
    )
  })
})

it('parseStateFolder resolves the folder of --state, and rejects everything else', () => {
  const rows = {
    ...{ '': '/clone/.wrangler/state', '--state a/b': '/clone/a/b', '--state=/a': '/a', '--state': undefined },
    ...{ '--state=': undefined, a: undefined, '--state a b': undefined, '--port 8788': undefined },
  }
  for (const [args, folder] of Object.entries(rows))
    expect(parseStateFolder(args.split(' ').filter(Boolean), '/clone'), args).toBe(folder)
})

it('readChosenToken reads that of the process, or of .dev.vars, but not of .env', () => {
  const read = (files: Record<string, string>, ADMIN_TOKEN?: string) =>
    readChosenToken(new Workspace(files).folder, ADMIN_TOKEN === undefined ? {} : { ADMIN_TOKEN })
  const secrets = { '.dev.vars': 'OTHER=1\nADMIN_TOKEN="of the file"\n' }
  expect(read(secrets)).toBe('of the file')
  expect(read(secrets, 'own')).toBe('own')
  expect(read({ '.env': 'ADMIN_TOKEN=of-a-deployment' }, '')).toBeUndefined()
  expect(read({ '.dev.vars': 'ADMIN_TOKEN=' }, '')).toBeUndefined()
})

describe('writeDevConfig', () => {
  const examples = Object.fromEntries(EXAMPLE_WORKERS.map(({ config }) => [config, '']))
  const write = (files: Record<string, unknown>) => {
    const { folder } = new Workspace(files)
    return { configs: writeDevConfig(folder, 'made.toml'), text: readFileSync(join(folder, 'made.toml'), 'utf8') }
  }

  it('writes bindings to the examples that exist, and the names of the secrets but no keys of production', () => {
    const secrets = 'WEATHER_TOKEN=1\nADMIN_TOKEN=2\nSIGNING_KEY=3\nSIGNING_KEY_2=4'
    expect(write({ ...examples, 'wrangler.toml': 'name = "host"', '.dev.vars': secrets })).toEqual({
      configs: ['made.toml', ...Object.keys(examples)],
      text: `name = "host"
[[services]]
binding = "ECHO"
service = "calling-card-example-echo"

[[services]]
binding = "TOOLS"
service = "calling-card-example-mcp"

[secrets]
required = ["ADMIN_TOKEN","LOCAL_ORIGINS","SIGNING_KEY","WEATHER_TOKEN"]
`,
    })
  })

  it('leaves variables of wrangler.toml out of the secrets, so that .dev.vars can replace their values', () => {
    const variables = 'name = "host"\n[vars]\n# Origins [of this machine]\nALLOWED_ORIGINS = ""\n[env.b.vars]\nB = ""\n'
    const { text } = write({ 'wrangler.toml': variables, '.dev.vars': 'ALLOWED_ORIGINS=http://localhost:1\nB=2' })
    expect(text.match(/^required = .*$/gm)).toEqual(['required = ["ADMIN_TOKEN","LOCAL_ORIGINS","SIGNING_KEY","B"]'])
  })

  it('adds no binding that wrangler.toml has', () => {
    const services = '[[services]]\nbinding = \'ECHO\'\nservice = "calling-card-example-echo"\n'
    const { text } = write({ ...examples, 'wrangler.toml': services })
    expect(text.match(/^binding = .*$/gm)).toEqual(["binding = 'ECHO'", 'binding = "TOOLS"'])
  })
})

it('checkPort accepts a free port only', async () => {
  const check = (port: string) => checkPort(`http://127.0.0.1:${port}`, port, fetch)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = String((server.address() as AddressInfo).port)
  expect(await check(port)).toContain(`Port ${port} is in use.`)
  await new Promise(done => server.close(done))
  expect(await check(port)).toBeUndefined()
  for (const none of ['0', 'http', '70000', '1.5'])
    expect(await check(none)).toBe(`PORT is "${none}", which is not a port.`)
  expect(await check('6000')).toBe('port 6000 is blocked by fetch and browsers: use another.')
})
