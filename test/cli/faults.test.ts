import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { isPut, problem, times } from './fake-host.ts'
import { card, containing, matching, useFakeHost } from './workspace.ts'

const { host, env, run } = useFakeHost()

const one = { 'cards/a.json': card('a', { version: '2.0.0' }) }
const two = { 'cards/a.json': card('a'), 'cards/b.json': card('b') }
const disconnect = (response: ServerResponse): boolean => Boolean(response.socket?.destroy())
const busy = (response: ServerResponse): boolean => Boolean(problem(response, 503, 'busy', 'Busy.'))

describe('sync-card with a failing host', () => {
  it('retries after a lost connection, a 503 and a 429', async () => {
    const headers = { 'Retry-After': '0' }
    host.faults = [
      times(1, isPut(), disconnect),
      times(1, isPut(), busy),
      times(1, isPut(), response => problem(response, 429, 'slow-down', 'Slow.', { headers })),
    ]
    const { code, stderr, ids } = await run(one, '')
    expect(stderr.match(/retrying/g)).toHaveLength(3)
    expect({ code, ids }).toEqual({ code: 0, ids: ['a'] })
  })

  it('reports a repeated failure once, and again after it has passed', async () => {
    host.faults = [times(3, isPut('a'), busy), times(2, isPut('b'), busy)]
    const { code, stderr, ids } = await run(two, '')
    expect(stderr.match(/^PUT .*$/gm)).toEqual([
      'PUT /agents/a: the host responded with 503; retrying',
      'PUT /agents/b: the host responded with 503; retrying',
    ])
    expect({ code, ids }).toEqual({ code: 0, ids: ['a', 'b'] })
  })

  it('does not retry a port that fetch blocks (exit 4)', async () => {
    const { code, stdout, stderr } = await run(one, '--url http://127.0.0.1:6000 --token t')
    expect(stdout).toContain('port 6000 is blocked by fetch and browsers')
    expect(stderr).not.toContain('retrying')
    expect(code).toBe(4)
  })

  it('reports what was pushed and what was not when the host is lost on the way (exit 4)', async () => {
    host.faults = [times(Number.POSITIVE_INFINITY, isPut('b'), disconnect)]
    const stdout = matching(/^\+ created {3}a .*\nStopped: the connection failed.*\n {2}not pushed: b\n/)
    expect(await run(two, '--retries 1')).toMatchObject({ code: 4, stdout })
  })

  it('sends nothing more after the host is lost', async () => {
    host.faults = [(_, response) => disconnect(response)]
    const files = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`cards/a${index}.json`, card('a')]))
    expect(await run(files, '--retries 0')).toMatchObject({ code: 4, stdout: containing('20 not pushed') })
    expect(host.seen).toHaveLength(1)
  })

  it('reports a host that is not running: at once for this machine, after retries for another (exit 4)', async () => {
    const { url } = host
    await host.close()
    const stdout = matching(
      /\(.*ECONNREFUSED.*\): start a host there \(npm start in its clone\), or name .* SYNC_CARD_URL\.\n[^ ]*: 1 not pushed\n$/,
    )
    const retries = { '127.0.0.1': '', localhost: '', '0.0.0.0': matching(/GET \/health: .*; retrying/) }
    for (const [name, stderr] of Object.entries(retries)) {
      const SYNC_CARD_URL = url.replace('127.0.0.1', name)
      expect(await run(one, '', { env: { ...env, SYNC_CARD_URL } })).toMatchObject({ code: 4, stdout, stderr })
    }
    await host.listen()
  })

  it('names a host at the default address that is not running, rather than its token (exit 4)', async () => {
    const { url } = host
    const { port } = new URL(url)
    for (const [args, PORT] of [['', port], ['list', port], [`--url ${url}`]] as const) {
      await host.close()
      const { code, stderr } = await run(one, args, { env: { PORT } })
      expect(stderr).toBe(
        `sync-card: nothing is listening at ${url}, so the connection failed (connect ECONNREFUSED 127.0.0.1:${port}): start a host there (npm start in its clone), or name another with --url, --host or SYNC_CARD_URL.\n`,
      )
      expect(code).toBe(4)
      await host.listen(Number(port))
      if (args !== 'list')
        expect((await run(one, args, { env: { PORT } })).stderr).toContain(`There is no token for ${url}.`)
    }
    expect(host.seen.filter(({ headers }) => headers.authorization !== undefined)).toEqual([])
  })

  it('stops at the first request when the host rejects the token (exit 4)', async () => {
    const { code, stdout, stderr } = await run(one, '--token not-this-one')
    expect(stdout).toContain('the host rejects the token')
    expect(stdout + stderr).not.toContain('not-this-one')
    expect({ code, requests: host.seen.length }).toEqual({ code: 4, requests: 1 })
  })

  it('skips the agent that the token cannot write, and pushes the rest (exit 4)', async () => {
    host.faults = [times(1, isPut('b'), response => problem(response, 403, 'forbidden', 'Not your agent.'))]
    const stdout = matching(/✗ forbidden b .*Not your agent/)
    expect(await run({ ...two, 'cards/c.json': card('c') }, '')).toMatchObject({ code: 4, ids: ['a', 'c'], stdout })
  })

  it('does not follow a redirect with the token', async () => {
    const Location = 'https://other.example.com/'
    host.faults = [(_, response) => Boolean(response.writeHead(301, { Location }).end())]
    const stdout = containing('has moved: it responded with 301 to https://other.example.com/')
    expect(await run(one, '')).toMatchObject({ code: 4, stdout })
  })

  it('reports a server that is not a Calling Card host (exit 4)', async () => {
    host.faults = [times(1, isPut(), response => response.writeHead(200).end('<html>'))]
    expect(await run(one, '')).toMatchObject({ code: 4, stdout: containing('it is not a Calling Card host') })
  })

  it('does not overwrite a concurrent change, and shows it (exit 3), unless --force is given', async () => {
    for (const [args, code, stdout, stored] of [
      ['', 3, matching(/✗ changed meanwhile a[\s\S]*\+ \/card\/iconUrl/), 'iconUrl'],
      ['--force', 0, matching(/~ updated {3}a/), '2.0.0'],
    ] as const) {
      host.seen.splice(0)
      host.register('a', { card: card('a', { version: '1.0.0' }) })
      host.faults = [
        seen => {
          if (isPut('a')(seen) && host.writes.length === 1)
            host.register('a', { card: card('a', { version: '1.0.0', iconUrl: 'https://a.example.com/i.png' }) })
          return false
        },
      ]
      expect(await run(one, args)).toMatchObject({ code, stdout })
      expect(JSON.stringify(host.agents.get('a'))).toContain(stored)
    }
  })

  it('shows the reason of the host, and errors at their positions in the file (exit 3)', async () => {
    const taken = '"a.example.com" is agent "b"’s.'
    host.faults = [times(1, isPut(), response => problem(response, 409, 'host-taken', taken))]
    const stdout = matching(/✗ refused {3}a .*is agent "b"’s/)
    expect(await run(one, '')).toMatchObject({ code: 3, stdout })
    const errors = [{ pointer: '/card/version', message: 'is too new' }]
    host.faults = [times(1, isPut(), response => problem(response, 422, 'invalid-card', 'None.', { errors }))]
    const place = matching(/cards\/a\.json:\d+:3 error \/version is too new/)
    expect(await run(one, '')).toMatchObject({ code: 3, stdout: place })
  })
})
