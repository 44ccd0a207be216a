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
  it('has each agent read again, and says what its source has changed', async () => {
    const drift = [{ op: 'add', pointer: '/skills/2', after: { id: 'new' } }]
    answers['/agents/weather/refresh'] = { status: 200, body: { id: 'weather', outcome: 'refreshed', seq: 3, drift } }
    answers['/agents/news/refresh'] = { status: 200, body: { id: 'news', outcome: 'unchanged' } }
    const { stdout, code } = await refresh('weather', 'news')
    expect([stdout, code]).toEqual(['refreshed weather\n    + /skills/2 {"id":"new"}\nunchanged news\n', 0])
  })

  it('says what of a change is not told, and how many more there are', async () => {
    const drift = [
      { op: 'replace', pointer: '/description', after: 'B', leftOut: ['before'] },
      { op: 'more', pointer: '', count: 7 },
    ]
    answers['/agents/weather/refresh'] = { status: 200, body: { id: 'weather', outcome: 'refreshed', seq: 3, drift } }
    const { stdout } = await refresh('weather')
    expect(stdout).toBe('refreshed weather\n    ~ /description (too long to show) → "B"\n    … and 7 more\n')
  })

  it('says what a card that is held would widen, and the command that takes it', async () => {
    answers['/agents/weather/refresh'] = { status: 200, body: { id: 'weather', outcome: 'held', held } }
    const { stdout } = await refresh('weather')
    expect(stdout).toContain('/url is on another host: evil.example.com')
    expect(stdout).toContain(`npx sync-card refresh weather --accept '"abc"'`)
  })

  it('takes the card that it is told to', async () => {
    answers['/agents/weather/refresh'] = { status: 200, body: { id: 'weather', outcome: 'refreshed', drift: [] } }
    await refresh('weather', '--accept', '"abc"')
    expect(host.seen.map(({ body }) => body)).toEqual(['{"accept":"\\"abc\\""}'])
  })

  it('goes on after one that could not be read, and says so by its exit code', async () => {
    const problem = { code: 'upstream-timeout', detail: 'It did not answer within 10 seconds.' }
    answers['/agents/weather/refresh'] = { status: 504, body: problem }
    answers['/agents/news/refresh'] = { status: 200, body: { id: 'news', outcome: 'unchanged' } }
    const { stdout, stderr, code } = await refresh('weather', 'news')
    expect([stdout, code]).toEqual(['unchanged news\n', 3])
    expect(stderr).toContain('weather: It did not answer within 10 seconds.')
  })

  it('accepts for one agent at a time', async () => {
    const { stderr, code } = await refresh('weather', 'news', '--accept', '"abc"')
    expect([stderr, code]).toEqual([expect.stringContaining('--accept is for one agent'), 2])
  })
})

describe('sync-card, of an agent whose card comes from elsewhere', () => {
  const manifest = { upstream: { card: 'https://weather.example.com/card.json' } }
  const failure = { message: "The card's address cannot be reached." }

  it.each([
    [
      'has not come',
      { state: 'no-card', failure },
      1,
      `no card to serve yet, and the host goes on trying. ${failure.message}`,
    ],
    [
      'is old',
      { state: 'stale', failure },
      1,
      `the card that came before is served, and the host goes on trying. ${failure.message}`,
    ],
    ['is held back', { state: 'held' }, 1, 'sync-card refresh shows it'],
    ['is fresh', { state: 'fresh' }, 0, '= unchanged weather (cards/weather.json)\n'],
  ])('says of one that is unchanged, and whose card %s, how it stands', async (_, source, code, text) => {
    host.register('weather', { ...manifest, card: {} })
    host.faults = [
      ({ method, path }, response) => {
        if (method !== 'GET' || path !== '/agents/weather/source') return false
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ id: 'weather', source }))
        return true
      },
    ]
    const ended = await new Workspace({ 'cards/weather.json': manifest }).run(['--check'], env)
    expect([ended.code, ended.stdout]).toEqual([code, expect.stringContaining(text)])
  })
})
