import { beforeEach, describe, expect, it } from 'vitest'
import { json, problem } from './fake-host.ts'
import { card, containing, useFakeHost } from './workspace.ts'

const { host, run } = useFakeHost()
let answers: Record<string, unknown>

beforeEach(() => {
  answers = {}
  host.faults = [
    ({ path, headers }, response) => {
      const body = headers.authorization === `Bearer ${host.token}` ? answers[path] : undefined
      if (body === undefined) return false
      return Boolean(json(response, 200, body))
    },
    ({ path }, response) =>
      /^\/agents\/\w+\/observed$/.test(path) && Boolean(problem(response, 404, 'agent-not-found', 'No agent.')),
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
  const none = { answered: 0, refused: 0, failed: 0 }
  answers[`/agents/${id}/observed`] = {
    ...{ id, calls, ...(calls > 0 && times), ...(proposals && { proposals }), errorRate: 0, failures: {} },
    ...{ streaming: none, pushNotifications: none, interfaces: [], operations: {}, mediaTypes: {} },
  }
}

const yaml = `card:
  name: Weather
  description: Tells the weather of any place
  url: https://weather.example.com/a2a
  capabilities:
    streaming: true
`
const lint = (files: Record<string, unknown>, args = '') => run(files, `lint --observed ${args}`)

describe('sync-card lint --observed', () => {
  it('reports a proposal where the card says otherwise, as a warning, in each format', async () => {
    observe('weather', [streaming])
    const { code, stdout } = await lint({ 'cards/weather.yaml': yaml })
    expect(stdout).toContain(
      `  cards/weather.yaml:6:5 warning /card/capabilities/streaming ${streaming.message} [observed-streaming]\n`,
    )
    expect(stdout).toContain(`  3 calls from ${times.since} to ${times.lastSeen}: 1 difference from the card\n`)
    expect(stdout).toMatch(/^1 file: 1 warning, \d infos$/m)
    expect(code).toBe(0)
    const inJson = await lint({ 'cards/weather.yaml': yaml }, '--format json')
    const proposal = { ...streaming, severity: 'warning', file: 'cards/weather.yaml', line: 6, column: 5 }
    const observed = { state: 'observed', calls: 3, ...times, proposals: [proposal] }
    expect(JSON.parse(inJson.stdout).files).toEqual([expect.objectContaining({ file: 'cards/weather.yaml', observed })])
    const sarif = await lint({ 'cards/weather.yaml': yaml }, '--format sarif')
    const [{ tool, results }] = JSON.parse(sarif.stdout).runs
    expect(tool.driver.rules).toContainEqual(expect.objectContaining({ id: 'observed-streaming' }))
    const found = results.filter(({ ruleId }: { ruleId: string }) => ruleId === 'observed-streaming')
    const region = { startLine: 6, startColumn: 5 }
    expect(found).toMatchObject([{ level: 'warning', locations: [{ physicalLocation: { region } }] }])
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
    const named = ['new', 'never', 'cardless'].map(id => [`cards/${id}.json`, card(id)])
    const { code, stdout } = await lint(Object.fromEntries(named))
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
    const reject = (response: Parameters<typeof problem>[0]) =>
      Boolean(problem(response, 403, 'forbidden', 'This token lacks the scope `write`.'))
    host.faults.unshift(({ path }, response) => path === '/agents/other/observed' && reject(response))
    const { code, stdout } = await lint({ 'cards/weather.yaml': yaml, 'cards/other.json': card('other') })
    expect(stdout).toContain(
      '  the host does not report its calls: This token lacks the scope `write` (SYNC_CARD_TOKEN in the environment).\n',
    )
    expect(stdout).toContain('[observed-streaming]')
    expect(code).toBe(3)
  })

  it('sends the token of --token to the host of --url, which need it', async () => {
    observe('weather', [])
    const files = { 'cards/weather.yaml': yaml }
    const stderr = containing('--host, --url and --token need --observed')
    expect(await run(files, `lint --url ${host.url}`)).toMatchObject({ code: 2, stderr })
    expect(host.seen).toEqual([])
    const { stdout } = await run(files, `lint --observed --url ${host.url} --token ${host.token}`, { env: {} })
    expect(stdout).toContain('0 differences from the card')
  })
})
