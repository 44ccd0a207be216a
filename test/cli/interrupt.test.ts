import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { run } from '../../cli/cli.ts'
import { isPut, problem, type Seen } from './fake-host.ts'
import { card, containing, useFakeHost, Workspace, waitForText } from './workspace.ts'

const { host, env, renew } = useFakeHost()

const ids = Array.from({ length: 8 }, (_, index) => `agent-${index}`)
const many = () =>
  new Workspace({
    'cards/defaults.yaml': 'set: mine',
    ...Object.fromEntries(ids.map(id => [`cards/${id}.json`, card(id)])),
  })

/** Runs a command, and interrupts it when the host receives a request that matches. The host responds nevertheless. */
const interruptAt = (matches: (seen: Seen) => boolean, workspace = many(), args: readonly string[] = []) => {
  const command = workspace.start(args, env)
  host.faults.unshift(seen => {
    if (matches(seen)) command.interrupt()
    return false
  })
  return command.ended
}

const isDelete = ({ method }: Seen): boolean => method === 'DELETE'

describe('sync-card after Ctrl-C', () => {
  it('completes the request under way, sends no other, and reports what was done (130)', async () => {
    const { code, stdout, stderr } = await interruptAt(isPut())
    expect({ code, writes: host.writes }).toEqual({ code: 130, writes: ['PUT /agents/agent-0'] })
    expect(stdout).toMatch(
      /^\+ created {3}agent-0 .*\nStopped: interrupted\.\n {2}not pushed: agent-1, .*agent-7\n[^✗]*: 1 created, 7 not pushed\n$/,
    )
    expect(stderr).toBe('Stopping after the requests under way. Ctrl-C again stops at once.\n')
  })

  it('writes nothing if it was still comparing, and reports what was not compared', async () => {
    for (const args of ['--dry-run', 'diff']) {
      renew()
      const { code, stdout } = await interruptAt(({ method }) => method === 'GET', many(), [args])
      expect({ code, requests: host.seen.length }).toEqual({ code: 130, requests: 1 })
      expect(stdout).toMatch(/\n {2}not compared: agent-1, .*: 1 to create, 7 not compared\n$/s)
    }
  })

  it('reports it in JSON', async () => {
    const { code, stdout } = await interruptAt(isPut(), many(), ['--json'])
    const { exitCode, interrupted, agents } = JSON.parse(stdout)
    expect([code, exitCode, interrupted, agents.length]).toEqual([130, 130, true, 8])
  })

  it('deletes nothing more during --prune', async () => {
    for (const id of ids) host.register(`old-${id}`, { card: card(id), set: 'mine' })
    const { code, stdout } = await interruptAt(isDelete, many(), ['--prune', '--yes'])
    expect(stdout).toMatch(/^- deleted {3}old-agent-0\nStopped: interrupted\.\n {2}not deleted: old-agent-1, /m)
    expect(stdout).toContain('7 not deleted')
    expect({ code, deletes: host.seen.filter(isDelete).length }).toEqual({ code: 130, deletes: 1 })
  })

  it('deletes nothing after Ctrl-C in the prompt of --prune, and reports what was pushed', async () => {
    host.register('old', { card: card('old'), set: 'mine' })
    const workspace = new Workspace({ 'cards/defaults.yaml': 'set: mine', 'cards/a.json': card('a') })
    const { io, stdout, output } = workspace.io(env)
    const stdin = Object.assign(new PassThrough(), { isTTY: true })
    const stderr = Object.assign(new PassThrough(), { isTTY: true })
    const asked = waitForText(stderr, '(y/N)')
    const ended = run(['--prune'], { ...io, stdin, stdout, stderr })
    await asked
    stdin.write('\u0003')
    expect(await ended).toBe(130)
    expect(output().stdout).toMatch(/Stopped: interrupted\.\n {2}not deleted: old\n/)
    expect([...host.agents.keys()]).toEqual(['old', 'a'])
  })

  it('does not wait for a retry', async () => {
    host.faults = [(seen, response) => isPut()(seen) && Boolean(problem(response, 503, 'busy', 'Busy.'))]
    const { code, stdout } = await interruptAt(isPut())
    expect(stdout).toContain('Stopped: interrupted; the host responded with 503.\n')
    expect({ code, writes: host.writes.length }).toEqual({ code: 130, writes: 1 })
  })

  it('does not wait until the edge serves what was pushed', async () => {
    host.slowReads = Number.POSITIVE_INFINITY
    const isRead = ({ path }: Seen) => path.endsWith('agent-card.json')
    const { code, stdout } = await interruptAt(isRead, many(), ['--wait'])
    expect(stdout).toContain('stored; the edge still serves the previous card')
    expect({ code, reads: host.seen.filter(isRead).length }).toEqual({ code: 130, reads: 1 })
  })

  it('succeeds if nothing was left to do', async () => {
    const { code, stdout } = await interruptAt(isPut(), new Workspace({ 'cards/a.json': card('a') }))
    expect(stdout).not.toContain('Stopped')
    expect(code).toBe(0)
  })

  it('ends --watch between two requests (exit 130)', async () => {
    const { code, stdout, stderr } = await interruptAt(isPut(), many(), ['--watch'])
    expect([code, stdout]).toEqual([130, containing('1 created, 7 not pushed')])
    expect(stderr).not.toContain('Watching')
  })
})
