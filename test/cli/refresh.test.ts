import { beforeEach, describe, expect, it } from 'vitest'
import { useFakeHost, Workspace } from './workspace.ts'

const { host, env } = useFakeHost()
let answers: Record<string, { status: number; body: unknown }>

const pending = {
  etag: '"abc"',
  widens: [{ pointer: '/url', message: 'is on another host: evil.example.com' }],
  drift: [
    { op: 'replace', pointer: '/url', before: 'https://a.example.com/a2a', after: 'https://evil.example.com/a2a' },
  ],
}

beforeEach(() => {
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

const refresh = (...args: string[]) => new Workspace().run(['refresh', ...args], env)

describe('sync-card refresh', () => {
  it('refreshes each agent, and shows what its upstream has changed', async () => {
    const drift = [{ op: 'add', pointer: '/skills/2', after: { id: 'new' } }]
    answers['/agents/weather/refresh'] = { status: 200, body: { id: 'weather', outcome: 'refreshed', seq: 3, drift } }
    answers['/agents/news/refresh'] = { status: 200, body: { id: 'news', outcome: 'unchanged' } }
    const { stdout, code } = await refresh('weather', 'news')
    expect([stdout, code]).toEqual(['refreshed weather\n    + /skills/2 {"id":"new"}\nunchanged news\n', 0])
  })

  it.each([[[]], [['--json']]])('repeats no secret of the card before and after: %j', async flags => {
    const token = 'sk-proj-Zq7Vt2Xw9Lm4Np6Rk8Ys3'
    const drift = [
      { op: 'replace', pointer: '/skills/0/tags/1', before: `Call me with ${token}`, after: 'B' },
      { op: 'remove', pointer: '/password', before: 'Hunter2Zq7Vt' },
      { op: 'add', pointer: '/keys', after: { apiKey: ['a1b2c3d4e5f6'] } },
    ]
    const outcome = { id: 'weather', outcome: 'refreshed', drift }
    answers['/agents/weather/refresh'] = { status: 200, body: outcome }
    const shown = await refresh('weather', ...flags)
    answers['/agents/weather/refresh'] = {
      status: 200,
      body: { ...outcome, drift: [], pending: { ...pending, drift } },
    }
    for (const { stdout } of [shown, await refresh('weather', ...flags)]) {
      expect(stdout.split('[secret]')).toHaveLength(4)
      expect(stdout).not.toMatch(/sk-proj|Hunter2|a1b2c3/)
    }
  })

  it('shows which values are left out, and how many more changes there are', async () => {
    const drift = [
      { op: 'replace', pointer: '/description', after: 'B', omitted: ['before'] },
      { op: 'more', pointer: '', count: 7 },
    ]
    answers['/agents/weather/refresh'] = { status: 200, body: { id: 'weather', outcome: 'refreshed', seq: 3, drift } }
    const { stdout } = await refresh('weather')
    expect(stdout).toBe('refreshed weather\n    ~ /description (not shown) → "B"\n    … and 7 more\n')
  })

  it.each([
    [
      { verified: true, rule: 'wire', key: { kid: 'k', thumbprint: 't', from: 'manifest' } },
      'verified: signed with the key k from manifest (rule wire)',
    ],
    [{ verified: false, reason: 'it has no signatures' }, 'not verified: it has no signatures'],
    [{ verified: false, reason: 'x', accepted: true }, 'accepted without a valid signature: x'],
  ])('shows what the signatures of a card have shown: %j', async (verification, text) => {
    const body = { id: 'weather', outcome: 'unchanged', source: { verification } }
    answers['/agents/weather/refresh'] = { status: 200, body }
    expect((await refresh('weather')).stdout).toBe(`unchanged weather\n    ${text}\n`)
  })

  it('shows how a pending card widens access, and the command that accepts it', async () => {
    answers['/agents/weather/refresh'] = { status: 200, body: { id: 'weather', outcome: 'pending', pending } }
    const { stdout } = await refresh('weather')
    expect(stdout).toContain('/url is on another host: evil.example.com')
    expect(stdout).toContain(`npx sync-card refresh weather --accept '"abc"'`)
  })

  it('repeats the URL of the host in the command that accepts a pending card', async () => {
    answers['/agents/weather/refresh'] = { status: 200, body: { id: 'weather', outcome: 'pending', pending } }
    const { stdout } = await refresh('weather', '--url', host.url)
    expect(stdout).toContain(`npx sync-card refresh weather --url ${host.url} --accept '"abc"'`)
  })

  it('shows long values whole: whoever approves a change reads all of it', async () => {
    const drift = [{ op: 'add', pointer: '/a', after: 'x'.repeat(100) }]
    answers['/agents/weather/refresh'] = { status: 200, body: { id: 'weather', outcome: 'refreshed', drift } }
    expect((await refresh('weather')).stdout).toBe(`refreshed weather\n    + /a "${'x'.repeat(100)}"\n`)
  })

  it('shows no command with an entity tag that a shell would run (exit 4)', async () => {
    const body = { outcome: 'pending', pending: { ...pending, etag: `"';reboot;'"` } }
    answers['/agents/weather/refresh'] = { status: 200, body }
    const { code, stdout } = await refresh('weather')
    expect([code, stdout]).toEqual([4, ''])
  })

  it('accepts the named card', async () => {
    answers['/agents/weather/refresh'] = { status: 200, body: { id: 'weather', outcome: 'refreshed', drift: [] } }
    await refresh('weather', '--accept', '"abc"')
    expect(host.seen.map(({ body }) => body)).toEqual(['', '{"accept":"\\"abc\\""}'])
  })

  it('continues after an agent whose upstream fails (exit 3)', async () => {
    const problem = { code: 'upstream-timeout', detail: 'It did not answer within 10 seconds.' }
    answers['/agents/weather/refresh'] = { status: 504, body: problem }
    answers['/agents/news/refresh'] = { status: 200, body: { id: 'news', outcome: 'unchanged' } }
    const { stdout, stderr, code } = await refresh('weather', 'news')
    expect([stdout, code]).toEqual(['unchanged news\n', 3])
    expect(stderr).toContain('weather: It did not answer within 10 seconds.')
  })

  it('prints with --json what was refreshed before the host is lost (exit 4)', async () => {
    answers['/agents/weather/refresh'] = { status: 200, body: { id: 'weather', outcome: 'unchanged' } }
    answers['/agents/news/refresh'] = { status: 401, body: {} }
    const { code, stdout, stderr } = await refresh('weather', 'news', 'sport', '--json')
    expect({ code, stdout: JSON.parse(stdout), stderr }).toEqual({
      code: 4,
      stdout: {
        agents: [{ id: 'weather', outcome: 'unchanged', drift: [], notes: [] }],
        failure:
          'the host rejects the token (401), which is wrong, expired or revoked: SYNC_CARD_TOKEN in the environment',
      },
      stderr:
        'sync-card: the host rejects the token (401), which is wrong, expired or revoked: SYNC_CARD_TOKEN in the environment.\n',
    })
  })

  it.each([[[]], [['--json']]])(
    'suggests an agent for one that does not exist, and continues (exit 3): %j',
    async flags => {
      host.register('weather', {})
      answers['/agents/wether/refresh'] = { status: 404, body: { code: 'agent-not-found', detail: 'No agent.' } }
      answers['/agents/weather/refresh'] = { status: 200, body: { id: 'weather', outcome: 'unchanged' } }
      const message = 'The host has no agent "wether" that this token may read. Did you mean "weather"?'
      const { code, stdout, stderr } = await refresh('wether', 'weather', ...flags)
      expect({ code, stderr }).toEqual({ code: 3, stderr: `sync-card: ${message}\n` })
      expect(stdout).toContain('weather')
      expect(stdout.includes(JSON.stringify({ id: 'wether', error: message }))).toBe(flags.length > 0)
    },
  )

  it('accepts for exactly one agent (exit 2)', async () => {
    const { stderr, code } = await refresh('weather', 'news', '--accept', '"abc"')
    expect([stderr, code]).toEqual([expect.stringContaining('--accept takes exactly one agent'), 2])
  })
})

describe('sync-card with an upstream card', () => {
  it('asks for the state of the upstream card only if the manifest is unchanged', async () => {
    host.register('weather', { upstream: { card: 'https://weather.example.com/previous.json' }, card: {} })
    const { code } = await new Workspace({ 'cards/weather.json': manifest }).run(['--dry-run'], env)
    expect({ code, paths: host.seen.map(({ path }) => path) }).toEqual({ code: 1, paths: ['/agents/weather/manifest'] })
  })

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
    ['is pending', { state: 'pending' }, 1, 'waits for approval: npx sync-card refresh shows the changes'],
    ['is fresh', { state: 'fresh' }, 0, ': 1 unchanged\n'],
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
