import { describe, expect, it } from 'vitest'
import { sharedHost, token } from '../support/host.ts'
import { problem } from './fake-host.ts'
import { card, containing, useFakeHost, Workspace } from './workspace.ts'

const host = sharedHost()
const env = { SYNC_CARD_URL: host.url.origin, SYNC_CARD_TOKEN: token }

const run = (args: string) => new Workspace().run(args.split(' '), env)

const skill = (id: string, more = {}) => ({ id, name: id, description: 'D', tags: ['t'], ...more })
const skills = [skill('a'), skill('b')]
const one = { name: 'One', description: 'D', url: 'https://a.example', version: '1.0.0', skills }
const two = { ...one, skills: [skill('a')] }
const register = async (id: string, ...documents: object[]) => {
  for (const document of documents) await host.put(id, JSON.parse(JSON.stringify(document)))
}
const remove = (id: string) =>
  host.fetch(`/agents/${id}`, { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } })

describe('sync-card', () => {
  it('reports what an update changes for clients, and a version that does not announce it', async () => {
    const workspace = new Workspace({ 'cards/past-push.json': two })
    await register('past-push', one)
    const { code, stdout } = await workspace.run(['--force'], env)
    expect([code, stdout]).toEqual([0, containing('    breaking: skill `b` is removed\n')])
    expect(stdout).toMatch(
      /past-push\.json:\d+:\d+ warning \/version must be 2\.0\.0 or higher.*\[incompatible-version\]/,
    )
  })

  it('reports that callers need a token, and what keeps the host from calling, also for unchanged agents that are sent again', async () => {
    const ofSecret = { card: { ...one, url: 'https://a.example/a2a' }, upstream: { secret: 'NO_TOKEN' } }
    const blocked = { card: { ...one, url: 'http://localhost:9/a2a' } }
    const workspace = new Workspace({
      'cards/past-secret.json': { ...ofSecret, route: 'gateway' },
      'cards/past-blocked.json': { ...blocked, route: 'gateway' },
    })
    const { code, stdout } = await workspace.run([], env)
    expect(stdout).toContain('    callers set to tokens: this host adds a credential of its own to each call')
    const again = await workspace.run(['--refresh'], env)
    expect([code, again.code]).toEqual([0, 0])
    for (const text of [stdout, again.stdout]) {
      expect(text).toMatch(
        /past-secret\.json:.* warning \/upstream\/secret cannot be sent\. This Worker has no secret "NO_TOKEN"\. Run .*\[missing-binding\]/,
      )
      expect(text).toMatch(
        /past-blocked\.json:5:\d+ warning \/card\/url is not an address that this host calls: .*\[blocked-upstream\]/,
      )
      expect(text).toMatch(/: 2 (?:created|unchanged), 2 of which cannot be called yet \(see above\)\n$/)
    }
  })
})

describe('sync-card history', () => {
  it('lists the revisions, newest first, also of a removed agent', async () => {
    await register('past-list', one, two)
    await remove('past-list')
    const { code, stdout } = await run('history past-list')
    const lines = stdout
      .trim()
      .replaceAll(/\t\d{4}-[^\t]+/g, '')
      .split('\n')
    expect([code, lines]).toEqual([
      0,
      ['3\tremoval\tadmin\t-', '2\tmanifest\tadmin\tbreaking', '1\tmanifest\tadmin\t-'],
    ])
    const json = JSON.parse((await run('history past-list --limit 1 --json')).stdout)
    const removal = { seq: 3, created: expect.any(String), by: 'removal', author: 'admin' }
    expect(json).toEqual({ id: 'past-list', revisions: [removal] })
  })
})

it('rejects an unknown agent (exit 3), and what is no id, number or option of a comparison of revisions (exit 2)', async () => {
  expect(await run('history past-never')).toMatchObject({ code: 3, stderr: containing('No agent') })
  const revisions = ['--prune', '--only a', '--allow-secret /a', '--format markdown'].map(each => `diff a 1 2 ${each}`)
  for (const args of ['history Past', 'history past-list --limit 0', 'rollback past-list x', ...revisions])
    expect((await run(args)).code, args).toBe(2)
})

describe('sync-card diff ID SEQ', () => {
  it('describes what changed for clients and in the manifest, and exits with 1', async () => {
    await register('past-diff', one, two)
    const { code, stdout } = await run('diff past-diff 1 2')
    expect(code).toBe(1)
    expect(stdout.split('\n').slice(0, 3)).toEqual([
      'past-diff 1 → 2 · breaking',
      '  breaking: skill `b` is removed',
      '  in the manifest:',
    ])
    expect(stdout).toContain('    - /skills/1 {"id":"b"')
    const back = JSON.parse((await run('diff past-diff 2 1 --json')).stdout)
    const changes = [{ class: 'additive', rule: 'skill-added' }]
    expect(back).toMatchObject({ id: 'past-diff', from: 2, to: 1, class: 'additive', changes })
    expect(await run('diff past-diff 1 1')).toMatchObject({
      ...{ code: 0, stdout: 'past-diff 1 → 1 · nothing differs\n' },
    })
    expect((await run('diff past-diff 2')).stdout).toBe(stdout)
    expect((await run('diff past-diff 1 9')).code).toBe(3)
  })

  it('compares files for any other arguments', async () => {
    const files = new Workspace({ '3/past-file.json': card('past-file'), '4/past-other.json': card('past-other') })
    const { code, stdout } = await files.run(['diff', '3', './4'], env)
    expect(code).toBe(1)
    expect(stdout).toContain('to create past-file')
    expect((await files.run(['diff', './3', '4', '4'], env)).stdout).toContain('past-other')
  })
})

describe('sync-card rollback', () => {
  it('restores a revision, says what that changes, and does nothing twice', async () => {
    await register('past-back', one, two)
    const { code, stdout, stderr } = await run('rollback past-back 1')
    expect(code).toBe(0)
    expect(stderr).toContain('sync-card pull past-back --force')
    expect(stdout).toBe('restored revision 1 of past-back as 3 · additive\n  additive: skill `b` is new\n')
    expect((await run('rollback past-back 1')).stdout).toContain('unchanged past-back')
    expect((await run('rollback past-back 2')).stderr).toContain('The restored version must be 2.0.0 or higher')
    await register('past-back', one)
    const json = JSON.parse((await run('rollback past-back 2 --json')).stdout)
    expect(json).toMatchObject({ id: 'past-back', seq: 6, restored: 2, changed: true, class: 'breaking' })
  })
})

describe('sync-card rollback of a host that changes', () => {
  const { host: fake, run } = useFakeHost()

  it('names the manifest that it replaces, and reports that somebody else was faster', async () => {
    fake.register('weather', card('weather'))
    const reject = (response: Parameters<typeof problem>[0]) =>
      Boolean(problem(response, 412, 'precondition-failed', 'Agent "weather" has changed.'))
    fake.faults = [({ method }, response) => method === 'POST' && reject(response)]
    const { code, stderr } = await run({}, 'rollback weather 1')
    expect([code, stderr]).toEqual([3, containing('Agent "weather" has changed')])
    const { headers, body, path } = fake.seen.at(-1) ?? { headers: {} }
    expect([path, body]).toEqual(['/agents/weather/rollback', '{"seq":1}'])
    expect(headers['if-match']).toMatch(/^"[0-9a-f]{64}"$/)
  })
})
