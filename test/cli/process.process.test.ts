import { describe, expect, it } from 'vitest'
import { card, useFakeHost, Workspace, waitForEnd, waitForText } from './workspace.ts'

const { host, env } = useFakeHost()

describe('sync-card as a process', () => {
  it('writes to its own streams, and exits with the code of the command', async () => {
    const workspace = new Workspace({ 'cards/a.json': card('a'), 'cards/b.json': '{' })
    const { code, stdout, stderr } = await waitForEnd(workspace.spawn('sync-card.ts', [], env))
    expect(stdout).toMatch(/^\+ created {3}a .*\n✗ invalid {3}cards\/b\.json\n/)
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' })
  })

  it('reads .env in the current folder, and ignores empty variables there', async () => {
    const workspace = new Workspace({
      '.env': `SYNC_CARD_URL=\nPORT=${new URL(host.url).port}\nSYNC_CARD_TOKEN=\nADMIN_TOKEN=${host.token}\n`,
      'cards/a.json': card('a'),
    })
    const { code, stderr } = await waitForEnd(workspace.spawn('sync-card.ts', []))
    expect({ code, stderr, writes: host.writes }).toEqual({ code: 0, stderr: '', writes: ['PUT /agents/a'] })
  })

  it('finishes its work if nobody reads its output any more', async () => {
    const workspace = new Workspace({ 'cards/a.json': card('a') })
    const child = workspace.spawn('sync-card.ts', [], env)
    child.stdout.destroy()
    const { code, stderr } = await waitForEnd(child)
    expect({ code, stderr, writes: host.writes }).toEqual({ code: 0, stderr: '', writes: ['PUT /agents/a'] })
  })

  it('reports wrong usage without a stack (exit 2)', async () => {
    const ended = await waitForEnd(new Workspace().spawn('sync-card.ts', ['--watch', '--check'], env))
    expect(ended).toEqual({ code: 2, stdout: '', stderr: 'sync-card: --watch and --check exclude each other.\n' })
  })

  it('reports a crash as a bug, with its stack and an exit code of its own (exit 70)', async () => {
    const crash = 'globalThis.fetch = () => setImmediate(() => { throw new Error("boom") }) && new Promise(() => {})'
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(crash)}`
    const { code, stdout, stderr } = await waitForEnd(
      new Workspace().spawn('sync-card.ts', ['list'], { ...env, NODE_OPTIONS }),
    )
    expect({ code, stdout }).toEqual({ code: 70, stdout: '' })
    expect(stderr).toMatch(
      /^Error: boom\n {4}at .*\nsync-card: This is a bug in Calling Card \d+\.\d+\.\d+\. .* an issue .*\n$/s,
    )
  })

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'stops watching at %s, with the code of the last synchronisation',
    async signal => {
      const workspace = new Workspace({ 'cards/a.json': '{' })
      const child = workspace.spawn('sync-card.ts', ['--watch'], env)
      const ended = waitForEnd(child)
      await waitForText(child.stderr, 'Watching for changes')
      child.kill(signal)
      expect((await ended).code).toBe(3)
    },
  )
})
