import { createLocalJWKSet, flattenedVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Receipt, ReceiptTest, ServedReceipt } from '../../src/card/model/receipt-format.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { canonicalJson } from '../../src/json/tree.ts'
import { getRegistry } from '../../src/registry/store/registry.ts'
import { type CalledHost, type Received, useSharedHost } from '../support/called-host.ts'
import { agentCard, minimalCard } from '../support/cards/cards.ts'
import { token } from '../support/host.ts'
import { scripted } from '../support/mcp-server.ts'
import { startNodeHost } from '../support/node-host.ts'
import { agentKinds, agentPath, createOfficialAgents } from '../support/sdk/agents.ts'
import { html, json, type Responder, reply, stream } from '../support/upstream.ts'

/** A host that signs receipts, and an agent behind it. */
let called: CalledHost
/** An agent behind a host that does not wait for it for long. */
let slow: CalledHost
beforeAll(async () => {
  called = await useSharedHost('signing')
  slow = await useSharedHost('short-timeouts')
})
afterAll(() => Promise.all([called.close(), slow.close()]))

/** What an agent does with a call. */
type Behavior = {
  streaming?: boolean
  pushNotifications?: boolean
  /** Replaces the answer to a method. */
  answers?: Record<string, JsonObject>
}

const error = (code: number) => ({ error: { code, message: 'An error of the agent <b>' } })
const message = { message: { messageId: 'a', role: 'ROLE_AGENT', parts: [{ text: 'Rain' }] } }

/** An agent of 1.0 over JSON-RPC. */
const behave =
  ({ streaming = false, pushNotifications = false, answers = {} }: Behavior = {}): Responder =>
  (response, request, body) => {
    if (request.method !== 'POST') return void response.writeHead(404, html).end('<h1>No card here</h1>')
    const { id, method } = JSON.parse(String(body))
    const answer = (more: JsonObject) =>
      response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, ...more }))
    if (answers[method]) return void answer(answers[method])
    if (request.headers['a2a-version'] !== '1.0') return void answer(error(-32009))
    if (method === 'SendMessage') return void answer({ result: message })
    if (method === 'SendStreamingMessage' && streaming) {
      const data = JSON.stringify({ jsonrpc: '2.0', id, result: message })
      return void response.writeHead(200, stream).end(`data: ${data}\n\n`)
    }
    const codes: Record<string, number> = {
      GetTask: -32001,
      SubscribeToTask: streaming ? -32001 : -32004,
      GetTaskPushNotificationConfig: pushNotifications ? -32001 : -32003,
      GetExtendedAgentCard: -32004,
    }
    answer(error(codes[method] ?? -32601))
  }

const cardOf = (capabilities: JsonObject = {}, more: JsonObject = {}, { origin } = called.agent): JsonObject => ({
  ...agentCard(origin),
  supportedInterfaces: [{ url: `${origin}/rpc-1`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities,
  ...more,
})

const register = (id: string, capabilities?: JsonObject, manifest: JsonObject = {}) =>
  called.register(id, { card: cardOf(capabilities), route: 'gateway', bridge: 'off', ...manifest })

const post = (id: string, body?: Json, as: string | undefined = token): Promise<Received> =>
  called.send(`/agents/${id}/check`, { token: as, ...(body !== undefined && { body }) })
const getReceipt = (id: string, as?: string) => called.send(`/agents/${id}/receipt`, { method: 'GET', token: as })

const check = async (id: string, body?: Json): Promise<Receipt> => {
  const response = await post(id, body)
  expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
  return (response.body as ServedReceipt).receipt
}

/** Returns the results of the tests that have not passed. */
const notPassed = ({ tests }: Receipt): string[] =>
  tests.filter(({ result }) => result !== 'passed').map(({ id, through, result }) => `${through} ${id} ${result}`)

const find = ({ tests }: Receipt, through: 'gate' | 'direct', id: string): ReceiptTest | undefined =>
  tests.find(test => test.through === through && test.id === id)

/** The methods that the agent has received. */
const methods = (): string[] =>
  called.agent.requests.flatMap(({ method, body }) => (method === 'POST' ? [JSON.parse(body).method] : []))

const SENDING = /send|stream/i

describe('POST /agents/{id}/check', () => {
  it('passes an agent that does what its card declares, and sends it nothing that starts work', async () => {
    called.agent.respond(behave({ streaming: true, pushNotifications: true }))
    await register('check-good', { streaming: true, pushNotifications: true })
    called.agent.requests.length = 0
    const receipt = await check('check-good')
    expect(notPassed(receipt)).toEqual(['direct own-card skipped'])
    expect(receipt).toMatchObject({ agent: 'check-good', host: called.host.url.origin, send: false })
    expect(receipt.summary).toEqual({ passed: receipt.tests.length - 1, failed: 0, skipped: 1 })
    expect(methods().filter(method => SENDING.test(method))).toEqual([])
    expect([...new Set(methods())].toSorted()).toEqual([
      ...['CallingCardCheck', 'GetExtendedAgentCard', 'GetTask', 'GetTaskPushNotificationConfig', 'SubscribeToTask'],
    ])
    const idsOf = (through: string) =>
      receipt.tests.flatMap(test => (test.through === through ? [test.id] : [])).join(' ')
    expect([idsOf('gate'), idsOf('direct')]).toEqual([
      'card-agent-card.json card-agent.json card-1.0 card-0.3 card-dialects card-not-modified version unknown-method ' +
        'output-modes extended-card-anonymous push-notifications streaming unknown-task',
      'own-card version unknown-method extended-card-anonymous push-notifications streaming unknown-task',
    ])
    expect(find(receipt, 'direct', 'unknown-task')).toEqual({
      id: 'unknown-task',
      title: 'Reports an unknown task as not found',
      through: 'direct',
      protocol: 'JSONRPC 1.0',
      claimed: 'A2A requires error -32001',
      happened: 'error -32001 TASK_NOT_FOUND, HTTP 200, application/json',
      result: 'passed',
    })
  })

  it('sends one message and one stream if it is asked to', async () => {
    called.agent.respond(behave({ streaming: true }))
    await register('check-send', { streaming: true })
    called.agent.requests.length = 0
    const receipt = await check('check-send', { send: true })
    expect([receipt.send, notPassed(receipt)]).toEqual([true, ['direct own-card skipped']])
    expect(methods().filter(method => SENDING.test(method))).toEqual(['SendMessage', 'SendStreamingMessage'])
    expect(find(receipt, 'gate', 'stream')?.happened).toBe('message, text/event-stream')
  })

  it('fails an agent that does not do what its card declares, or more', async () => {
    const task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } }
    const [anyTask, anyCard] = [{ GetTask: { result: task } }, { GetExtendedAgentCard: { result: { name: 'A' } } }]
    const anyMethod = { CallingCardCheck: { result: {} } }
    const push = ['gate push-notifications', 'direct push-notifications']
    const found = ['gate unknown-task', 'direct version', 'direct unknown-task']
    const rows: [behaves: string, JsonObject, Behavior, failed: string[]][] = [
      ['declares streaming, but refuses it', { streaming: true }, {}, ['gate streaming', 'direct streaming']],
      ['streams, but does not declare it', {}, { streaming: true }, ['direct streaming']],
      ['declares push notifications, but refuses them', { pushNotifications: true }, {}, push],
      ['returns an undeclared extended card', {}, { answers: anyCard }, ['direct extended-card-anonymous']],
      ['finds any task', {}, { answers: anyTask }, found],
      ['knows any method', {}, { answers: anyMethod }, ['direct unknown-method']],
    ]
    for (const [behaves, capabilities, behavior, failed] of rows) {
      called.agent.respond(behave(behavior))
      await register('check-liar', capabilities)
      const { tests } = await check('check-liar')
      const failures = tests.filter(({ result }) => result === 'failed')
      expect(
        failures.map(({ through, id }) => `${through} ${id}`),
        behaves,
      ).toEqual(failed)
    }
  })

  it('sends no message to an agent that takes no text', async () => {
    called.agent.respond(behave())
    await register('check-unsent', {}, { card: cardOf({}, { defaultInputModes: ['image/*'] }) })
    expect(find(await check('check-unsent', { send: true }), 'gate', 'message')).toMatchObject({
      ...{ result: 'skipped', reason: 'The card accepts no text.' },
    })
    expect(methods().filter(method => SENDING.test(method))).toEqual([])
  })

  it('fails an answer with media types that the card does not declare', async () => {
    const image = { messageId: 'a', role: 'ROLE_AGENT', parts: [{ raw: 'AA==', mediaType: 'image/png' }] }
    called.agent.respond(behave({ answers: { SendMessage: { result: { message: image } } } }))
    await register('check-modes')
    expect(find(await check('check-modes', { send: true }), 'gate', 'message')).toMatchObject({
      result: 'failed',
      claimed: 'output modes: text/plain',
      reason: 'The answer has media types that the card does not declare.',
    })
  })

  it('fails an agent whose answer is not A2A, without any text of it', async () => {
    const text = 'a text of the agent'
    const jsonRpc = JSON.stringify({ jsonrpc: '2.0', id: text, ...error(-32001) })
    const strange = { 'Content-Type': `${text.replaceAll(' ', '-')}/<b>` }
    const redirect = reply(302, { Location: 'https://other.example/' }, text)
    const tooLong = 'answered with more than this host reads'
    const rows: [what: string, Responder, happened: string][] = [
      ['another id', reply(200, json, jsonRpc), 'HTTP 200, application/json: the id of another call'],
      ['HTML', reply(200, html, `<h1>${text}</h1>`), 'HTTP 200, text/html: no JSON'],
      ['no JSON', reply(200, json, text), 'HTTP 200, application/json: no JSON'],
      ['a strange content type', reply(200, strange, '{}'), 'HTTP 200, an unusual content type: no JSON'],
      ['a huge body', reply(200, json, JSON.stringify(text.repeat(30_000))), tooLong],
      ['an endless line of an event', reply(200, stream, `data: ${text.repeat(30_000)}`), tooLong],
      ['a redirect', redirect, 'answered with a redirect, which is not followed'],
      ['no text', reply(200, json, Buffer.from([0xff, 0xfe])), 'answered with bytes that are no UTF-8 text'],
    ]
    await register('check-wrong')
    for (const [what, responder, happened] of rows) {
      called.agent.respond(responder)
      const receipt = await check('check-wrong')
      const expected = { result: 'failed', happened, reason: 'The answer is not A2A.' }
      expect(find(receipt, 'direct', 'unknown-task'), what).toMatchObject(expected)
      // The gate corrects the id of an answer, and nothing else here.
      const throughGate = what === 'another id' ? 'passed' : 'failed'
      expect(find(receipt, 'gate', 'unknown-task'), what).toMatchObject({ result: throughGate })
      expect(JSON.stringify(receipt)).not.toMatch(/text.of.the.agent|<b>/)
    }
  })

  it('sends no more calls to an agent that has left two without an answer', async () => {
    slow.agent.respond(() => undefined)
    await slow.register('check-hangs', { card: cardOf({}, {}, slow.agent) })
    const { body } = await slow.send('/agents/check-hangs/check', { token })
    const { receipt } = body as ServedReceipt
    const version = { result: 'failed', happened: 'did not answer in time' }
    const unsent = { result: 'skipped', reason: 'Not sent, because the agent did not answer before.' }
    expect(find(receipt, 'direct', 'version')).toMatchObject(version)
    expect(find(receipt, 'direct', 'unknown-task')).toMatchObject(unsent)
    const gated = { result: 'failed', reason: 'The agent does not answer.' }
    expect(find(receipt, 'gate', 'unknown-task')).toMatchObject(gated)
    // Its card and two calls directly, and one through the gate.
    expect(slow.agent.requests.length).toBeLessThanOrEqual(4)
  })

  it('makes an address that is blocked look like one that is unreachable', async () => {
    const at = (url: string) => ({
      card: cardOf({}, { supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] }),
    })
    const receipts: Receipt[] = []
    const own = `${called.host.url.origin}/agents/check-blocked/a2a`
    for (const url of ['https://10.0.0.1/a2a', 'https://nowhere.invalid/a2a', own]) {
      await called.register('check-blocked', at(url))
      receipts.push(await check('check-blocked'))
    }
    const [first, ...others] = receipts.map(({ tests }) => tests.filter(({ through }) => through === 'direct'))
    expect(first?.slice(0, 2)).toMatchObject([
      { id: 'own-card', result: 'skipped', happened: 'could not be reached' },
      { id: 'version', result: 'failed', happened: 'could not be reached' },
    ])
    for (const other of others) expect(other).toEqual(first)
  })

  it('sends the secret of the manifest to the agent alone, the token of the caller to nobody, and puts neither into the receipt', async () => {
    called.agent.respond(behave())
    const manifest = { upstream: { secret: 'AGENT_TOKEN' }, extended: { description: 'More' } }
    await register('check-secret', { extendedAgentCard: true }, manifest)
    called.agent.requests.length = 0
    const receipt = await check('check-secret')
    const seen = called.agent.requests.map(({ headers }) => headers.authorization)
    expect(new Set(seen)).toEqual(new Set([undefined, 'Bearer the-hosts-own-secret']))
    expect(JSON.stringify(called.agent.requests)).not.toContain(token)
    expect(find(receipt, 'gate', 'extended-card-anonymous')).toMatchObject({ result: 'passed', happened: 'HTTP 401' })
    const authorized = { result: 'passed', happened: 'card, application/json' }
    expect(find(receipt, 'gate', 'extended-card-authorized')).toMatchObject(authorized)
    expect(JSON.stringify(receipt)).not.toMatch(
      new RegExp(`${token}|the-hosts-own-secret|AGENT_TOKEN|${called.agent.origin}`),
    )
  })

  it('skips what it need not or cannot test, with the reason, and sends no message for it', async () => {
    const anyOutput = { defaultOutputModes: ['*/*'] }
    const credentials = 'The agent needs credentials, and the check sends none here.'
    const closed = 'error -32004 UNSUPPORTED_OPERATION, HTTP 200, application/json'
    type Row = [manifest: JsonObject, through: 'gate' | 'direct', id: string, expected: object, responder?: Responder]
    const rows: Row[] = [
      [{}, 'direct', 'unknown-task', { happened: 'HTTP 401', reason: credentials }, reply(401, json, '{}')],
      [{ route: 'closed' }, 'gate', 'closed', { result: 'passed', happened: closed }],
      [{ route: 'closed' }, 'gate', 'unknown-task', { reason: 'The manifest has `route: closed`.' }],
      [{ route: 'closed' }, 'direct', 'unknown-task', { result: 'passed' }],
      [{ gate: { modes: 'off' } }, 'gate', 'output-modes', { reason: 'The manifest has `gate.modes: off`.' }],
      [{ card: cardOf({}, anyOutput) }, 'gate', 'output-modes', { reason: 'The card accepts any media type.' }],
      // The gate would forward it to the caller of an extended card.
      [{ extended: anyOutput }, 'gate', 'output-modes', { happened: 'the gate let it pass' }],
    ]
    called.agent.requests.length = 0
    for (const [manifest, through, id, expected, responder = behave()] of rows) {
      called.agent.respond(responder)
      await register('check-skips', {}, manifest)
      const receipt = await check('check-skips')
      expect(find(receipt, through, id), JSON.stringify(manifest)).toMatchObject({ result: 'skipped', ...expected })
      expect(receipt.summary.failed, JSON.stringify(manifest)).toBe(0)
    }
    expect(methods().filter(method => SENDING.test(method))).toEqual([])
  })

  it('calls an agent whose callers need a token with that of the check, and without it expects a refusal', async () => {
    called.agent.respond(behave({ streaming: true }))
    await register('check-limited', { streaming: true }, { callers: 'tokens' })
    const receipt = await check('check-limited')
    expect(notPassed(receipt)).toEqual(['direct own-card skipped'])
    const { token: writer } = await called.issue({ scopes: ['write'], agents: ['check-limited'] })
    const { receipt: limited } = (await post('check-limited', undefined, writer)).body as ServedReceipt
    expect(find(limited, 'gate', 'extended-card-anonymous')?.result).toBe('passed')
    const reason = 'Callers need a token with the scope `call`, which that of this check may lack.'
    expect(find(limited, 'gate', 'unknown-task')).toMatchObject({ result: 'skipped', reason })
  })

  it('tests an MCP server through the gate only, and calls none of its tools', async () => {
    called.agent.serve(scripted())
    const card = { name: 'Tools', description: 'Has tools' }
    await called.register('check-mcp', { card, upstream: { mcp: `${called.agent.origin}/mcp` } })
    called.agent.requests.length = 0
    const receipt = await check('check-mcp', { send: true })
    expect(receipt.summary.failed).toBe(0)
    const reason = 'A message must name a tool of the MCP server, and this one names none.'
    expect(find(receipt, 'gate', 'message')).toMatchObject({ result: 'skipped', reason })
    const direct = receipt.tests.filter(({ through }) => through === 'direct')
    expect(direct).toMatchObject([
      {
        ...{ id: 'direct', result: 'skipped' },
        reason: 'The agent is an MCP server, which has no endpoint of A2A itself.',
      },
    ])
    expect(find(receipt, 'gate', 'unknown-task')).toMatchObject({ result: 'passed' })
    expect(methods()).not.toContain('tools/call')
  })

  it('fetches the card where the manifest says, with the condition that it has changed', async () => {
    const card = JSON.stringify(cardOf())
    const serve: Responder = (response, request, body) => {
      if (request.method !== 'GET') return behave()(response, request, body)
      if (request.headers['if-none-match'] === '"1"') return void response.writeHead(304, { ETag: '"1"' }).end()
      response.writeHead(200, { ...json, ETag: '"1"' }).end(card)
    }
    called.agent.respond(serve)
    await called.register('check-remote', { upstream: { card: `${called.agent.origin}/own.json` } })
    const receipt = await check('check-remote')
    expect(notPassed(receipt)).toEqual([])
    expect(find(receipt, 'direct', 'own-card-not-modified')).toMatchObject({ happened: 'HTTP 304' })
    called.agent.respond(reply(200, html, '<h1>No card</h1>'))
    const failed = { result: 'failed', happened: 'HTTP 200, text/html' }
    expect(find(await check('check-remote'), 'direct', 'own-card')).toMatchObject(failed)
  })

  it('refuses a second check while one is running', async () => {
    slow.agent.respond(() => undefined)
    await slow.register('check-busy', { card: cardOf({}, {}, slow.agent) })
    const start = () => slow.send('/agents/check-busy/check', { token })
    const first = start()
    await vi.waitFor(() => expect(slow.agent.requests.length).toBeGreaterThan(0), { timeout: 10_000 })
    const second = await start()
    expect([second.status, second.body]).toMatchObject([409, { code: 'check-running' }])
    expect((await first).status).toBe(200)
    slow.agent.respond(behave())
    expect((await start()).status).toBe(200)
  })

  it('needs a token that may write the agent, an agent and a valid body', async () => {
    await register('check-allowed')
    const { token: reader } = await called.issue({ scopes: ['read'] })
    const { token: other } = await called.issue({ scopes: ['write'], agents: ['other-*'] })
    const refusals: [Received, status: number, code: string][] = [
      [await called.send('/agents/check-allowed/check'), 401, 'no-token'],
      [await post('check-allowed', undefined, reader), 403, 'forbidden'],
      [await post('check-allowed', undefined, other), 403, 'forbidden'],
      [await post('check-none'), 404, 'agent-not-found'],
      [await post('check-allowed', { send: 'yes' }), 422, 'invalid-check'],
      [await post('check-allowed', { more: true }), 422, 'invalid-check'],
    ]
    for (const [response, status, code] of refusals) expect(response).toMatchObject({ status, body: { code } })
  })
})

it('answers a check of an agent that is removed meanwhile as one of an unknown agent', async () => {
  const host = await startNodeHost()
  await host.put('removed', minimalCard)
  vi.spyOn(getRegistry(host.env), 'document').mockResolvedValue(null)
  const headers = { Authorization: `Bearer ${token}` }
  const response = await host.fetch('/agents/removed/check', { method: 'POST', headers })
  expect([response.status, await response.json()]).toMatchObject([404, { code: 'agent-not-found' }])
})

describe('the agents of the official SDKs', () => {
  let shared: CalledHost
  beforeAll(async () => {
    shared = await useSharedHost()
    shared.agent.listenWith(createOfficialAgents(shared.agent.origin))
  })
  afterAll(() => shared.close())

  it.each(agentKinds)('%s: pass every test, in all versions and bindings', async kind => {
    // They log each error that they answer with.
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const card = (await (await fetch(`${shared.agent.origin}${agentPath(kind)}/card.json`)).json()) as JsonObject
    const id = `check-sdk-${agentKinds.indexOf(kind)}`
    await shared.register(id, { card, route: 'gateway' })
    const { status, body } = await shared.send(`/agents/${id}/check`, { token, body: { send: true } })
    const served = body as ServedReceipt
    expect([status, served.receipt.tests.filter(({ result }) => result === 'failed')]).toEqual([200, []])
    const protocols = new Set(
      served.receipt.tests.flatMap(({ through, protocol }) => (through === 'gate' ? (protocol ?? []) : [])),
    )
    expect(protocols).toEqual(new Set(['JSONRPC 1.0', 'HTTP+JSON 1.0', 'JSONRPC 0.3', 'HTTP+JSON 0.3']))
    expect([served.signature, served.unsigned]).toEqual([undefined, 'This host has no key to sign with.'])
  })
})

it('the rate limit counts the calls of a check, and ends it', async () => {
  const limited = await useSharedHost('limited')
  limited.agent.respond(behave())
  await limited.register('check-limited', { card: cardOf({}, {}, limited.agent) })
  const { token: writer } = await limited.issue({ scopes: ['write'] })
  const run = () => limited.send('/agents/check-limited/check', { token: writer })
  let response = await run()
  for (let checks = 1; response.status === 200 && checks < 5; checks++) response = await run()
  expect([response.status, response.body]).toMatchObject([429, { code: 'too-many-requests' }])
  const { body } = await limited.send('/agents/check-limited/receipt', { method: 'GET' })
  const reasons = (body as ServedReceipt).receipt.tests.map(({ reason }) => reason)
  expect(reasons).toContain('A rate limit refused the request.')
  await limited.close()
})

describe('GET /agents/{id}/receipt', () => {
  let receipt: Receipt
  beforeAll(async () => {
    called.agent.respond(behave())
    await register('receipt-signed')
    receipt = await check('receipt-signed')
  })

  it('returns the newest receipt, with a signature of the host over its canonical form', async () => {
    const served = (await getReceipt('receipt-signed')).body as ServedReceipt
    expect([served.receipt, served.current]).toEqual([receipt, true])
    const keys = await called.send('/.well-known/jwks.json', { method: 'GET' })
    const verify = (changed: Receipt) => {
      const [head = '', , signature = ''] = served.signature?.split('.') ?? []
      const payload = Buffer.from(canonicalJson(changed as unknown as Json)).toString('base64url')
      return flattenedVerify({ protected: head, payload, signature }, createLocalJWKSet(keys.body as never))
    }
    const { protectedHeader } = await verify(served.receipt)
    const jku = `${called.host.url.origin}/.well-known/jwks.json`
    expect(protectedHeader).toEqual({ alg: 'ES256', kid: expect.any(String), typ: 'calling-card-receipt+jws', jku })
    const changed = { ...receipt, summary: { ...receipt.summary, failed: 1 } }
    await expect(verify(changed)).rejects.toThrow('verification failed')
    // It can be cached as a card can.
    const { headers } = await getReceipt('receipt-signed')
    expect([headers.get('cache-control'), headers.get('access-control-allow-origin')]).toEqual([
      'public, max-age=60, stale-while-revalidate=86400',
      '*',
    ])
    const condition = { 'If-None-Match': headers.get('etag') ?? '' }
    const again = await called.send('/agents/receipt-signed/receipt', { method: 'GET', headers: condition })
    expect([again.status, again.text]).toEqual([304, ''])
    expect((await getReceipt('receipt-signed', token)).headers.get('cache-control')).toBe('private, no-store')
  })

  it('is shown by the page and the badge of the agent, also once the card has changed', async () => {
    called.agent.respond(behave())
    await register('receipt-shown')
    const badge = () => called.send('/agents/receipt-shown/badge.svg?show=receipt', { method: 'GET' })
    expect((await badge()).text).toContain('not tested')
    const { summary, card } = await check('receipt-shown')
    expect((await badge()).text).toContain(`${summary.passed} passed today`)
    expect((await called.send('/agents/receipt-shown/badge.svg', { method: 'GET' })).text).not.toContain('passed')
    const page = await called.send('/agents/receipt-shown', { method: 'GET', headers: { Accept: 'text/html' } })
    expect(page.text).toContain(`${summary.passed} passed, 0 failed, 1 skipped.`)
    await register('receipt-shown', {}, { card: cardOf({}, { version: '3.0.0' }) })
    expect((await badge()).text).toContain(`${summary.passed} passed, older card`)
    const current = { current: false, receipt: { card: { version: '2.0.0', etag: card.etag } } }
    expect((await getReceipt('receipt-shown')).body).toMatchObject(current)
  })

  it('is gone when the agent is removed, and not there for the next one with its id', async () => {
    called.agent.respond(behave())
    await register('receipt-gone')
    await check('receipt-gone')
    await called.send('/agents/receipt-gone', { method: 'DELETE', token })
    expect((await getReceipt('receipt-gone')).body).toMatchObject({ status: 404, code: 'agent-not-found' })
    await register('receipt-gone')
    expect((await getReceipt('receipt-gone')).body).toMatchObject({ status: 404, code: 'no-receipt' })
  })

  it('of an internal agent is for callers who may read it; to all others the agent does not exist', async () => {
    called.agent.respond(behave())
    await register('receipt-internal', {}, { visibility: 'internal' })
    const receipt = await check('receipt-internal')
    expect(receipt.summary.failed).toBe(0)
    const { token: reader } = await called.issue({ scopes: ['read'] })
    const { token: writer } = await called.issue({ scopes: ['write'] })
    const readable = { receipt: { agent: 'receipt-internal' }, current: true }
    expect((await getReceipt('receipt-internal', reader)).body).toMatchObject(readable)
    const unknown = (await getReceipt('receipt-unknown')).text.replaceAll('unknown', 'internal')
    for (const as of [undefined, writer]) expect((await getReceipt('receipt-internal', as)).text).toBe(unknown)
  })
})
