import { AUDITED } from '../../registry/audit/index.ts'
import { jsonBody, type Operation, type Operations, page, pageProblems, pageQuery } from './operation.ts'

const admin = { tag: 'administration', access: 'admin', limits: ['AUTH_LIMIT'] } as const satisfies Partial<Operation>

const adminWrite = { ...admin, limits: ['WRITE_LIMIT', 'AUTH_LIMIT'] } as const satisfies Partial<Operation>

const document = { tag: 'documents', access: 'public' } as const satisfies Partial<Operation>

const lines = { 'application/x-ndjson': { each: { type: 'object' } } } as const

const call = {
  tag: 'calls',
  description:
    'The card of the agent declares which credentials a call needs. An internal agent needs a token with the scope `read`.',
  access: 'card',
  body: { content: jsonBody('JsonRpcRequest') },
  answers: {
    200: {
      description: 'The response; a stream of responses for methods that stream.',
      content: { 'application/json': 'JsonRpcResponse', 'text/event-stream': { each: 'JsonRpcResponse' } },
      headers: ['A2A-Version', 'Gate-Warning'],
    },
  },
  headers: {
    'A2A-Version': { description: 'The version of A2A that the call is in: 1.0 or 0.3.', schema: { type: 'string' } },
    'A2A-Extensions': {
      description: 'The URIs of the extensions that the caller supports, separated by commas.',
      schema: { type: 'string' },
    },
  },
  limits: ['CALL_LIMIT', 'AUTH_LIMIT', 'FETCH_LIMIT'],
  errors: 'JSONRPC',
} as const satisfies Partial<Operation>

/** What the requests of one agent over HTTP+JSON have in common. The document has one operation for each of A2A. */
const restCall = {
  tag: 'calls',
  description: call.description,
  access: 'card',
  headers: call.headers,
  limits: call.limits,
  answers: {},
} as const satisfies Partial<Operation>

/** The routes of calls, of the host and its tokens, and of clients of other hosts. */
export const hostRoutes = {
  'POST /agents/:id/a2a': { ...call, id: 'callAgent', summary: 'Call an agent over JSON-RPC' },
  'POST /agents/:id': {
    ...call,
    id: 'callAgentAtCard',
    summary: 'Call an agent over JSON-RPC, at the URL of its card',
  },
  'POST /a2a': {
    ...call,
    id: 'callHost',
    summary: 'Call the agent that `params.tenant` names, else that of the host name',
  },
  'POST /a2a/v1': { ...call, id: 'callNamedAgent', summary: 'Call the agent that `params.agentName` names' },
  'GET /agents/:id/a2a/:operation+': { ...restCall, id: 'read', summary: 'Read over HTTP+JSON' },
  'POST /agents/:id/a2a/:operation+': { ...restCall, id: 'send', summary: 'Call over HTTP+JSON' },
  'DELETE /agents/:id/a2a/:operation+': { ...restCall, id: 'delete', summary: 'Delete over HTTP+JSON' },
  'GET /.well-known/a2a/agents': {
    id: 'listForShaman',
    tag: 'compatibility',
    summary: "Get Shaman's list of agents",
    description: 'With `ROLE` set to `internal`, only for callers with a token.',
    access: 'optional',
    query: pageQuery(),
    answers: {
      200: { description: 'A page of agents.', content: jsonBody('ShamanList'), headers: ['ETag', 'Link'] },
    },
    problems: [...pageProblems, 'no-token', 'bad-token', 'forbidden'],
    limits: ['CALL_LIMIT', 'AUTH_LIMIT'],
  },
  'GET /a2a/v1/agents/:name': {
    id: 'getNamedCard',
    tag: 'compatibility',
    summary: "Get a card by the agent's name or id",
    access: 'optional',
    query: {
      dialect: { description: 'The dialect of the card. Default: shaman.', schema: { type: 'string' } },
    },
    answers: {
      200: { description: 'The card.', content: jsonBody('AgentCard'), headers: ['Last-Modified', 'A2A-Version'] },
    },
    validated: true,
    problems: [
      ...(['agent-not-found', 'unknown-dialect', 'no-token', 'bad-token', 'forbidden'] as const),
      ...(['upstream-unreachable', 'upstream-not-ready', 'upstream-timeout'] as const),
    ],
    limits: ['CALL_LIMIT', 'AUTH_LIMIT'],
  },
  'POST /rpc': {
    id: 'callSuperx',
    tag: 'compatibility',
    summary: 'Call `agents/get`, `agents/list` or `agents/refreshCard` of SuperX',
    access: 'optional',
    body: { content: jsonBody('JsonRpcRequest') },
    answers: { 200: { description: 'The response.', content: jsonBody('JsonRpcResponse') } },
    limits: ['CALL_LIMIT', 'WRITE_LIMIT', 'AUTH_LIMIT'],
    errors: 'superx',
  },
  'POST /tokens': {
    ...adminWrite,
    id: 'issueToken',
    summary: 'Issue a token',
    body: { content: jsonBody('TokenRequest') },
    answers: { 201: { description: 'The token, with its text.', content: jsonBody('IssuedToken') } },
    problems: ['invalid-token-request', 'too-many-tokens'],
  },
  'GET /tokens': {
    ...admin,
    id: 'listTokens',
    summary: 'List the tokens, without their texts',
    query: pageQuery(),
    answers: { 200: { description: 'A page of tokens.', content: jsonBody('TokenList') } },
    problems: pageProblems,
  },
  'GET /tokens/self': {
    ...admin,
    access: 'token',
    id: 'getOwnToken',
    summary: 'Get what the token of the request allows',
    answers: { 200: { description: 'The token, without its text.', content: jsonBody('OwnToken') } },
  },
  'DELETE /tokens/:id': {
    ...adminWrite,
    id: 'revokeToken',
    summary: 'Revoke a token',
    answers: { 204: { description: 'The token was revoked.' } },
    problems: ['token-not-found'],
  },
  'GET /audit': {
    ...admin,
    id: 'getAudit',
    summary: 'Read the audit, newest entries first',
    query: {
      ...pageQuery(),
      agent: { description: 'Entries about this agent.', schema: { type: 'string' } },
      actor: { description: '`admin`, `host`, `anonymous` or the id of a token.', schema: { type: 'string' } },
      what: { description: 'What happened.', schema: { enum: [...AUDITED] } },
      since: { description: 'A date or time. Entries from then on.', schema: { type: 'string' } },
      until: { description: 'A date or time. Entries before it.', schema: { type: 'string' } },
    },
    answers: { 200: { description: 'A page of entries, and the newest of all.', content: jsonBody('AuditPage') } },
    problems: [...pageProblems, 'bad-filter'],
  },
  'GET /keys': {
    ...admin,
    id: 'getKeys',
    summary: 'Get the roles of the keys with which this host signs',
    answers: { 200: { description: 'The keys, without their private parts.', content: jsonBody('HostKeys') } },
    problems: ['no-signing-key'],
  },
  'GET /export': {
    ...admin,
    id: 'exportHost',
    summary: 'Export all that is registered',
    answers: { 200: { description: 'The export. Without its last line, it is incomplete.', content: lines } },
  },
  'POST /import': {
    ...adminWrite,
    id: 'importHost',
    summary: 'Import an export into an empty host',
    query: {
      tokens: {
        description: 'Whether its tokens are imported. Each is valid, whoever wrote it into the file.',
        schema: { enum: ['true', 'false'], default: 'true' },
      },
    },
    headers: {
      'Content-Encoding': { description: 'How the file is compressed.', schema: { enum: ['gzip', 'identity'] } },
    },
    body: { content: lines },
    answers: { 201: { description: 'All of it was imported.', content: jsonBody('ImportResult') } },
    problems: [
      ...(['invalid-import', 'export-too-new', 'host-not-empty', 'import-interrupted'] as const),
      ...(['unsupported-encoding', 'unknown-query'] as const),
    ],
  },
  'GET /lint': {
    ...{ tag: 'pages', access: 'public' },
    id: 'getLintPage',
    summary: 'Get the page that checks a card',
    answers: { 200: { description: 'The page.', content: page } },
    validated: true,
    limits: ['PAGE_LIMIT'],
  },
  'GET /manage': {
    ...{ tag: 'pages', access: 'public' },
    id: 'getManagePage',
    summary: 'Get the page on which owners manage agents',
    answers: { 200: { description: 'The page.', content: page } },
    validated: true,
    limits: ['PAGE_LIMIT'],
  },
  'POST /lint': {
    ...document,
    tag: 'registry',
    id: 'lint',
    summary: 'Check a card or manifest, and store nothing',
    query: {
      representations: {
        description: 'With `true`, the report has the card in each representation.',
        schema: { const: 'true' },
      },
    },
    body: { content: jsonBody('Manifest') },
    answers: { 200: { description: 'The report.', content: jsonBody('LintResult') } },
    limits: ['LINT_LIMIT'],
  },
  'POST /verify': {
    ...document,
    tag: 'registry',
    id: 'verifyCard',
    summary: 'Verify the signatures of a card, and store nothing',
    body: { content: jsonBody('VerifyRequest') },
    answers: { 200: { description: 'The result, also if no signature is valid.', content: jsonBody('VerifyResult') } },
    problems: ['card-unavailable', 'invalid-verify-request'],
    limits: ['LINT_LIMIT', 'FETCH_LIMIT'],
  },
  'GET /schema/manifest.json': {
    ...document,
    id: 'getManifestSchema',
    summary: 'Get the JSON Schema of manifests',
    answers: {
      200: { description: 'A JSON Schema (draft 7).', content: { 'application/schema+json': { type: 'object' } } },
    },
    validated: true,
  },
  'GET /openapi.json': {
    ...document,
    id: 'getOpenApi',
    summary: 'Get this document',
    answers: {
      200: { description: 'An OpenAPI 3.1 document.', content: { 'application/json': { type: 'object' } } },
    },
    validated: true,
  },
  'GET /health': {
    ...document,
    id: 'getHealth',
    summary: 'Get the state of the host',
    answers: {
      200: { description: 'The state.', content: jsonBody('Health') },
      503: { description: 'The state while the Registry is unreachable.', content: jsonBody('Health') },
    },
  },
} as const satisfies Operations
