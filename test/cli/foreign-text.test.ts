import { beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { run } from '../../cli/cli.ts'
import { NO_ENTRY_HASH, sealEntry } from '../../src/registry/audit/chain.ts'
import { json, problem } from './fake-host.ts'
import { card, containing, useFakeHost, Workspace } from './workspace.ts'

/** Erases the screen, hides what follows, begins a line of its own, and reverses the order of what follows. */
const hostile =
  'x\u001b[2J\u001b[8my\u0007\u009b2J\u007f\r\nFORGED\tz\u2028\u2029\u061c\u200e\u200f\u202a\u202e\u2066\u2069'
/** What people see of it. */
const shown =
  'x\\u001b[2J\\u001b[8my\\u0007\\u009b2J\\u007f\\r\\nFORGED\\tz\\u2028\\u2029\\u061c\\u200e\\u200f\\u202a\\u202e\\u2066\\u2069'
/** What no output has, except for its own colors and line breaks. */
const raw = /(?!\n)[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u
const withoutOwnColors = (text: string): string =>
  [1, 2, 22, 31, 32, 33, 36, 39].reduce((rest, code) => rest.replaceAll(`\u001b[${code}m`, ''), text)

const { host, env } = useFakeHost()

type Bodies = Readonly<Record<string, unknown>>

let bodies: Bodies
beforeEach(() => {
  bodies = {}
  host.faults = [
    ({ method, path }, response) => {
      const body = bodies[`${method} ${path.split('?')[0]}`]
      const status = method === 'POST' && path === '/tokens' ? 201 : 200
      return body !== undefined && Boolean(json(response, status, body, '"abc"'))
    },
  ]
})

/** Runs a command on a terminal that shows colors. */
const runOnTerminal = async (args: string, files: Record<string, unknown> = {}) => {
  const { io, output } = new Workspace(files).io({ ...env, FORCE_COLOR: '1' })
  const stdout = Object.assign(io.stdout, { isTTY: true })
  const code = await run(args.split(' '), { ...io, stdout })
  return { code, ...output() }
}

const expectSafe = (text: string, row: string, separators = ''): void => {
  const rest = withoutOwnColors(text).replaceAll(separators || '\n', '')
  expect(raw.exec(rest)?.[0], row).toBe(undefined)
  expect(text, row).not.toMatch(/^FORGED/m)
}

/** Returns all names and texts of a JSON value. */
const textsOf = (value: unknown): string[] => {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return [...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(textsOf)]
}

const note = { pointer: `/${hostile}`, message: hostile }
const change = { rule: hostile, class: hostile, pointer: `/${hostile}`, message: hostile, tier: hostile }
const drift = [{ op: hostile, pointer: `/${hostile}`, before: hostile, after: { [hostile]: hostile } }]
const time = '2027-01-01T00:00:00.000Z'
const token = {
  ...{ id: hostile, note: hostile, scopes: [hostile], agents: [hostile], tiers: [hostile] },
  ...{ created: hostile, expires: hostile },
}
const entry = sealEntry({
  ...{ number: 1, time, actor: hostile, what: hostile, agent: hostile, seq: 1, previous: NO_ENTRY_HASH },
  details: { [hostile]: hostile },
} as never)
const manifest = {
  card: card(hostile),
  set: hostile,
  description: `${hostile}\n${hostile}`,
  [hostile]: [hostile, { [hostile]: hostile }],
}
const test = { id: hostile, title: hostile, through: 'gate', protocol: hostile, claimed: hostile, happened: hostile }
const noKeys = { 'GET /.well-known/jwks.json': { keys: [] } }
const receipt = {
  ...{ agent: hostile, card: { version: hostile, etag: hostile }, checked: hostile, host: hostile, send: false },
  summary: { passed: 1, failed: 1, skipped: 0 },
  tests: [
    { ...test, result: 'passed' },
    { ...test, result: 'failed', reason: hostile },
  ],
}
const files = { 'cards/a.json': card('a') }

/** A command, what the host responds with, and the owner's files. The text of a command may be on stderr. */
type Row = [args: string, bodies: Bodies, files?: Record<string, unknown>]

const listed = {
  agents: [{ id: hostile, name: hostile, version: hostile, card: hostile, visibility: hostile, set: hostile }],
}
const issue = { rule: 'incompatible-version', severity: 'error', pointer: '', message: hostile }
const revision = { seq: 1, created: hostile, by: hostile, author: hostile, class: hostile }
const rows: Row[] = [
  ['list', { 'GET /agents': listed }],
  ['list --set s', { 'GET /agents': listed }],
  ['audit', { 'GET /audit': { entries: [entry], head: null } }],
  ['check a', { 'POST /agents/a/check': { receipt, unsigned: hostile, current: true }, ...noKeys }],
  ['history a', { 'GET /agents/a/revisions': { revisions: [revision] } }],
  [
    'diff a 2',
    {
      'GET /agents/a/revisions/2/diff': {
        ...{ id: hostile, from: 1, to: 2, class: hostile, changes: [change], manifest: drift },
      },
    },
  ],
  ['diff cards', { 'GET /agents/a/manifest': manifest }, files],
  ['--dry-run', { 'GET /agents/a/manifest': { ...manifest, set: undefined } }, files],
  [
    '--force',
    {
      'PUT /agents/a': {
        ...{ id: hostile, class: hostile, changes: [change] },
        source: { state: hostile, notes: [note], failure: { message: hostile } },
        report: { filled: [{ ...note, pointer: '/callers' }], issues: [{ ...note, rule: hostile, severity: 'error' }] },
      },
    },
    files,
  ],
  ['pull a', { 'GET /agents/a/manifest': manifest }, files],
  ['pull', { 'GET /agents': listed }],
  [
    'refresh a',
    {
      'POST /agents/a/refresh': {
        ...{ outcome: 'refreshed', drift, notes: [note] },
        source: { verification: { verified: false, reason: hostile } },
      },
    },
  ],
  ['refresh b', { 'POST /agents/b/refresh': { outcome: 'pending', pending: { etag: '"e"', widens: [note], drift } } }],
  [
    'rollback a 1',
    {
      'GET /agents/a/manifest': manifest,
      'POST /agents/a/rollback': {
        ...{ id: 'a', seq: 2, changed: true, class: hostile, changes: [change], report: { issues: [issue] } },
      },
    },
  ],
  ['keys list', { 'GET /keys': { keys: [], problem: hostile, unsigned: 1, cacheSeconds: 60, time } }],
  ['token list', { 'GET /tokens': { tokens: [token] } }],
  ['token create --scope read', { 'POST /tokens': { ...token, token: 'cc_a_b', published: true } }],
  ['whoami', { 'GET /tokens/self': token }],
  [
    'lint --observed',
    {
      'GET /agents/a/observed': {
        ...{ calls: 3, since: hostile, lastSeen: hostile },
        proposals: [{ rule: hostile, ...note, seen: { [hostile]: 1 }, change: { op: hostile, path: hostile } }],
      },
    },
    files,
  ],
]

describe('a host whose texts command terminals', () => {
  it('commands none with any text that a command shows', async () => {
    for (const [command, responses, folder] of rows) {
      bodies = responses
      const { stdout, stderr } = await runOnTerminal(command, folder)
      expectSafe(stdout + stderr, command)
      expect(withoutOwnColors(stdout + stderr), command).toContain(shown)
    }
  })

  it('has the same texts in JSON', async () => {
    for (const [command, responses, folder] of rows) {
      bodies = responses
      const flags = command.startsWith('lint') ? '--format json' : '--json'
      const { stdout, stderr } = await runOnTerminal(`${command} ${flags}`, folder)
      expectSafe(stdout + stderr, command)
      const texts = textsOf(JSON.parse(stdout)).filter(text => text.includes('FORGED'))
      expect(texts.length, command).toBeGreaterThan(0)
      const changed = texts.filter(text => !text.includes(hostile))
      expect(changed, command).toEqual([])
    }
  })

  it('makes no rows and columns of its own in the output for programs', async () => {
    for (const [command, columns] of Object.entries({ list: 6, audit: 7, 'history a': 5 })) {
      bodies = rows.find(([args]) => args === command)?.[1] ?? {}
      const { stdout } = await new Workspace().run(command.split(' '), env)
      expectSafe(stdout, command, '\t')
      const counts = stdout
        .trimEnd()
        .split('\n')
        .map(line => line.split('\t').length)
      expect(counts, command).toEqual([columns])
    }
  })

  it('leaves a card and a manifest what they are', async () => {
    bodies = { 'GET /agents/a/.well-known/agent-card.json': manifest, 'GET /agents/a/manifest': manifest }
    for (const flags of ['', ' --manifest', ' --manifest --json']) {
      const { stdout } = await runOnTerminal(`show a${flags}`)
      expectSafe(stdout, flags)
      expect(parse(stdout)).toEqual(manifest)
    }
  })

  it('commands none with its problems', async () => {
    host.faults = [(_, response) => Boolean(problem(response, 422, hostile, hostile, { errors: [note] }))]
    const commands = [
      ...['list', 'audit', 'audit verify', 'show a', 'check a', 'history a', 'diff a 1', 'rollback a 1', 'refresh a'],
      ...['keys list', 'token list', 'token revoke a', 'tasks clear a', 'lint --observed', 'pull a', 'export'],
      ...['--quiet', 'diff'],
    ]
    for (const command of commands) {
      const { stdout, stderr } = await runOnTerminal(command, files)
      expectSafe(stdout + stderr, command)
      expect(stdout + stderr, command).toContain(shown)
    }
  })

  it('commands none with its redirects or the media types of its first response (exit 4)', async () => {
    const rows: [status: number, headers: Record<string, string>, message: string][] = [
      [302, { Location: 'https://a.example/\u009b2J' }, 'has moved'],
      [200, { 'Content-Type': 'text/\u009b2J' }, 'is not a Calling Card host'],
    ]
    for (const [status, headers, message] of rows) {
      host.healthFault = (_, response) => Boolean(response.writeHead(status, headers).end('{'))
      const { code, stderr } = await runOnTerminal('list')
      expectSafe(stderr, message)
      expect(stderr).toContain(message)
      expect([code, stderr]).toEqual([4, containing('\\u009b2J')])
    }
  })
})
