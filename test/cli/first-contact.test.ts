import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { VERSION } from '../../src/version.ts'
import { startUpstream } from '../support/upstream.ts'
import { problem } from './fake-host.ts'
import { card, containing, useFakeHost, Workspace } from './workspace.ts'

const { host, run } = useFakeHost()

const sync = (args: string) => run({ 'cards/a.json': card('a'), 'cards/b.json': card('b') }, args)

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
    expect((await sync('')).code).toBe(0)
    expect(host.writes).toHaveLength(2)
    expect(host.contacts.map(({ method, headers }) => [method, headers.authorization])).toEqual([['GET', undefined]])
  })

  it('comes before every command with a token', async () => {
    host.healthFault = (_, response) => respond(response, 404, html, '<html>')
    const stderr = containing(`${host.url} is not a Calling Card host`)
    for (const args of ['lint --observed cards', 'refresh a', 'token list'])
      expect(await sync(args)).toMatchObject({ code: 4, stderr })
    expect(host.seen).toEqual([])
  })

  it('ends the command at what is no host of ours (exit 4)', async () => {
    const noHost = 'is not a Calling Card host'
    type Sent = [status: number, headers: Record<string, string>, body?: string]
    const rows: [sent: Sent, message: string][] = [
      [[200, html, '<html>'], 'is not a Calling Card host: it responded to GET /health with 200 and an HTML page.'],
      [[404, html], 'it responded to GET /health with 404 and an HTML page.'],
      [[200, json, '{"status":"ok"}'], 'it responded to GET /health with 200 and application/json.'],
      [[200, json, '{"service":"other","version":"0.1.0","registry":"reachable"}'], 'is not a Calling Card host'],
      [[200, json, '{"service":"calling-card","version":"\\u001b[31m","registry":"reachable"}'], noHost],
      [[200, { 'Content-Type': 'text/plain' }, 'ok'], '200 and text/plain.'],
      [[204, {}], '204 and no content type.'],
      [[302, { Location: 'https://a.test/' }], 'the host has moved: it responded with 302 to https://a.test/.'],
      [[401, { 'WWW-Authenticate': 'Basic' }], 'the host asks for a token or a login (401).'],
      [[500, html], 'the host responded with 500.'],
    ]
    for (const [sent, message] of rows) {
      host.healthFault = (_, response) => respond(response, ...sent)
      const { code, stdout } = await sync('--retries 1')
      expect([code, stdout]).toEqual([4, containing(message)])
      expect(stdout).not.toContain('\u001b')
    }
    expect(host.seen).toEqual([])
  })

  it('proposes the URL without its path (exit 4)', async () => {
    host.faults = [({ path }, response) => path === '/agents/health' && rejectPath(response)]
    const { code, stdout } = await sync(`--url ${host.url}/agents --token ${host.token}`)
    expect(code).toBe(4)
    expect(stdout).toContain(
      `is not a Calling Card host: it responded to GET /agents/health with 404 and application/problem+json; try ${host.url}, without a path.`,
    )
  })

  it('retries while the host cannot be reached', async () => {
    let failures = 2
    host.healthFault = (_, response) => failures-- > 0 && respond(response, 502, html)
    const { code, stderr } = await sync('')
    expect([code, host.contacts.length]).toEqual([0, 3])
    expect(stderr).toContain('GET /health: the host responded with 502; retrying')
  })

  it('reports a host of another version if that matters', async () => {
    for (const version of [VERSION, '0.1.99', '0.1.0-beta.1', '0.2.0', '0.10.0', '1.1.0']) {
      host.health.version = version
      const warning = `${host.url} has version ${version}, and this sync-card has ${VERSION}: upgrade the older of the two.\n`
      const stderr = version.startsWith('0.1.') ? '' : warning
      expect(await sync('')).toMatchObject({ code: 0, stderr })
    }
  })

  it('reports a host that cannot reach its registry, and continues', async () => {
    host.health.registry = 'unreachable'
    host.healthFault = (_, response) => respond(response, 503, json, JSON.stringify(host.health))
    expect(await sync('')).toMatchObject({ code: 0, stderr: `${host.url} cannot reach its registry at the moment.\n` })
  })
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
