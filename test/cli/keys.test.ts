import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { getSigningKeys } from '../../src/signing/keys.ts'
import { FakeHost } from './fake-host.ts'
import { Workspace } from './workspace.ts'

/** Does what `wrangler secret put` does: reads the value from stdin. */
const fakeWrangler = `#!${process.execPath}
const { readFileSync, writeFileSync } = require('node:fs')
writeFileSync('call.json', JSON.stringify({ args: process.argv.slice(2), secret: readFileSync(0, 'utf8') }))
process.exit(Number(process.env.EXIT_CODE ?? 0))
`

/** Runs `sync-card keys` with a replacement of wrangler. */
const runKeys = async (args: string[], env: Record<string, string> = {}) => {
  // A program must not get a variable such as NODE_OPTIONS of a file, which somebody else may have written.
  const workspace = new Workspace({ 'bin/wrangler': fakeWrangler, '.env': 'EXIT_CODE=9' })
  chmodSync(join(workspace.folder, 'bin/wrangler'), 0o755)
  const ended = await workspace.run(['keys', ...args], { PATH: join(workspace.folder, 'bin'), ...env })
  const file = join(workspace.folder, 'call.json')
  const call = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as { args: string[]; secret: string })
    : undefined
  return { ...ended, call }
}

/** Returns the public keys of a secret, as the Worker reads it. */
const publishedOf = async (secret = '') => {
  const keys = await getSigningKeys({ SIGNING_KEY: secret })
  if ('misconfigured' in keys) throw new Error(keys.misconfigured)
  expect(keys.current.kid).toBe(keys.published[0]?.kid)
  return keys.published
}

/** Starts a host that answers for its keys. */
const startHost = async (status: number, body: unknown): Promise<FakeHost> => {
  const host = await new FakeHost().listen()
  host.faults = [
    ({ path }, response) =>
      path === '/.well-known/jwks.json' &&
      Boolean(response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))),
  ]
  return host
}

describe('sync-card keys create', () => {
  it('stores a new key as a secret of the Worker, and shows only its id', async () => {
    const { code, stdout, stderr, call } = await runKeys(['create', '--', '--env', 'staging'])
    expect([code, stdout, call?.args]).toEqual([0, '', ['secret', 'put', 'SIGNING_KEY', '--env', 'staging']])
    const [key] = await publishedOf(call?.secret)
    const { d, kid } = JSON.parse(call?.secret ?? '')
    expect(kid).toBe(key?.kid)
    expect(stderr).toContain(`SIGNING_KEY is now ${kid}`)
    expect(stderr).toContain('--keep')
    expect(stderr + call?.args).not.toContain(d)
  })

  it('makes another key each time', async () => {
    const secrets = await Promise.all([1, 2].map(async () => (await runKeys(['create'])).call?.secret))
    expect(new Set(secrets).size).toBe(2)
  })

  it('prints the secret instead with --print, and nothing else', async () => {
    const { code, stdout, stderr, call } = await runKeys(['create', '--print'])
    expect([code, stderr, call]).toEqual([0, '', undefined])
    expect(await publishedOf(stdout)).toHaveLength(1)
  })

  it.each<[string, (host: FakeHost) => string]>([
    ['URL', ({ url }) => url],
    ['name', () => 'local'],
  ])('keeps the keys of a host published with --keep and its %s', async (_, keep) => {
    const before = await publishedOf((await runKeys(['create'])).call?.secret)
    const host = await startHost(200, { keys: before })
    const { code, stderr, call } = await runKeys(['create', '--keep', keep(host)], { PORT: new URL(host.url).port })
    await host.close()
    const [key, ...others] = await publishedOf(call?.secret)
    expect([code, others]).toEqual([0, before])
    expect(key?.kid).not.toBe(before[0]?.kid)
    expect(stderr).not.toContain('--keep')
    expect(host.seen.map(({ headers }) => headers.authorization)).toEqual([undefined])
  })

  it.each<[string, number, unknown, number, string]>([
    ['has no keys', 404, {}, 2, 'publishes no keys: leave out --keep'],
    ['responds with something else', 200, { keys: [{ kty: 'oct', k: 'AAAA' }] }, 4, 'is not a Calling Card host'],
  ])('stores nothing if the host of --keep %s', async (_, status, body, code, message) => {
    const host = await startHost(status, body)
    const result = await runKeys(['create', '--keep', host.url])
    await host.close()
    expect(result).toEqual({ code, stdout: '', stderr: expect.stringContaining(message), call: undefined })
  })

  it('fetches no keys over an unencrypted connection', async () => {
    expect(await runKeys(['create', '--keep', 'http://cards.example.com'])).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('use https'),
      call: undefined,
    })
  })

  it('returns the exit code of wrangler', async () => {
    const { code, stderr } = await runKeys(['create'], { EXIT_CODE: '7' })
    expect({ code, stderr }).toEqual({ code: 7, stderr: '' })
  })

  it('reports that wrangler is missing (exit 2)', async () => {
    const { code, stderr } = await new Workspace().run(['keys', 'create'], { PATH: '/nowhere' })
    expect([code, stderr]).toEqual([2, expect.stringContaining('run this in a clone of the host, after npm ci')])
  })
})
