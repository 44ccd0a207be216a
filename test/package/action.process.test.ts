// Starts the shared hosts, which other tests of processes do without.
import '../support/host-setup.ts'

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { VERSION } from '../../src/version.ts'
import { buildPackage } from '../../tools/build-cli.ts'
import { card } from '../cli/workspace.ts'
import { sharedHost, token } from '../support/host.ts'
import { ActionRunner, action, type Event } from './action-runner.ts'

let folder: string
/** The folder of the program in the checkout of the action, with the build instead of the source: it starts faster. */
let cli: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sync-card-action-'))
  const checkout = join(folder, 'checkout')
  await buildPackage(join(checkout, 'dist/sync-card'))
  cli = join(checkout, 'cli')
  mkdirSync(cli)
  copyFileSync('cli/bin.js', join(cli, 'bin.js'))
  // package.process.test.ts installs the package with npm. Here, it finds its dependencies above its folder.
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let runner: ActionRunner
beforeEach(() => {
  runner = new ActionRunner(mkdtempSync(join(folder, 'runner-')), cli)
})

const host = () => ({ url: sharedHost().url.origin, token })

const pullRequest: Event = { name: 'pull_request', ref: 'refs/pull/7/merge', number: 7 }
const push: Event = { name: 'push' }

/** Returns a file with a card that the linter has no warning for. */
const yaml = (name: string, more: object = {}): string => `card: ${JSON.stringify(card(name, more))}\n`

const isRegistered = async (id: string): Promise<boolean> =>
  (await sharedHost().fetch(`/agents/${id}/manifest`, { headers: { Authorization: `Bearer ${token}` } })).ok

describe('action.yml', () => {
  it('inserts no expression into a script, where it would be code, and pins other actions to a commit', () => {
    for (const { run = '' } of action.runs.steps) expect(run).not.toContain('${{')
    const used = action.runs.steps.flatMap(({ uses }) => uses ?? [])
    expect(used).toEqual([expect.stringMatching(/^github\/codeql-action\/upload-sarif@[0-9a-f]{40}$/)])
  })

  it('runs sync-card only where its output cannot be a command of the workflow', () => {
    const scripts = action.runs.steps.flatMap(({ run = '' }) => (/^sync-card /m.test(run) ? [run] : []))
    expect(scripts.length).toBe(3)
    expect(action.runs.steps.map(({ run }) => run).join()).toMatch(
      /sync-card\.sh" << [\s\S]*echo "::stop-commands::\$pause"\nEND/,
    )
    for (const run of scripts) {
      expect(run).toMatch(/^source ".*\/sync-card\.sh"\n[\s\S]*^sync-card /m)
      expect(run).not.toMatch(/-- "\$\{files\[@\]\}"(?! 2>&1)/)
    }
  })

  it('describes every input and output, and docs/guide/teams.md has a workflow that grants no more than it needs', () => {
    const described = Object.values<{ description?: string }>({ ...action.inputs, ...action.outputs })
    expect(described.filter(({ description }) => !description)).toEqual([])
    const page = readFileSync('docs/guide/teams.md', 'utf8')
    const workflow = parse(/^```yaml\n(on: [\s\S]*?)^```$/m.exec(page)?.[1] ?? '')
    expect(workflow.permissions).toEqual({ contents: 'read', 'pull-requests': 'write', 'security-events': 'write' })
    const [, step] = workflow.jobs.cards.steps
    expect(step.uses).toMatch(new RegExp(`/calling-card@v${VERSION.replaceAll('.', '\\.')}$`))
    expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(step.with)))
  })
})

describe('the action on a push', () => {
  it('registers the cards of the default branch at the host of the input, whatever the files name', async () => {
    const elsewhere = 'http://127.0.0.1:6000'
    runner.write({
      'cards/action-pushed.yaml': yaml('action-pushed'),
      '.env': `SYNC_CARD_URL=${elsewhere}\nSYNC_CARD_TOKEN=another\n`,
      'sync-card.yaml': `default: prod\nhosts: { prod: { url: '${elsewhere}' } }\n`,
    })
    const result = await runner.run(push, host())
    expect(result.failed).toBeUndefined()
    expect(result.log).toContain('created')
    expect(await isRegistered('action-pushed')).toBe(true)
  })

  it('registers nothing if lint finds an error, and fails after the upload of the findings', async () => {
    runner.write({ 'cards/action-bad.yaml': yaml('action-bad', { url: 'http://10.0.0.1/' }) })
    const { failed, log, used, steps } = await runner.run(push, host())
    expect(failed).toBe('Fail if lint has found errors')
    expect(steps).not.toContain('Register the cards')
    expect(log).toMatch(/cards\/action-bad\.yaml:1:.*\[private-url\]/)
    const sarif = JSON.parse(readFileSync(used[0]?.sarif_file ?? '', 'utf8'))
    expect(sarif.runs[0].results).toContainEqual(expect.objectContaining({ ruleId: 'private-url' }))
    expect(await isRegistered('action-bad')).toBe(false)
  })

  it('fails if the secret with the token is missing', async () => {
    const { failed, log } = await runner.run(push, { ...host(), token: '' })
    expect([failed, log]).toEqual([
      'Decide what to do',
      expect.stringContaining('::error title=sync-card::The input token is empty'),
    ])
  })

  it('takes files from the input, one in each line, and runs nothing of their names', async () => {
    const name = '$(touch pwned); `touch pwned` "x'
    runner.write({ [`${name}.yaml`]: `id: action-a\n${yaml('action-a')}`, 'more/action-b.yaml': yaml('action-b') })
    const { failed, log } = await runner.run(push, { ...host(), url: '', files: `${name}.yaml\n\nmore\n` })
    expect([failed, log]).toEqual([undefined, expect.stringContaining('2 files: 10 infos')])
    expect(existsSync(join(runner.workspace, 'pwned'))).toBe(false)
  })

  it('lets no line of the report be a command of the workflow', async () => {
    runner.write({ '::error::Ignore this.yaml': yaml('action-command') })
    symlinkSync('.', join(runner.workspace, '::error::Linked.yaml'))
    const { log } = await runner.run(push, { ...host(), url: '', files: '*.yaml' })
    const [stop, pause = ''] = /^::stop-commands::(\S{36})$/m.exec(log) ?? []
    const [before = '', after = ''] = log.split(`\n::${pause}::\n`)
    expect(before.startsWith(`${stop}\n`)).toBe(true)
    expect(before).toContain('::error::Ignore this.yaml')
    expect(after).toBe('::error title=sync-card::The step Lint lists what is wrong with the cards.\n')
  })
})

describe('the action on a pull request', () => {
  it('shows what it changes on the host, in a comment and in the summary of the job', async () => {
    runner.write({ 'cards/action-new.yaml': yaml('action-new', { description: 'x\n```\n@everybody <b>' }) })
    const { failed, outputs, summary } = await runner.run(pullRequest, host())
    expect([failed, outputs.differences]).toEqual([undefined, 'true'])
    expect(summary).toContain('| create | `action-new` | `cards/action-new.yaml` |')
    expect(runner.comments).toEqual([{ id: 100, body: `${marker()}\n${summary}`, user: { type: 'Bot' } }])
    expect(await isRegistered('action-new')).toBe(false)
  })

  it('fails after the comment if the host would reject a card, and without one if the host cannot be used', async () => {
    const rejected = await stubbed(markdown, 3).run(pullRequest, host())
    expect([rejected.failed, runner.comments.length]).toEqual(['Fail if the host would reject a card', 1])
    const unreachable = await stubbed('', 4).run(pullRequest, host())
    expect([unreachable.failed, runner.comments]).toEqual(['Compare with the host', []])
  })

  it('writes no comment if nothing differs, but updates its own, and none of somebody else', async () => {
    const others = [
      { id: 1, body: `${marker()} of a person`, user: { type: 'User' } },
      { id: 2, body: '<!-- sync-card https://another.example.com -->', user: { type: 'Bot' } },
    ]
    stubbed('No differences.', 0).comments = others
    const { outputs } = await runner.run(pullRequest, host())
    expect([outputs.differences, runner.comments]).toEqual(['false', others])
    stubbed().comments = others
    await runner.run(pullRequest, { ...host(), prune: 'true' })
    const { comments } = runner
    stubbed('No differences.', 0).comments = comments
    await runner.run(pullRequest, host())
    expect(runner.comments).toEqual([...others, expect.objectContaining({ body: `${marker()}\nNo differences.` })])
  })

  it('warns if the token of the job may not comment', async () => {
    const { failed, log } = await stubbed().run(pullRequest, host(), { mayWrite: false })
    expect([failed, log]).toEqual([undefined, expect.stringContaining('needs the permission pull-requests: write')])
  })

  it('only lints in other branches, from forks and without a host, and does what the inputs say', async () => {
    const all = [...linted, upload, 'Compare with the host', 'Comment on the pull request']
    for (const [event, inputs, steps] of [
      [push, {}, [...linted, upload, 'Register the cards']],
      [{ name: 'push', ref: 'refs/heads/topic' }, {}, [...linted, upload]],
      [push, { sync: 'false' }, [...linted, upload]],
      [push, { url: '' }, [...linted, upload]],
      [{ ...pullRequest, head: 'stranger/cards' }, {}, linted],
      // The fork is gone.
      [{ ...pullRequest, head: null }, {}, linted],
      // Dependabot gets no secrets.
      [pullRequest, { token: '' }, [...linted, upload]],
      [pullRequest, { url: '' }, [...linted, upload]],
      [pullRequest, {}, all],
      [pullRequest, { comment: 'false' }, all.slice(0, -1)],
      [pullRequest, { sarif: 'false' }, all.filter(step => step !== upload)],
    ] as [Event, Record<string, string>, string[]][])
      expect(await planned(event, inputs), JSON.stringify([event, inputs])).toEqual(steps)
  })

  it('refuses pull_request_target, which would give secrets to the files of forks', async () => {
    const { failed, steps } = await runner.run({ ...pullRequest, name: 'pull_request_target' }, host())
    expect([failed, steps]).toEqual(['Decide what to do', ['Decide what to do']])
  })
})

const linted = ['Decide what to do', 'Install sync-card', 'Lint']
const upload = 'Upload findings to code scanning'

/** Returns the steps that run for an event if none fails. */
const planned = async (event: Event, inputs: Record<string, string> = {}): Promise<string[]> =>
  (await runner.run(event, { ...host(), ...inputs }, { plansOnly: true })).steps

/** The first line of the comment for a host. */
const marker = (): string => `<!-- sync-card ${host().url} -->`

const markdown = 'weather differs'

/** Makes the sync-card of the runner one that finds nothing in files, and compares them with this result. */
const stubbed = (difference = markdown, code = 1): ActionRunner => {
  const stub = mkdtempSync(join(folder, 'stub-'))
  const script = `if (process.argv[2] === 'diff') {
  process.stdout.write(${JSON.stringify(difference)})
  process.exitCode = ${code}
}`
  writeFileSync(join(stub, 'bin.js'), script)
  runner = new ActionRunner(mkdtempSync(join(folder, 'runner-')), stub)
  return runner
}
