import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { VERSION } from '../../src/version.ts'
import { problem } from './fake-host.ts'
import { card, containing, useFakeHost } from './workspace.ts'

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

  it('ends the command at what is no host of ours (exit 4)', async () => {
    const noHost = 'is not a Calling Card host'
    type Sent = [status: number, headers: Record<string, string>, body?: string]
    const rows: [sent: Sent, message: string][] = [
      [[200, html, '<html>'], 'is not a Calling Card host: it responded to GET /health with 200 and an HTML page.'],
      [[200, json, '{"status":"ok"}'], 'it responded to GET /health with 200 and application/json.'],
      [[200, json, '{"service":"calling-card","version":"\\u001b[31m","registry":"reachable","missing":[]}'], noHost],
      [[200, { 'Content-Type': 'text/plain' }, 'ok'], '200 and text/plain.'],
      [[204, {}], '204 and no content type.'],
      [[400, html], `with 400 and an HTML page; if it speaks https, use https://${new URL(host.url).host}.`],
      [[401, { 'WWW-Authenticate': 'Basic' }], 'the host asks for a token or a login (401).'],
    ]
    for (const [sent, message] of rows) {
      host.healthFault = (_, response) => respond(response, ...sent)
      const { code, stdout } = await sync('')
      expect([code, stdout]).toEqual([4, containing(message)])
      expect(stdout).not.toContain('\u001b')
    }
    expect(host.seen).toEqual([])
  })

  it('proposes https where the connection is closed without a response (exit 4)', async () => {
    host.healthFault = (_, response) => Boolean(response.socket?.destroy())
    expect(await sync('')).toMatchObject({ code: 4, stdout: containing('); if it speaks https, use https://') })
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
    for (const version of ['0.1.99', '0.10.0', '1.1.0']) {
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
