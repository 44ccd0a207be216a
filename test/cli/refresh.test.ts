import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeHost } from './fake-host.ts'
import { Workspace } from './workspace.ts'

let host: FakeHost
let env: Record<string, string>
let answers: Record<string, { status: number; body: unknown }>

const held = {
  etag: '"abc"',
  widens: [{ pointer: '/url', message: 'is on another host: evil.example.com' }],
  drift: [
    { op: 'replace', pointer: '/url', before: 'https://a.example.com/a2a', after: 'https://evil.example.com/a2a' },
  ],
}

beforeEach(async () => {
  host = await new FakeHost().listen()
  env = { SYNC_CARD_URL: host.url, SYNC_CARD_TOKEN: host.token }
  answers = {}
  host.faults = [
    ({ method, path }, response) => {
      const answer = method === 'POST' ? answers[path] : undefined
      if (answer === undefined) return false
      response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer.body))
      return true
    },
  ]
})
afterEach(() => host.close())

const refresh = (...args: string[]) => new Workspace().run(['refresh', ...args], env)

describe('sync-card refresh', () => {
  it('refreshes each agent, and shows what its upstream has changed', async () => {
    const drift = [{ op: 'add', pointer: '/skills/2', after: { id: 'new' } }]
    answers['/agents/weather/refresh'] = { status: 200, body: { id: 'weather', outcome: 'refreshed', seq: 3, drift } }
    answers['/agents/news/refresh'] = { status: 200, body: { id: 'news', outcome: 'unchanged' } }
    const { stdout, code } = await refresh('weather', 'news')
    expect([stdout, code]).toEqual(['refreshed weather\n    + /skills/2 {"id":"new"}\nunchanged news\n', 0])
  })

  it('shows which values are left out, and how many more changes there are', async () => {
    const drift = [
      { op: 'replace', pointer: '/description', after: 'B', leftOut: ['before'] },
      { op: 'more', pointer: '', count: 7 },
    ]
    answers['/agents/weather/refresh'] = { status: 200, body: { id: 'weather', outcome: 'refreshed', seq: 3, drift } }
    const { stdout } = await refresh('weather')
    expect(stdout).toBe('refreshed weather\n    ~ /description (too long to show) → "B"\n    … and 7 more\n')
  })

  it('shows how a held card widens access, and the command that accepts it', async () => {
    answers['/agents/weather/refresh'] = { status: 200, body: { id: 'weather', outcome: 'held', held } }
    const { stdout } = await refresh('weather')
    expect(stdout).toContain('/url is on another host: evil.example.com')
    expect(stdout).toContain(`npx sync-card refresh weather --accept '"abc"'`)
  })

  it('accepts the named card', async () => {
    answers['/agents/weather/refresh'] = { status: 200, body: { id: 'weather', outcome: 'refreshed', drift: [] } }
    await refresh('weather', '--accept', '"abc"')
    expect(host.seen.map(({ body }) => body)).toEqual(['{"accept":"\\"abc\\""}'])
  })

  it('continues after an agent whose upstream fails (exit 3)', async () => {
    const problem = { code: 'upstream-timeout', detail: 'It did not answer within 10 seconds.' }
    answers['/agents/weather/refresh'] = { status: 504, body: problem }
    answers['/agents/news/refresh'] = { status: 200, body: { id: 'news', outcome: 'unchanged' } }
    const { stdout, stderr, code } = await refresh('weather', 'news')
    expect([stdout, code]).toEqual(['unchanged news\n', 3])
    expect(stderr).toContain('weather: It did not answer within 10 seconds.')
  })

  it('accepts for exactly one agent (exit 2)', async () => {
    const { stderr, code } = await refresh('weather', 'news', '--accept', '"abc"')
    expect([stderr, code]).toEqual([expect.stringContaining('--accept takes exactly one agent'), 2])
  })
})

describe('sync-card with an upstream card', () => {
  const manifest = { upstream: { card: 'https://weather.example.com/card.json' } }
  const failure = { message: "The card's address cannot be reached." }

  it.each([
    [
      'has not been fetched',
      { state: 'no-card', failure },
      1,
      `no card to serve yet, and the host keeps retrying. ${failure.message}`,
    ],
    [
      'is stale',
      { state: 'stale', failure },
      1,
      `the previous card is served, and the host keeps retrying. ${failure.message}`,
    ],
    ['is held', { state: 'held' }, 1, 'waits for approval: sync-card refresh shows the changes'],
    ['is fresh', { state: 'fresh' }, 0, '= unchanged weather (cards/weather.json)\n'],
  ])('reports for an unchanged agent that its card %s', async (_, source, code, text) => {
    host.register('weather', { ...manifest, card: {} })
    host.faults = [
      ({ method, path }, response) => {
        if (method !== 'GET' || path !== '/agents/weather/source') return false
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ id: 'weather', source }))
        return true
      },
    ]
    const result = await new Workspace({ 'cards/weather.json': manifest }).run(['--check'], env)
    expect([result.code, result.stdout]).toEqual([code, expect.stringContaining(text)])
  })
})
