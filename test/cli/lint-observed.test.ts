import { beforeEach, describe, expect, it } from 'vitest'
import { problem } from './fake-host.ts'
import { card, useFakeHost, Workspace } from './workspace.ts'

const { host, env } = useFakeHost()
let answers: Record<string, unknown>

beforeEach(() => {
  answers = {}
  host.faults = [
    ({ path, headers }, response) => {
      const body = headers.authorization === `Bearer ${host.token}` ? answers[path] : undefined
      if (body === undefined) return false
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
      return true
    },
    ({ path }, response) => {
      const [, id] = /^\/agents\/(\w+)\/observed$/.exec(path) ?? []
      if (id === undefined) return false
      problem(response, 404, 'agent-not-found', 'No agent.')
      return true
    },
  ]
})

const streaming = {
  rule: 'observed-streaming',
  pointer: '/capabilities/streaming',
  message: 'is true, but of 3 calls that asked for a stream none was answered with a stream',
  seen: { answered: 0, refused: 3, failed: 0 },
  change: { op: 'add', path: '/capabilities/streaming', value: false },
}
const times = { since: '2026-11-20T08:15:00.000Z', lastSeen: '2026-11-22T16:40:12.000Z' }
const observe = (id: string, proposals?: unknown[], calls = 3) => {
  answers[`/agents/${id}/observed`] = { id, calls, ...(calls > 0 && times), ...(proposals && { proposals }) }
}

const yaml = `card:
  name: Weather
  description: Tells the weather of any place
  url: https://weather.example.com/a2a
  capabilities:
    streaming: true
`
const lint = (files: Record<string, unknown>, ...args: string[]) =>
  new Workspace(files).run(['lint', '--observed', ...args], env)

describe('sync-card lint --observed', () => {
  it('reports a proposal where the card says otherwise, as a warning', async () => {
    observe('weather', [streaming])
    const { code, stdout } = await lint({ 'cards/weather.yaml': yaml })
    expect(stdout).toContain(
      `  cards/weather.yaml:6:5 warning /card/capabilities/streaming ${streaming.message} [observed-streaming]\n`,
    )
    expect(stdout).toContain(`  3 calls from ${times.since} to ${times.lastSeen}: 1 difference from the card\n`)
    expect(stdout).toMatch(/^1 file: 1 warning, \d infos$/m)
    expect(code).toBe(0)
  })

  it('reports it with position and change, with --format json', async () => {
    observe('weather', [streaming])
    const { stdout } = await lint({ 'cards/weather.yaml': yaml }, '--format', 'json')
    expect(JSON.parse(stdout).files).toEqual([
      expect.objectContaining({
        file: 'cards/weather.yaml',
        observed: {
          ...{ state: 'observed', calls: 3, ...times },
          proposals: [{ ...streaming, severity: 'warning', file: 'cards/weather.yaml', line: 6, column: 5 }],
        },
      }),
    ])
  })

  it('reports it with a known rule, with --format sarif', async () => {
    observe('weather', [streaming])
    const { stdout } = await lint({ 'cards/weather.yaml': yaml }, '--format', 'sarif')
    const [{ tool, results }] = JSON.parse(stdout).runs
    expect(tool.driver.rules).toContainEqual(expect.objectContaining({ id: 'observed-streaming' }))
    expect(results).toContainEqual(
      expect.objectContaining({
        ruleId: 'observed-streaming',
        level: 'warning',
        locations: [
          expect.objectContaining({
            physicalLocation: expect.objectContaining({ region: { startLine: 6, startColumn: 5 } }),
          }),
        ],
      }),
    )
  })

  it('points to the source of a card that the host fetches', async () => {
    observe('relay', [streaming, { ...streaming, pointer: '/card/capabilities/streaming' }])
    const file = 'card:\n  name: Relay\nupstream:\n  card: https://a.example.com/card.json\n'
    const { stdout } = await lint({ 'cards/relay.yaml': file })
    expect(stdout).toContain(`cards/relay.yaml:3:1 warning /capabilities/streaming ${streaming.message}`)
    expect(stdout).toContain(`cards/relay.yaml:1:1 warning /card/capabilities/streaming ${streaming.message}`)
  })

  it('says in one line that an agent is not registered, was never called or has no card', async () => {
    observe('never', [], 0)
    observe('cardless', undefined)
    const files = {
      'cards/new.json': card('new'),
      'cards/never.json': card('never'),
      'cards/cardless.json': card('cardless'),
    }
    const { code, stdout } = await lint(files)
    expect(stdout).toMatch(/^cards\/cardless.*\n(?: {2}.*\n)*? {2}3 calls from .*; the host has no valid card/m)
    expect(stdout).toMatch(/^cards\/never.*\n(?: {2}.*\n)*? {2}never called through the host\n/m)
    expect(stdout).toMatch(/^cards\/new.*\n(?: {2}.*\n)*? {2}not registered on the host\n/m)
    expect(code).toBe(0)
  })

  it('reports invalid files, for whose agents it does not ask', async () => {
    observe('weather', [streaming])
    const { code, stdout } = await lint({ 'cards/weather.yaml': yaml, 'cards/bad.yaml': 'card:\n  url: nowhere\n' })
    expect([code, host.seen.map(({ path }) => path)]).toEqual([3, ['/agents/weather/observed']])
    expect(stdout).toContain('[observed-streaming]')
  })

  it('fails if the host refuses one of the agents (exit 3), and reports the others', async () => {
    observe('weather', [streaming])
    host.faults.unshift(({ path }, response) => {
      if (path !== '/agents/other/observed') return false
      problem(response, 403, 'forbidden', 'This token lacks the scope `write`.')
      return true
    })
    const { code, stdout } = await lint({ 'cards/weather.yaml': yaml, 'cards/other.json': card('other') })
    expect(stdout).toContain(
      '  the host does not report its calls: This token lacks the scope `write` (SYNC_CARD_TOKEN in the environment).\n',
    )
    expect(stdout).toContain('[observed-streaming]')
    expect(code).toBe(3)
  })

  it('fails if the host rejects the token, or is no Calling Card host (exit 4)', async () => {
    answers['/agents/weather/observed'] = { hello: 'world' }
    const other = await lint({ 'cards/weather.yaml': yaml })
    expect([other.code, other.stderr]).toEqual([4, expect.stringContaining('it is not a Calling Card host')])
    host.faults = []
    const rejected = await lint({ 'cards/weather.yaml': yaml }, '--token', 'wrong-token')
    expect([rejected.code, rejected.stderr]).toEqual([4, expect.stringContaining('rejects the token')])
  })

  it('sends the token of --token to the host of --url', async () => {
    observe('weather', [])
    const workspace = new Workspace({ 'cards/weather.yaml': yaml })
    const { stdout } = await workspace.run(['lint', '--observed', '--url', host.url, '--token', host.token])
    expect(stdout).toContain('0 differences from the card')
  })

  it('is needed for --url and --token (exit 2)', async () => {
    const { code, stderr } = await new Workspace({ 'cards/weather.yaml': yaml }).run(['lint', '--url', host.url])
    expect([code, stderr]).toEqual([2, expect.stringContaining('--host, --url and --token need --observed')])
    expect(host.seen).toEqual([])
  })
})
