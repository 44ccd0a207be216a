import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { VERSION } from '../../src/version.ts'
import { startUpstream } from '../support/upstream.ts'
import { problem } from './fake-host.ts'
import { card, useFakeHost, Workspace } from './workspace.ts'

const { host, env } = useFakeHost()

const sync = (...args: string[]) =>
  new Workspace({ 'cards/a.json': card('a'), 'cards/b.json': card('b') }).run(args, env)

/** Responds with this status, media type and body. */
const respond = (response: ServerResponse, status: number, headers: Record<string, string>, body = ''): boolean =>
  Boolean(response.writeHead(status, headers).end(body))

const html = { 'Content-Type': 'text/html; charset=utf-8' }
const json = { 'Content-Type': 'application/json' }

/** Responds as hosts do to paths that they do not have. */
const rejectPath = (response: ServerResponse): boolean => {
  const detail =
    'No such endpoint. GET /agents lists agents; their cards are at /agents/{id}/.well-known/agent-card.json. GET /openapi.json describes all endpoints.'
  return Boolean(problem(response, 404, 'not-found', detail))
}

describe('first contact with a host', () => {
  it('asks once for its health, without the token', async () => {
    expect((await sync()).code).toBe(0)
    expect(host.writes).toHaveLength(2)
    expect(host.contacts.map(({ method, headers }) => [method, headers.authorization])).toEqual([['GET', undefined]])
  })

  it.each<[string, string[]]>([
    ['lint', ['lint', '--observed', 'cards']],
    ['refresh', ['refresh', 'a']],
    ['token', ['token', 'list']],
  ])('comes before every command with a token: %s', async (_, args) => {
    host.healthFault = (_, response) => respond(response, 404, html, '<html>')
    const { code, stderr } = await sync(...args)
    expect([code, host.seen]).toEqual([4, []])
    expect(stderr).toContain(`${host.url} is not a Calling Card host`)
  })

  it.each<[string, (response: ServerResponse) => boolean, string]>([
    [
      'a web site',
      response => respond(response, 200, html, '<html>'),
      'is not a Calling Card host: it responded to GET /health with 200 and an HTML page.',
    ],
    [
      'a web site without this page',
      response => respond(response, 404, html),
      'it responded to GET /health with 404 and an HTML page.',
    ],
    [
      'another product',
      response => respond(response, 200, json, '{"status":"ok"}'),
      'it responded to GET /health with 200 and application/json.',
    ],
    [
      'another product with a service',
      response => respond(response, 200, json, '{"service":"other","version":"0.1.0","registry":"reachable"}'),
      'is not a Calling Card host',
    ],
    [
      'a version that is no version',
      response =>
        respond(response, 200, json, '{"service":"calling-card","version":"\\u001b[31m","registry":"reachable"}'),
      'is not a Calling Card host',
    ],
    ['plain text', response => respond(response, 200, { 'Content-Type': 'text/plain' }, 'ok'), '200 and text/plain.'],
    ['an empty response', response => respond(response, 204, {}), '204 and no content type.'],
    [
      'a redirect',
      response => respond(response, 302, { Location: 'https://login.example.com/' }),
      'the host has moved: it responded with 302 to https://login.example.com/.',
    ],
    [
      'a login',
      response => respond(response, 401, { 'WWW-Authenticate': 'Basic' }),
      'the host asks for a token or a login (401).',
    ],
    ['a server that fails', response => respond(response, 500, html), 'the host responded with 500.'],
  ])('ends the command at %s (exit 4)', async (_, answer, message) => {
    host.healthFault = (_, response) => answer(response)
    const { code, stdout } = await sync('--retries', '1')
    expect([code, host.seen]).toEqual([4, []])
    expect(stdout).toContain(message)
    expect(stdout).not.toContain('\u001b')
  })

  it('proposes the URL without its path (exit 4)', async () => {
    host.faults = [({ path }, response) => path === '/agents/health' && rejectPath(response)]
    const { code, stdout } = await sync('--url', `${host.url}/agents`, '--token', host.token)
    expect(code).toBe(4)
    expect(stdout).toContain(
      `is not a Calling Card host: it responded to GET /agents/health with 404 and application/problem+json; try ${host.url}, without a path.`,
    )
  })

  it('retries while the host cannot be reached', async () => {
    let failures = 2
    host.healthFault = (_, response) => failures-- > 0 && respond(response, 502, html)
    const { code, stderr } = await sync()
    expect([code, host.contacts.length]).toEqual([0, 3])
    expect(stderr).toContain('GET /health: the host responded with 502; retrying')
  })

  it.each<[string, string | undefined]>([
    [VERSION, undefined],
    ['0.1.99', undefined],
    ['0.1.0-beta.1', undefined],
    ['0.2.0', '0.2.0'],
    ['0.10.0', '0.10.0'],
    ['1.1.0', '1.1.0'],
  ])('reports a host of version %s if that matters', async (version, reported) => {
    host.health.version = version
    const { code, stderr } = await sync()
    const warning = `${host.url} has version ${reported}, and this sync-card has ${VERSION}: upgrade the older of the two.\n`
    expect({ code, stderr }).toEqual({ code: 0, stderr: reported === undefined ? '' : warning })
  })

  it('reports a host that cannot reach its registry, and continues', async () => {
    host.health.registry = 'unreachable'
    host.healthFault = (_, response) => respond(response, 503, json, JSON.stringify(host.health))
    const { code, stderr } = await sync()
    expect({ code, stderr }).toEqual({ code: 0, stderr: `${host.url} cannot reach its registry at the moment.\n` })
  })
})

it('names the token that a host rejects', async () => {
  const { code, stdout } = await new Workspace({
    'cards/a.json': card('a'),
    '.env': `SYNC_CARD_URL=${host.url}\nSYNC_CARD_TOKEN=wrong`,
  }).run([])
  expect(code).toBe(4)
  expect(stdout).toContain(
    'the host rejects the token (401), which is wrong, expired or revoked: SYNC_CARD_TOKEN in .env.',
  )
})

describe('a URL with the wrong scheme, or a certificate that proves nothing', () => {
  const file = (name: string) => readFileSync(`${import.meta.dirname}/../fixtures/tls/${name}.pem`, 'utf8')

  it('is reported with the scheme that the port speaks (exit 4)', async () => {
    const tls = await startUpstream({ tls: { key: file('key'), cert: file('self-signed') } })
    const [http, https] = [new URL(host.url).host, `127.0.0.1:${tls.port}`]
    const list = (url: string) => new Workspace().run(['list', '--url', url, '--token', 't'])
    const wrong = await list(`https://${http}`)
    const missing = await list(`http://${https}`)
    const unknown = await list(`https://${https}`)
    await tls.close()
    host.healthFault = (_, response) => Boolean(response.writeHead(400, { 'Content-Type': 'text/html' }).end())
    const proxy = await list(host.url)
    expect([wrong, missing, unknown, proxy].map(({ code }) => code)).toEqual([4, 4, 4, 4])
    expect(wrong.stderr).toBe(
      `sync-card: the connection failed (it does not speak https, but probably http: use http://${http}).\n`,
    )
    expect(missing.stderr).toContain(`); if it speaks https, use https://${https}.\n`)
    expect(unknown.stderr).toMatch(/^sync-card: the connection failed \(its certificate is of no authority .*\)\.\n$/)
    expect(proxy.stderr).toMatch(/with 400 and an HTML page; if it speaks https, use https:\/\//)
  })
})
