import { beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { run } from '../../cli/cli.ts'
import { json, problem } from './fake-host.ts'
import { card, useFakeHost, Workspace } from './workspace.ts'

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
      return body !== undefined && Boolean(json(response, 200, body, '"abc"'))
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

const note = { pointer: `/${hostile}`, message: hostile }
const change = { rule: hostile, class: hostile, pointer: `/${hostile}`, message: hostile, tier: hostile }
const manifest = {
  card: card(hostile),
  set: hostile,
  description: `${hostile}\n${hostile}`,
  [hostile]: [hostile, { [hostile]: hostile }],
  unquoted: 'x\u202ey',
}
const files = { 'cards/a.json': card('a') }

/** A command, what the host responds with, and the owner's files. The text of a command may be on stderr. */
type Row = [args: string, bodies: Bodies, files?: Record<string, unknown>]

const listed = {
  agents: [
    {
      ...{ id: hostile, name: hostile, description: hostile, version: hostile, card: 'https://a.example', url: '' },
      ...{ visibility: hostile, set: hostile },
    },
  ],
}
const rows: Row[] = [
  ['list', { 'GET /agents': listed }],
  [
    '--force',
    {
      'PUT /agents/a': {
        ...{ id: hostile, seq: 1, changed: true, published: true, root: false, class: hostile, changes: [change] },
        ...{ urls: { card: 'https://a.example', agent: 'https://a.example' }, etags: { 'agent-card.json': hostile } },
        source: {
          ...{ kind: 'card', url: 'https://a.example', state: hostile, notes: [note] },
          failure: { status: 502, code: 'timeout', message: hostile },
        },
        report: {
          ...{ dialect: hostile, filled: [{ ...note, pointer: '/callers' }], converted: [], dropped: {}, lossy: [] },
          ...{ signatures: [], issues: [{ ...note, rule: hostile, severity: 'error' }] },
        },
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

  it('makes no rows and columns of its own in the output for programs', async () => {
    bodies = { 'GET /agents': listed }
    const { stdout } = await new Workspace().run(['list'], env)
    expectSafe(stdout, 'list', '\t')
    expect(stdout.split(/[\t\n]/)).toHaveLength(7)
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
    for (const command of ['list', 'show a', 'diff', 'export', '--quiet']) {
      const { stdout, stderr } = await runOnTerminal(command, files)
      expectSafe(stdout + stderr, command)
      expect(stdout + stderr, command).toContain(shown)
    }
  })
})
