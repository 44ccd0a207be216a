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
  it('reports a repeated failure once, and again after it has passed', async () => {
    host.faults = [times(3, isPut('a'), busy), times(2, isPut('b'), busy)]
    const { code, stderr, ids } = await run(two, '')
    expect(stderr.match(/^PUT .*$/gm)).toEqual([
      'PUT /agents/a: the host responded with 503; retrying',
      'PUT /agents/b: the host responded with 503; retrying',
    ])
    expect({ code, ids }).toEqual({ code: 0, ids: ['a', 'b'] })
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
    await host.close()
    expect(await run(one, '', { env: { PORT: port } })).toMatchObject({
      code: 4,
      stderr: `sync-card: nothing is listening at ${url}, so the connection failed (connect ECONNREFUSED 127.0.0.1:${port}): start a host there (npm start in its clone), or name another with --url, --host or SYNC_CARD_URL.\n`,
    })
    await host.listen(Number(port))
    expect((await run(one, '', { env: { PORT: port } })).stderr).toContain(`There is no token for ${url}.`)
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
