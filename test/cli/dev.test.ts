import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createContext } from '../../cli/context.ts'
import { readLocalToken, writeDevConfig } from '../../cli/dev/dev-config.ts'
import { checkPort } from '../../cli/dev/dev-server.ts'
import { EXAMPLE_WORKERS } from '../../cli/dev/samples.ts'
import { echoCommands, extendedCardCommands, toolCommands, welcome } from '../../cli/dev/welcome.ts'
import type { FakeHost } from './fake-host.ts'
import { card, useFakeHost, Workspace } from './workspace.ts'

const { host } = useFakeHost()

const runWelcome = async (files: Record<string, unknown>): Promise<string> => {
  const { io, output } = new Workspace(files).io()
  await welcome({ url: host.url, token: host.token }, 'the-token', createContext(io, 'npm start'))
  return output().stdout
}

describe('welcome', () => {
  it('shows how to call the samples', async () => {
    const samples = ['echo', 'tool-box', 'weather'].map(id => [`examples/cards/${id}.json`, card(id)])
    const stdout = await runWelcome(Object.fromEntries(samples))
    for (const command of [...echoCommands(host.url), ...extendedCardCommands(host.url), ...toolCommands(host.url)])
      expect(stdout).toContain(`\n  ${command}\n`)
  })

  it('sends the echo agent of the samples first, then the other samples, then the cards of cards/', async () => {
    await runWelcome({
      'examples/cards/a.json': card('a'),
      'examples/cards/echo.yaml': JSON.stringify(card('echo')),
      'cards/0.json': card('0'),
    })
    expect(host.writes).toEqual(['PUT /agents/echo', 'PUT /agents/a', 'PUT /agents/0'])
  })

  it('sends no sample with the id of a card of cards/, even if that card is invalid', async () => {
    const agents = { A: { url: 'https://a.example.com' }, B: { url: 'https://b.example.com' } }
    const stdout = await runWelcome({
      'examples/cards/agents.json': agents,
      'examples/cards/echo.yaml': JSON.stringify(card('sample')),
      'examples/cards/c.json': card('c'),
      'cards/echo.json': card('own'),
      'cards/b.yaml': 'name: B',
    })
    expect(stdout).toMatch(/✗ invalid {3}b \(cards\/b\.yaml/)
    expect(host.writes).toEqual(['PUT /agents/c', 'PUT /agents/echo'])
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

  it('reports an invalid sample', async () => {
    const stdout = await runWelcome({ 'examples/cards/a.json': '{', 'cards/b.json': card('b') })
    expect(stdout).toMatch(/✗ invalid {3}examples\/cards\/a\.json/)
    expect(host.writes).toEqual(['PUT /agents/b'])
  })

  it.each([
    ['a sample whose card is internal', { 'examples/cards/echo.json': { card: card('echo'), visibility: 'internal' } }],
    ['a card with the id of a sample', { 'examples/cards/echo.json': card('echo'), 'cards/echo.json': card('echo') }],
  ])('shows no call of %s', async (_, files) => {
    const stdout = await runWelcome(files)
    expect(stdout).toContain('echo  ')
    expect(stdout).not.toContain('SendMessage')
  })

  it('shows no root card if the hostname has no agent', async () => {
    const stdout = await runWelcome({ 'cards/a.json': card('a') })
    expect(stdout).not.toMatch(/\d\/\.well-known\/agent/)
    expect(stdout).toMatch(/agents\/a\?dialect=gopherhole/)
  })

  it('reports invalid cards, and sends the others', async () => {
    const stdout = await runWelcome({ 'cards/a.json': card('a'), 'cards/b.json': '{' })
    expect(stdout).toMatch(/✗ invalid {3}cards\/b\.json\n/)
    expect(host.writes).toEqual(['PUT /agents/a'])
  })

  it('reports an agent that the host cannot call, also if it is unchanged', async () => {
    const message = 'cannot be sent. This Worker has no secret "A_TOKEN".'
    host.issues = [{ rule: 'missing-binding', severity: 'warning', pointer: '/upstream/secret', message }]
    host.register('a', { card: card('a') })
    const stdout = await runWelcome({ 'cards/a.json': { card: card('a') } })
    expect(stdout).toMatch(/^= unchanged a .*\n {4}cards\/a\.json:.* warning \/upstream\/secret cannot be sent\. /)
    expect(stdout).toContain(': 1 unchanged, 1 of which cannot be called yet (see above)\n')
  })

  it('reports a card that has not been fetched yet', async () => {
    host.faults = [({ path }, response) => path.startsWith('/agents/a/.well-known') && unavailable(response)]
    expect(await runWelcome({ 'cards/a.json': card('a') })).toContain('its card has not been fetched yet')
  })

  it('works without any cards', async () => {
    const stdout = await runWelcome({})
    expect(stdout).toMatch(
      /^There is no folder cards here\..*\nNo agents yet: npx sync-card sends those of cards\/\.\n/,
    )
  })
})

/** As the host responds if an upstream fails, which is not retried. */
const unavailable = (response: Parameters<FakeHost['faults'][number]>[1]): boolean =>
  Boolean(response.writeHead(503, { 'Content-Type': 'application/json' }).end('{"code":"upstream-card-unavailable"}'))

describe('readLocalToken', () => {
  const secrets = { '.dev.vars': 'OTHER=1\nADMIN_TOKEN="of the file"\n' }
  it.each([
    [
      'is that of .dev.vars',
      secrets,
      {},
      { token: 'of the file', shell: '"$(node --env-file=.dev.vars -p process.env.ADMIN_TOKEN)"' },
    ],
    ['is that of the process first', secrets, { ADMIN_TOKEN: 'own' }, { token: 'own', shell: '"$ADMIN_TOKEN"' }],
  ])('%s', (_, files, env, token) => {
    expect(readLocalToken(new Workspace(files).folder, env)).toEqual(token)
  })

  it.each([
    ['whatever .env says', { '.env': 'ADMIN_TOKEN=of-a-deployment' }],
    ['if it is empty elsewhere', { '.dev.vars': 'ADMIN_TOKEN=' }],
  ])('is random, and another one each time, %s', (_, files) => {
    const { folder } = new Workspace(files)
    const tokens = [1, 2].map(() => readLocalToken(folder, { ADMIN_TOKEN: '' }))
    for (const { token, shell } of tokens)
      expect([token, shell]).toEqual([expect.stringMatching(/^[\da-f]{64}$/), token])
    expect(tokens[0]).not.toEqual(tokens[1])
  })
})

describe('writeDevConfig', () => {
  const examples = Object.fromEntries(EXAMPLE_WORKERS.map(({ config }) => [config, '']))

  it('writes bindings to the examples that exist, and secrets that only the owner can read', () => {
    const { folder } = new Workspace({ ...examples, 'wrangler.toml': 'name = "host"', '.dev.vars': 'KEY=1' })
    const { configs, envFiles, remove } = writeDevConfig(folder, '8787', { KEY: 'a$b', QUOTED: '{"a":"it"}' })
    expect(configs).toEqual(['.wrangler-start-8787.toml', ...Object.keys(examples)])
    expect(envFiles).toEqual(['.dev.vars', '.wrangler/start-8787.vars'])
    const text = readFileSync(join(folder, '.wrangler-start-8787.toml'), 'utf8')
    expect(text).toMatch(/^name = "host"\n\[\[services\]\]\nbinding = "ECHO"\nservice = "calling-card-example-echo"\n/)
    const secrets = join(folder, '.wrangler/start-8787.vars')
    expect(readFileSync(secrets, 'utf8')).toBe(`KEY='a\\$b'\nQUOTED='{"a":"it"}'\n`)
    expect(statSync(secrets).mode & 0o777).toBe(0o600)
    remove()
    expect(readdirSync(folder).filter(name => name.includes('start'))).toEqual([])
    expect(existsSync(secrets)).toBe(false)
  })

  it('adds no binding that wrangler.toml has', () => {
    const services = '[[services]]\nbinding = \'ECHO\'\nservice = "calling-card-example-echo"\n'
    const { folder } = new Workspace({ ...examples, 'wrangler.toml': services })
    const { configs } = writeDevConfig(folder, '8787', {})
    const text = readFileSync(join(folder, configs[0] ?? ''), 'utf8')
    expect(text.match(/^binding = .*$/gm)).toEqual(["binding = 'ECHO'", 'binding = "TOOLS"'])
  })

  it('uses wrangler.toml itself where there are no examples', () => {
    const { folder } = new Workspace()
    expect(writeDevConfig(folder, '1', {})).toMatchObject({ configs: [], envFiles: ['.wrangler/start-1.vars'] })
  })
})

describe('checkPort', () => {
  const check = (port: string) => checkPort(`http://127.0.0.1:${port}`, port, fetch)

  it('accepts a free port', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await new Promise(done => server.close(done))
    expect(await check(String(port))).toBeUndefined()
  })

  it.each([
    ['0', 'PORT is "0", which is not a port.'],
    ['http', 'PORT is "http", which is not a port.'],
    ['70000', 'PORT is "70000", which is not a port.'],
    ['6000', 'port 6000 is blocked by fetch and browsers: use another.'],
  ])('rejects %s', async (port, message) => {
    expect(await check(port)).toBe(message)
  })

  it('rejects a port that is in use', async () => {
    const { port } = new URL(host.url)
    expect(await check(port)).toContain(`Port ${port} is in use.`)
  })
})
