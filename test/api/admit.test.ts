import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { dryRun } from '../../src/api/agents/admit.ts'
import { ANONYMOUS } from '../../src/auth/principal.ts'
import type { CallProfile } from '../../src/card/call-profile.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { call, message, messageV03, profileWith } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { executionContext } from '../support/kv.ts'
import { type NodeHost, startNodeHost } from '../support/node-host.ts'
import { token } from '../support/runtime.ts'

const origin = 'https://agent.example.com'
const v1 = { url: `${origin}/rpc-1`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }
const v03 = { url: `${origin}/rpc-0`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' }
const rest = { url: `${origin}/rest-1`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }
const required = { extensions: [{ uri: 'https://ext.example/a', required: true }] }

const agentWith = (card: JsonObject = {}, manifest: JsonObject = {}): JsonObject => ({
  card: agentCard(origin, { supportedInterfaces: [v1], capabilities: {}, ...card }),
  ...{ route: 'gateway', bridge: 'off' },
  ...manifest,
})
const levels = (level: string) => ({ gate: { version: level, capabilities: level, modes: level, extensions: level } })
const extended = { extended: { description: 'More', defaultInputModes: ['text/plain', 'image/png'] } }

const agents: Record<string, JsonObject> = {
  'ad-open': agentWith(),
  'ad-rest': agentWith({ supportedInterfaces: [rest] }),
  'ad-required': agentWith({ capabilities: required }),
  'ad-warned': agentWith({ capabilities: required }, levels('warn')),
  'ad-unchecked': agentWith({ capabilities: required }, levels('off')),
  'ad-old': agentWith({ supportedInterfaces: [v03] }, { bridge: 'all' }),
  'ad-closed': agentWith({}, { route: 'closed' }),
  'ad-tokens': agentWith({}, { callers: 'tokens' }),
  'ad-internal': agentWith({}, { visibility: 'internal' }),
  'ad-extended': agentWith({}, extended),
  'ad-secret': agentWith({}, { upstream: { secret: 'MISSING_TOKEN' }, callers: 'anyone' }),
  'ad-service': agentWith({}, { upstream: { service: 'NONE' } }),
  'ad-owner': agentWith({}, { gate: { tasks: 'owner' } }),
}

let host: NodeHost
/** What is requested of an agent, counted, recorded about tasks or logged. */
let effects: string[]
beforeAll(async () => {
  vi.spyOn(console, 'info').mockReturnValue()
  host = await startNodeHost({ vars: { ALLOWED_ORIGINS: '' } })
  const limit = (name: string) => ({
    limit: async () => {
      effects.push(name)
      return { success: true }
    },
  })
  Object.assign(host.env, { CALL_LIMIT: limit('CALL_LIMIT'), FETCH_LIMIT: limit('FETCH_LIMIT') })
  for (const [id, manifest] of Object.entries(agents)) await host.put(id, manifest)
})
beforeEach(() => {
  effects = []
  for (const level of ['info', 'warn', 'error'] as const)
    vi.spyOn(console, level).mockImplementation(() => effects.push('log'))
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => {
    effects.push('fetch')
    return Response.json({
      jsonrpc: '2.0',
      id: 7,
      result: { message: { messageId: 'r', role: 'ROLE_AGENT', parts: [] } },
    })
  })
  const { getByName } = host.env.TASK_OWNERS
  vi.spyOn(host.env.TASK_OWNERS, 'getByName').mockImplementation(name => {
    effects.push('owners')
    return getByName(name)
  })
})

const send = async (path: string, body: Json | undefined, headers: Record<string, string> = {}, method = 'POST') => {
  const sent = { 'Content-Type': 'application/json', ...headers }
  const response = await host.fetch(path, {
    method,
    headers: sent,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text && JSON.parse(text.replace(/^data: /, '')),
  }
}
const admin = { Authorization: `Bearer ${token}` }
const admit = (id: string, body: Json, headers: Record<string, string> = admin) =>
  send(`/agents/${id}/admit`, body, headers)

const decide = async (id: string, body: JsonObject): Promise<JsonObject> => {
  const { status, body: decision } = await admit(id, body)
  expect([status, decision]).toEqual([200, expect.objectContaining({ decision: expect.any(String) })])
  return decision
}

const in1 = { headers: { 'A2A-Version': '1.0' } }
const in03 = { headers: { 'A2A-Version': '0.3' } }
const image = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ raw: 'AA==', mediaType: 'image/png' }] } }
const named = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Hi', filename: 'a.txt' }] } }
const configured = message({ configuration: { acceptedOutputModes: ['audio/ogg'] } })
const getTask = call('GetTask', { id: 't' })
const reader = { caller: { scopes: ['read'] } }
const caller = { caller: { scopes: ['call'] } }
const rpc = { binding: 'JSONRPC', version: '1.0' }
const rpc03 = { binding: 'JSONRPC', version: '0.3' }
const same = { target: { ...rpc, translated: false } }
const translated = { target: { binding: 'JSONRPC', version: '0.3', translated: true } }
const http = (method: string, path: string, body?: Json) => ({
  http: { method, path, ...(body !== undefined && { body }) },
})

/** The agent, the call, what the decision contains, and the code or status of the error. */
type Row = [title: string, id: string, body: JsonObject, expected: JsonObject, error?: number]

const permitted: Row[] = [
  ['a message', 'ad-open', { call: call(), ...in1 }, { ...rpc, operation: 'SendMessage', ...same, notChecked: [] }],
  ['a message without a version', 'ad-open', { call: call() }, same],
  ['a task', 'ad-open', { call: getTask, ...in1 }, { operation: 'GetTask' }],
  [
    'HTTP+JSON',
    'ad-rest',
    { ...http('POST', 'message:send', message()), ...in1 },
    { binding: 'HTTP+JSON', version: '1.0' },
  ],
  [
    'HTTP+JSON without a body',
    'ad-rest',
    { ...http('GET', 'tasks/t?historyLength=2'), ...in1 },
    { operation: 'GetTask' },
  ],
  ['a path with a slash first', 'ad-rest', { ...http('GET', '/tasks/t'), ...in1 }, { operation: 'GetTask' }],
  ['a message to another version', 'ad-old', { call: call(), ...in1 }, { ...rpc, ...translated }],
  [
    'a translation that loses a member',
    'ad-old',
    { call: call('SendMessage', named), ...in1 },
    { ...translated, warnings: ['lossy (message.parts[].filename)'] },
  ],
  [
    'what warn levels find',
    'ad-warned',
    { call: call('SendStreamingMessage', image), ...in1 },
    { ...same, warnings: ['streaming', 'extensions', 'input-modes'] },
  ],
  [
    'another version with a warn level',
    'ad-warned',
    { call: call('message/send', messageV03()), ...in03 },
    { warnings: ['version', 'extensions'] },
  ],
  ['what is not checked', 'ad-unchecked', { call: call('SendStreamingMessage', image), ...in1 }, same],
  [
    'the extension that is required',
    'ad-required',
    { call: call(), headers: { 'A2A-Extensions': 'https://ext.example/a' } },
    same,
  ],
  ['a caller with `call`', 'ad-tokens', { call: call(), ...in1, ...caller }, same],
  ['an internal agent', 'ad-internal', { call: call(), ...in1, ...caller }, same],
  [
    'the modes of the extended card',
    'ad-extended',
    { call: call('SendMessage', image), ...in1, ...reader },
    { ...same, extendedModes: true },
  ],
  ['a task of an owner', 'ad-owner', { call: getTask, ...in1, ...caller }, { ...same, notChecked: ['task-owner'] }],
]

const refused: Row[] = [
  [
    'a version',
    'ad-open',
    { call: call('message/send', messageV03()), ...in03 },
    { reason: 'version', ...rpc03 },
    -32009,
  ],
  ['an unknown version', 'ad-open', { call: call(), headers: { 'A2A-Version': '9.9' } }, { reason: 'version' }, -32009],
  [
    'a binding',
    'ad-open',
    { ...http('POST', 'message:send', message()), ...in1 },
    { reason: 'version', binding: 'HTTP+JSON' },
    400,
  ],
  ['streaming', 'ad-open', { call: call('SendStreamingMessage'), ...in1 }, { reason: 'streaming' }, -32004],
  [
    'streaming in 0.3',
    'ad-old',
    { call: call('message/stream', messageV03()), ...in03 },
    { reason: 'streaming' },
    -32004,
  ],
  [
    'push notifications',
    'ad-open',
    { call: call('ListTaskPushNotificationConfigs', { taskId: 't' }), ...in1 },
    { reason: 'push-notifications' },
    -32003,
  ],
  ['extensions', 'ad-required', { call: call(), ...in1 }, { reason: 'extensions' }, -32008],
  ['input modes', 'ad-open', { call: call('SendMessage', image), ...in1 }, { reason: 'input-modes' }, -32005],
  [
    'input modes of the extended card',
    'ad-extended',
    { call: call('SendMessage', image), ...in1 },
    { reason: 'input-modes' },
    -32005,
  ],
  [
    'output modes of the extended card',
    'ad-extended',
    { call: call('SendMessage', configured), ...in1, ...reader },
    { reason: 'output-modes', extendedModes: true },
    -32005,
  ],
  ['output modes', 'ad-open', { call: call('SendMessage', configured), ...in1 }, { reason: 'output-modes' }, -32005],
  [
    'a message of another version',
    'ad-open',
    { call: call('SendMessage', messageV03()), ...in1 },
    { reason: 'invalid-params' },
    -32602,
  ],
  ['a closed agent', 'ad-closed', { call: call(), ...in1 }, { reason: 'closed' }, -32004],
  ['a method', 'ad-open', { call: call('Send'), ...in1 }, { reason: 'method' }, -32601],
  ['no JSON-RPC', 'ad-open', { call: { id: 7 } }, { reason: 'not-a-request', warnings: [], notChecked: [] }, -32600],
  [
    'hostile members',
    'ad-open',
    { call: JSON.parse('{"__proto__": {"method": "SendMessage"}, "constructor": 1}') },
    { reason: 'not-a-request' },
    -32600,
  ],
  [
    'hostile parameters',
    'ad-open',
    { call: call('SendMessage', JSON.parse('{"__proto__": 1, "message": []}')), ...in1 },
    { reason: 'invalid-params' },
    -32602,
  ],
  ['no parameters', 'ad-open', { call: call('SendMessage', [1]), ...in1 }, { reason: 'invalid-params' }, -32602],
  [
    'a media type',
    'ad-open',
    { call: call(), headers: { 'Content-Type': 'text/plain' } },
    { reason: 'content-type' },
    -32005,
  ],
  ['a path', 'ad-rest', { ...http('POST', 'message:sing', message()), ...in1 }, { reason: 'method' }, 404],
  ['a method of HTTP', 'ad-rest', { ...http('DELETE', 'message:send'), ...in1 }, { reason: 'http-method' }, 405],
  ['a body of HTTP', 'ad-rest', { ...http('POST', 'message:send', [1]), ...in1 }, { reason: 'not-a-request' }, 400],
  [
    'an operation that the other version lacks',
    'ad-old',
    { call: call('ListTasks', {}), ...in1 },
    { reason: 'operation-missing', ...translated },
    -32004,
  ],
  [
    'a message that cannot be translated',
    'ad-old',
    { call: call('GetTask', { id: 7 }), ...in1 },
    { reason: 'invalid-params', ...translated },
    -32602,
  ],
  ['no token', 'ad-tokens', { call: call(), ...in1 }, { reason: 'no-token' }, -32000],
  ['a token with another scope', 'ad-tokens', { call: call(), ...in1, ...reader }, { reason: 'forbidden' }, -32000],
  ['a caller who may not see the agent', 'ad-internal', { call: call(), ...in1 }, { reason: 'unknown-agent' }, -32602],
  [
    'an extended card',
    'ad-extended',
    { call: call('GetExtendedAgentCard', {}), ...in1 },
    { reason: 'no-token' },
    -32000,
  ],
  [
    'an extended card of none',
    'ad-open',
    { call: call('GetExtendedAgentCard', {}), ...in1, ...reader },
    { reason: 'extended-card' },
    -32004,
  ],
  [
    'a missing secret',
    'ad-secret',
    { call: call(), ...in1 },
    { reason: 'misconfigured', detail: expect.stringContaining('no secret "MISSING_TOKEN"') },
    -32603,
  ],
  [
    'a missing binding',
    'ad-service',
    { call: call(), ...in1, ...caller },
    { reason: 'misconfigured', detail: 'This Worker has no service binding "NONE".' },
    -32603,
  ],
]

/** Makes the call of a dry run with a token that grants what its `caller` has. */
const makeCall = async (id: string, body: JsonObject) => {
  const { call, http, headers = {}, caller } = body as { [Name in string]?: JsonObject }
  const issued = caller && (await send('/tokens', { ...caller, agents: ['*'] }, admin)).body.token
  const sent = { ...(headers as Record<string, string>), ...(issued && { Authorization: `Bearer ${issued}` }) }
  effects = []
  return http
    ? send(`/agents/${id}/a2a/${String(http.path).replace(/^\//, '')}`, http.body, sent, String(http.method))
    : send(`/agents/${id}/a2a`, call, sent)
}

describe('POST /agents/{id}/admit', () => {
  it.each(permitted)('permits %s', async (_title, id, body, expected) => {
    const decision = await decide(id, body)
    expect(decision).toMatchObject({ decision: 'permitted', warnings: [], ...expected })
    expect(decision).not.toHaveProperty('error')
    expect(effects).toEqual([])
  })

  it.each(refused)('refuses %s', async (_title, id, body, expected, code) => {
    const decision = await decide(id, body)
    expect(decision).toMatchObject({ decision: 'refused', warnings: [], ...expected })
    const { body: error } = decision.error as { body: { error: { code: number } } }
    expect(error.error.code).toBe(code)
    expect(effects).toEqual([])
  })

  it.each([...permitted, ...refused])('decides as the call itself is decided: %s', async (_title, id, body) => {
    const { decision, error, warnings, notChecked } = await decide(id, body)
    const response = await makeCall(id, body)
    // The owner of a task may decide otherwise.
    if (String(notChecked) === '') expect(effects.includes('fetch')).toBe(decision === 'permitted')
    if (error) expect({ status: response.status, body: response.body }).toEqual(error)
    const found = (response.headers.get('Gate-Warning') ?? '').split(', ').filter(word => word !== '')
    // Besides these, a response that was received can have warnings.
    expect(found.slice(0, (warnings as string[]).length)).toEqual(warnings)
  })

  it('says that this host itself responds with an extended card', async () => {
    const body = { call: call('GetExtendedAgentCard', {}), ...in1, ...reader }
    expect(await decide('ad-extended', body)).toEqual({
      ...{ decision: 'answered', warnings: [], operation: 'GetExtendedAgentCard', ...rpc, notChecked: [] },
    })
    expect(effects).toEqual([])
  })

  it('rejects a body of another form, and shows an example', async () => {
    const rows: [body: Json, pointer: string, message: string][] = [
      [[], '', 'must be an object such as {"call": {"jsonrpc": "2.0"'],
      ['call', '', 'must be an object such as {"call"'],
      [{}, '', 'must have either `call` or `http`, such as {"call"'],
      [{ call: getTask, ...http('GET', 'tasks/t') }, '', 'must have either `call` or `http`, such as {"call"'],
      [getTask, '/jsonrpc', 'is not a known field here. Known fields: call, http, headers, caller'],
      [{ call: 'GetTask' }, '/call', 'must be the JSON-RPC request, as an object'],
      [{ call: [getTask] }, '/call', 'must be the JSON-RPC request, as an object'],
      [{ http: 'tasks/t' }, '/http', 'must be an object with method, path and, for POST, body'],
      [{ http: { method: 'PUT', path: 'tasks/t' } }, '/http/method', 'must be GET, POST or DELETE'],
      [{ http: { method: 'GET' } }, '/http/path', 'is missing'],
      ...['../../other/a2a', '%2e%2E/x', 'tasks/../../x', '..\\x', '\t../x', 'tasks/t#a', '..', '/..', '/./../x'].map(
        (path): [Json, string, string] => [http('GET', path), '/http/path', "must be a path below the agent's"],
      ),
      [{ call: getTask, headers: [] }, '/headers', 'must be an object of headers'],
      [{ call: getTask, headers: { Authorization: 'x' } }, '/headers/Authorization', 'is not a header that decides'],
      [{ call: getTask, headers: { 'A2A-Version': 1 } }, '/headers/A2A-Version', 'must be a string'],
      [{ call: getTask, headers: { 'A2A-Version': '1\r\nX: y' } }, '/headers/A2A-Version', 'must be the value of a'],
      [{ call: getTask, caller: 'anonymous' }, '/caller', 'must be an object such as {"scopes": ["call"]}; omit it'],
      [{ call: getTask, caller: { scopes: ['admin'] } }, '/caller/scopes/0', 'must be read or call'],
      [{ call: getTask, caller: { scopes: [], tiers: ['A'] } }, '/caller/tiers/0', 'must be the name of a tier'],
      [{ call: getTask, caller: { scopes: [], token: 'cc_x' } }, '/caller/token', 'is not a known field here'],
    ]
    for (const [body, pointer, message] of rows) {
      const response = await admit('ad-open', body)
      const expected = { pointer, message: expect.stringContaining(message) }
      expect([body, response.status, response.body.code, response.body.errors]).toEqual([
        ...[body, 422, 'invalid-admit-request', [expected]],
      ])
    }
    expect(effects.filter(effect => effect !== 'log')).toEqual([])
  })

  it('requires a token with `write` for the agent, which must exist', async () => {
    const issue = async (scopes: string[], agents: string[]) => {
      const { body } = await send('/tokens', { scopes, agents }, admin)
      return { Authorization: `Bearer ${body.token}` }
    }
    const rows: [id: string, headers: Record<string, string>, status: number, code?: string][] = [
      ['ad-open', {}, 401, 'no-token'],
      ['ad-open', { Authorization: 'Bearer cc_wrong' }, 401, 'bad-token'],
      ['ad-open', await issue(['call'], ['*']), 403, 'forbidden'],
      ['ad-open', await issue(['write'], ['other']), 403, 'forbidden'],
      ['ad-open', await issue(['write'], ['ad-open']), 200],
      ['ad-none', admin, 404, 'agent-not-found'],
    ]
    for (const [id, headers, status, code] of rows) {
      const response = await admit(id, { call: getTask }, headers)
      expect([id, response.status, response.body.code]).toEqual([id, status, code])
    }
  })
})

describe('dryRun', () => {
  const tool = { skillId: 'now', name: 'now', inputSchema: { type: 'object' } }
  const mcp = { url: 'https://mcp.example.com/', tools: [tool] } as unknown as CallProfile['mcp'] & object
  const toTool = {
    message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data: { skillId: 'now', arguments: {} } }] },
  }
  const text = { input: ['text/plain'], output: [] }
  const modes = { defaults: text, union: text, skills: {} }
  const own = { agentServesExtendedCard: true as const, modes, apiKeyHeaders: ['content-type', 'a2a-version'] }
  const oldRest = { binding: 'HTTP+JSON', version: '0.3', url: 'https://agent.example/rest' } as const

  const run = (body: JsonObject, changes: Partial<CallProfile>, env: Record<string, unknown> = {}) => {
    const headers = { 'Content-Type': 'application/json', 'A2A-Version': '1.0' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const request = new Request('https://host.example/agents/weather/a2a', init)
    const context = { request, env: { ALLOWED_ORIGINS: '', ...env } as unknown as Env, ctx: executionContext }
    return dryRun(context, { id: 'weather', profile: profileWith(changes), caller: ANONYMOUS })
  }

  it('decides on what few agents have', async () => {
    const local = [{ binding: 'JSONRPC', version: '1.0', url: 'https://10.0.0.1/' }] as const
    const misconfigured = { reason: 'misconfigured', detail: 'The path would lead out of the endpoint.' }
    const identity = { issuer: 'https://host.example' }
    const rows: [title: string, body: JsonObject, Partial<CallProfile>, expected: JsonObject][] = [
      ['a tool', call('SendMessage', toTool), { mcp }, { decision: 'permitted' }],
      ['no tool', call('SendMessage', image), { mcp }, { decision: 'refused', reason: 'invalid-params' }],
      [
        'an address',
        call(),
        { targets: [...local] },
        { reason: 'misconfigured', detail: "The agent's address is an IP address." },
      ],
      [
        'an identity',
        call(),
        { identity },
        { reason: 'misconfigured', detail: expect.stringContaining('SIGNING_KEY') },
      ],
      [
        'an id that is a path',
        call('GetTask', { id: '..' }),
        { targets: [oldRest], bridge: 'all' },
        { reason: 'invalid-params' },
      ],
      ['a tenant that is a path', getTask, { targets: [{ ...oldRest, tenant: '..' }], bridge: 'all' }, misconfigured],
      ['modes', call('SendMessage', image), own, { reason: 'input-modes', notChecked: ['extended-card'] }],
      ['the card of the agent', call('GetExtendedAgentCard', {}), own, { decision: 'permitted', notChecked: [] }],
      [
        'the card behind a secret',
        call('GetExtendedAgentCard', {}),
        { ...own, secret: 'NONE' },
        { reason: 'no-token' },
      ],
      ['no card', call(), { cardMissing: true }, { reason: 'no-card' }],
    ]
    for (const [title, body, changes, expected] of rows)
      expect([title, await run(body, changes)]).toEqual([title, expect.objectContaining(expected)])
    expect(effects).toEqual([])
  })

  it('warns only of members that a real call would lose', async () => {
    const old = [{ binding: 'JSONRPC', version: '0.3', url: 'https://agent.example/rpc' } as const]
    const toOld = { targets: old, bridge: 'all' } as const
    const sent = call('GetTask', { id: 't', tenant: 'mine' })
    expect((await run(sent, toOld)).warnings).toEqual(['lossy (tenant)'])
    // The card alone selects the tenant.
    expect((await run(sent, { ...toOld, tasks: 'owner' })).warnings).toEqual([])
    const card = call('GetExtendedAgentCard', { tenant: 'mine' })
    expect(await run(card, { ...own, ...toOld })).toMatchObject({ decision: 'permitted', warnings: [] })
  })
})
