import { beforeEach, describe, expect, it } from 'vitest'
import { json } from './fake-host.ts'
import { containing, useFakeHost } from './workspace.ts'

const { host, run } = useFakeHost()
let answers: Record<string, { status: number; body: unknown }>

const pending = {
  etag: '"abc"',
  widens: [{ pointer: '/url', message: 'is on another host: evil.example.com' }],
  drift: [
    { op: 'replace', pointer: '/url', before: 'https://a.example.com/a2a', after: 'https://evil.example.com/a2a' },
  ],
}

const source = {
  ...{ kind: 'card', url: 'https://weather.example.com/card.json', state: 'fresh', ttl: 300, staleIfError: 86_400 },
  ...{ pin: true, due: '2026-11-26T12:00:00.000Z' },
}

beforeEach(() => {
  answers = {}
  host.faults = [
    ({ method, path }, response) => {
      const answer = method === 'POST' ? answers[path] : undefined
      return answer !== undefined && Boolean(json(response, answer.status, answer.body))
    },
  ]
})

/** Makes the host respond so when an agent is refreshed. */
const respond = (id: string, body: object, status = 200) => {
  const all =
    status === 200 ? { id, ...body, source: { ...source, ...('source' in body && Object(body.source)) } } : body
  answers[`/agents/${id}/refresh`] = { status, body: all }
}
const refresh = (args: string) => run({}, `refresh ${args}`)

describe('sync-card refresh', () => {
  it('refreshes each agent, and shows what its upstream has changed', async () => {
    const drift = [{ op: 'add', pointer: '/skills/2', after: { id: 'new' } }]
    respond('weather', { id: 'weather', outcome: 'refreshed', seq: 3, drift })
    respond('news', { id: 'news', outcome: 'unchanged' })
    const stdout = 'refreshed weather\n    + /skills/2 {"id":"new"}\nunchanged news\n'
    expect(await refresh('weather news')).toMatchObject({ code: 0, stdout })
  })

  it('repeats no secret of the card before and after', async () => {
    const token = 'sk-proj-Zq7Vt2Xw9Lm4Np6Rk8Ys3'
    const drift = [
      { op: 'replace', pointer: '/skills/0/tags/1', before: `Call me with ${token}`, after: 'B' },
      { op: 'remove', pointer: '/password', before: 'Hunter2Zq7Vt' },
      { op: 'add', pointer: '/keys', after: { apiKey: ['a1b2c3d4e5f6'] } },
    ]
    const outcome = { id: 'weather', outcome: 'refreshed', drift }
    for (const body of [outcome, { ...outcome, drift: [], pending: { ...pending, drift } }])
      for (const args of ['weather', 'weather --json']) {
        respond('weather', body)
        const { stdout } = await refresh(args)
        expect(stdout.split('[secret]')).toHaveLength(4)
        expect(stdout).not.toMatch(/sk-proj|Hunter2|a1b2c3/)
      }
  })

  it('shows which values are left out, and how many more changes there are', async () => {
    const drift = [
      { op: 'replace', pointer: '/description', after: 'B', omitted: ['before'] },
      { op: 'more', pointer: '', count: 7 },
    ]
    respond('weather', { id: 'weather', outcome: 'refreshed', seq: 3, drift })
    const { stdout } = await refresh('weather')
    expect(stdout).toBe('refreshed weather\n    ~ /description (not shown) → "B"\n    … and 7 more\n')
  })

  it('shows what the signatures of a card have shown', async () => {
    const key = { kid: 'k', thumbprint: 't', from: 'manifest' }
    const rows: [text: string, verification: object][] = [
      ['verified: signed with the key k from manifest (rule wire)', { verified: true, rule: 'wire', key }],
      ['not verified: it has no signatures', { verified: false, reason: 'it has no signatures' }],
      ['accepted without a valid signature: x', { verified: false, reason: 'x', accepted: true }],
    ]
    for (const [text, verification] of rows) {
      respond('weather', {
        id: 'weather',
        outcome: 'unchanged',
        source: { verification: { at: source.due, ...verification } },
      })
      expect((await refresh('weather')).stdout).toBe(`unchanged weather\n    ${text}\n`)
    }
  })

  it('shows how a pending card widens access, and the command that accepts it, with the URL of the host', async () => {
    respond('weather', { id: 'weather', outcome: 'pending', pending })
    const { stdout } = await refresh('weather')
    expect(stdout).toContain('/url is on another host: evil.example.com')
    expect(stdout).toContain(`npx sync-card refresh weather --accept '"abc"'`)
    const named = await refresh(`weather --url ${host.url}`)
    expect(named.stdout).toContain(`npx sync-card refresh weather --url ${host.url} --accept '"abc"'`)
  })

  it('shows no command with an entity tag that a shell would run (exit 4)', async () => {
    const body = { outcome: 'pending', pending: { ...pending, etag: `"';reboot;'"` } }
    respond('weather', body)
    expect(await refresh('weather')).toMatchObject({ code: 4, stdout: '' })
  })

  it('accepts the named card, for exactly one agent', async () => {
    respond('weather', { id: 'weather', outcome: 'refreshed', drift: [] })
    await refresh('weather --accept "abc"')
    expect(host.seen.map(({ body }) => body)).toEqual(['', '{"accept":"\\"abc\\""}'])
    const stderr = containing('--accept takes exactly one agent')
    expect(await refresh('weather news --accept "abc"')).toMatchObject({ code: 2, stderr })
  })

  it('prints with --json what was refreshed before the host is lost (exit 4)', async () => {
    respond('weather', { id: 'weather', outcome: 'unchanged' })
    respond('news', {}, 401)
    const { code, stdout, stderr } = await refresh('weather news sport --json')
    const failure =
      'the host rejects the token (401), which is wrong, expired or revoked: SYNC_CARD_TOKEN in the environment'
    const agents = [{ id: 'weather', outcome: 'unchanged', drift: [], notes: [] }]
    expect([code, JSON.parse(stdout), stderr]).toEqual([4, { agents, failure }, `sync-card: ${failure}.\n`])
  })

  it('continues after an agent that does not exist, or whose upstream fails (exit 3)', async () => {
    host.register('weather', {})
    respond('wether', { code: 'agent-not-found', detail: 'No agent.' }, 404)
    respond('weather', { id: 'weather', outcome: 'unchanged' })
    respond('news', { code: 'upstream-timeout', detail: 'It did not answer within 10 seconds.' }, 504)
    const message = 'The host has no agent "wether" that this token may read. Did you mean "weather"?'
    const stderr = `sync-card: ${message}\n`
    const stdout = 'unchanged weather\n'
    expect(await refresh('wether weather')).toMatchObject({ code: 3, stderr, stdout })
    const timeout = containing('news: It did not answer within 10 seconds.')
    expect(await refresh('news weather')).toMatchObject({ code: 3, stdout, stderr: timeout })
    const inJson = containing(JSON.stringify({ id: 'wether', error: message }))
    expect(await refresh('wether weather --json')).toMatchObject({ code: 3, stderr, stdout: inJson })
  })
})

describe('sync-card with an upstream card', () => {
  const files = { 'cards/weather.json': { upstream: { card: 'https://weather.example.com/card.json' } } }

  it('asks for the state of the upstream card only if the manifest is unchanged', async () => {
    host.register('weather', { upstream: { card: 'https://weather.example.com/previous.json' }, card: {} })
    expect((await run(files, '--dry-run')).code).toBe(1)
    expect(host.seen.map(({ path }) => path)).toEqual(['/agents/weather/manifest'])
  })

  it('reports for an unchanged agent in which state its card is', async () => {
    const failure = {
      ...{ status: 502, code: 'unreachable', message: "The card's address cannot be reached." },
      since: '2026-11-26T12:00:00.000Z',
    }
    const retries = `and the host keeps retrying. ${failure.message}`
    const rows: [state: object, code: number, text: string][] = [
      [{ state: 'no-card', failure }, 1, `no card to serve yet, ${retries}`],
      [{ state: 'stale', failure }, 1, `the previous card is served, ${retries}`],
      [{ state: 'pending' }, 1, 'waits for approval: npx sync-card refresh shows the changes'],
      [{ state: 'fresh' }, 0, ': 1 unchanged\n'],
    ]
    host.register('weather', { ...files['cards/weather.json'], card: {} })
    for (const [state, code, text] of rows) {
      const isRead = (method: string, path: string) => method === 'GET' && path === '/agents/weather/source'
      host.faults = [
        ({ method, path }, response) =>
          isRead(method, path) && Boolean(json(response, 200, { id: 'weather', source: { ...source, ...state } })),
      ]
      expect(await run(files, '--check')).toMatchObject({ code, stdout: containing(text) })
    }
  })
})
