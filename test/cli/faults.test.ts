import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { isPut, problem, times } from './fake-host.ts'
import { card, useFakeHost, Workspace } from './workspace.ts'

const { host, env } = useFakeHost()

const one = () => new Workspace({ 'cards/a.json': card('a', { version: '2.0.0' }) })

describe('sync-card with a failing host', () => {
  it('retries after a lost connection, a 503 and a 429', async () => {
    host.faults = [
      times(1, isPut(), response => response.socket?.destroy()),
      times(1, isPut(), response => problem(response, 503, 'busy', 'Busy.')),
      times(1, isPut(), response => problem(response, 429, 'slow-down', 'Slow.', { headers: { 'Retry-After': '0' } })),
    ]
    const { code, stderr } = await one().run([], env)
    expect(stderr.match(/retrying/g)).toHaveLength(3)
    expect({ code, agents: [...host.agents.keys()] }).toEqual({ code: 0, agents: ['a'] })
  })

  it('reports a repeated failure once, and again after it has passed', async () => {
    const busy = (response: ServerResponse): boolean => Boolean(problem(response, 503, 'busy', 'Busy.'))
    host.faults = [times(3, isPut('a'), busy), times(2, isPut('b'), busy)]
    const workspace = new Workspace({ 'cards/a.json': card('a'), 'cards/b.json': card('b') })
    const { code, stderr } = await workspace.run([], env)
    expect(stderr.match(/^PUT .*$/gm)).toEqual([
      'PUT /agents/a: the host responded with 503; retrying',
      'PUT /agents/b: the host responded with 503; retrying',
    ])
    expect({ code, agents: host.agents.size }).toEqual({ code: 0, agents: 2 })
  })

  it('does not retry a port that fetch blocks (exit 4)', async () => {
    const { code, stdout, stderr } = await one().run(['--url', 'http://127.0.0.1:6000', '--token', 't'], env)
    expect(stdout).toContain('port 6000 is blocked by fetch and browsers')
    expect(stderr).not.toContain('retrying')
    expect(code).toBe(4)
  })

  it('recognises its own write when only the response was lost', async () => {
    host.faults = [
      (seen, response) => {
        if (!isPut('a')(seen) || host.agents.has('a')) return false
        host.register('a', JSON.parse(seen.body))
        response.socket?.destroy()
        return true
      },
    ]
    const { code, stdout } = await one().run(['--wait'], env)
    expect(stdout).toMatch(/\+ created {3}a .*live/)
    expect(code).toBe(0)
  })

  it('reports what was pushed and what was not when the host is lost on the way (exit 4)', async () => {
    host.faults = [times(Number.POSITIVE_INFINITY, isPut('b'), response => response.socket?.destroy())]
    const workspace = new Workspace({ 'cards/a.json': card('a'), 'cards/b.json': card('b') })
    const { code, stdout } = await workspace.run(['--retries', '1'], env)
    expect(stdout).toMatch(/^\+ created {3}a .*\nStopped: the connection failed.*\n {2}not pushed: b\n/)
    expect(code).toBe(4)
  })

  it('sends nothing more after the host is lost', async () => {
    host.faults = [(_, response) => Boolean(response.socket?.destroy())]
    const files = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`cards/a${index}.json`, card('a')]))
    const { code, stdout } = await new Workspace(files).run(['--retries', '0'], env)
    expect(stdout).toContain('20 not pushed')
    expect({ code, requests: host.seen.length }).toEqual({ code: 4, requests: 1 })
  })

  it.each([
    ['at once for this machine', '127.0.0.1', ''],
    ['at once for localhost', 'localhost', ''],
    ['after retries for another machine', '0.0.0.0', expect.stringMatching(/GET \/health: .*; retrying/)],
  ])('reports a host that is not running %s (exit 4)', async (_, name, retries) => {
    const url = host.url.replace('127.0.0.1', name)
    await host.close()
    const { code, stdout, stderr } = await one().run([], { ...env, SYNC_CARD_URL: url })
    expect(stderr).toEqual(retries)
    expect(stdout).toMatch(
      /\(.*ECONNREFUSED.*\): start a host there \(npm start in its clone\), or name .* SYNC_CARD_URL\.\n[^ ]*: 1 not pushed\n$/,
    )
    expect(code).toBe(4)
    await host.listen()
  })

  it('names a host at the default address that is not running, rather than its token (exit 4)', async () => {
    const { url } = host
    const { port } = new URL(url)
    for (const { args, PORT } of [{ args: [], PORT: port }, { args: ['list'], PORT: port }, { args: ['--url', url] }]) {
      await host.close()
      const { code, stderr } = await one().run(args, { PORT })
      expect(stderr).toBe(
        `sync-card: nothing is listening at ${url}, so the connection failed (connect ECONNREFUSED 127.0.0.1:${port}): start a host there (npm start in its clone), or name another with --url, --host or SYNC_CARD_URL.\n`,
      )
      expect(code).toBe(4)
      await host.listen(Number(port))
      if (args[0] !== 'list')
        expect((await one().run(args, { PORT })).stderr).toContain(`There is no token for ${url}.`)
    }
    expect(host.seen.filter(({ headers }) => headers.authorization !== undefined)).toEqual([])
  })

  it('stops at the first request when the host rejects the token (exit 4)', async () => {
    const { code, stdout, stderr } = await one().run([], { ...env, SYNC_CARD_TOKEN: 'not-this-one' })
    expect(stdout).toContain('the host rejects the token')
    expect(stdout + stderr).not.toContain('not-this-one')
    expect({ code, requests: host.seen.length }).toEqual({ code: 4, requests: 1 })
  })

  it('skips the agent that the token cannot write, and pushes the rest (exit 4)', async () => {
    host.faults = [times(1, isPut('b'), response => problem(response, 403, 'forbidden', 'Not your agent.'))]
    const workspace = new Workspace({ 'cards/a.json': card('a'), 'cards/b.json': card('b'), 'cards/c.json': card('c') })
    const { code, stdout } = await workspace.run([], env)
    expect(stdout).toMatch(/✗ forbidden b .*Not your agent/)
    expect({ code, agents: [...host.agents.keys()] }).toEqual({ code: 4, agents: ['a', 'c'] })
  })

  it('does not follow a redirect with the token', async () => {
    host.faults = [
      (_, response) => {
        response.writeHead(301, { Location: 'https://other.example.com/' }).end()
        return true
      },
    ]
    const { code, stdout } = await one().run([], env)
    expect(stdout).toContain('has moved: it responded with 301 to https://other.example.com/')
    expect(code).toBe(4)
  })

  it('reports a server that is not a Calling Card host (exit 4)', async () => {
    host.faults = [times(1, isPut(), response => response.writeHead(200).end('<html>'))]
    const { code, stdout } = await one().run([], env)
    expect(stdout).toContain('it is not a Calling Card host')
    expect(code).toBe(4)
  })

  const changeDuringPush = () => {
    host.register('a', { card: card('a', { version: '1.0.0' }) })
    host.faults = [
      seen => {
        if (isPut('a')(seen) && host.writes.length === 1)
          host.register('a', { card: card('a', { version: '1.0.0', iconUrl: 'https://a.example.com/i.png' }) })
        return false
      },
    ]
  }

  it('does not overwrite a concurrent change, and shows it (exit 3)', async () => {
    changeDuringPush()
    const { code, stdout } = await one().run([], env)
    expect(stdout).toMatch(/✗ changed meanwhile a[\s\S]*\+ \/card\/iconUrl/)
    expect(code).toBe(3)
    expect(JSON.stringify(host.agents.get('a'))).toContain('iconUrl')
  })

  it('overwrites a concurrent change with --force', async () => {
    changeDuringPush()
    const { code } = await one().run(['--force'], env)
    expect(code).toBe(0)
    expect(JSON.stringify(host.agents.get('a'))).toContain('2.0.0')
  })

  it('reports the owner of a host name that is taken (exit 3)', async () => {
    host.faults = [
      times(1, isPut(), response => problem(response, 409, 'host-taken', '"a.example.com" is agent "b"’s.')),
    ]
    const { code, stdout } = await one().run([], env)
    expect(stdout).toMatch(/✗ refused {3}a .*is agent "b"’s/)
    expect(code).toBe(3)
  })

  it('shows the errors of the host at their positions in the file (exit 3)', async () => {
    const errors = [{ pointer: '/card/version', message: 'is too new' }]
    host.faults = [
      times(1, isPut(), response => problem(response, 422, 'invalid-card', 'Nothing was registered.', { errors })),
    ]
    const { code, stdout } = await one().run([], env)
    expect(stdout).toMatch(/cards\/a\.json:\d+:3 error \/version is too new/)
    expect(code).toBe(3)
  })
})
