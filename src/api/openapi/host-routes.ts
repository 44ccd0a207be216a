import { AUDITED } from '../../registry/audit/index.ts'
import {
  answer,
  group,
  jsonBody,
  type Operations,
  page,
  pageProblems,
  pageQuery,
  tokenProblems,
  upstreamProblems,
} from './operation.ts'

const admin = group({ tag: 'administration', access: 'admin', limits: ['AUTH_LIMIT'] })

const adminWrite = group({ tag: 'administration', access: 'admin', limits: ['WRITE_LIMIT', 'AUTH_LIMIT'] })

const document = group({ tag: 'documents', access: 'public' })

const people = group({
  tag: 'pages',
  access: 'public',
  answers: { 200: answer('The page.', page) },
  validated: true,
  limits: ['PAGE_LIMIT'],
})

const lines = { 'application/x-ndjson': { each: { type: 'object' } } } as const

const calls = {
  tag: 'calls',
  description:
    'The card of the agent declares which credentials a call needs. ' +
    'An internal agent needs a token with the scope `read`.',
  access: 'card',
  headers: {
    'A2A-Version': 'The version of A2A that the call is in: 1.0 or 0.3.',
    'A2A-Extensions': 'The URIs of the extensions that the caller supports, separated by commas.',
  },
  limits: ['CALL_LIMIT', 'AUTH_LIMIT', 'FETCH_LIMIT'],
} as const

const call = group({
  ...calls,
  body: { content: jsonBody('JsonRpcRequest') },
  answers: {
    200: {
      description: 'The response; a stream of responses for methods that stream.',
      content: { 'application/json': 'JsonRpcResponse', 'text/event-stream': { each: 'JsonRpcResponse' } },
      headers: ['A2A-Version', 'Gate-Warning'],
    },
  },
  errors: 'JSONRPC',
})

/** Describes the requests of one agent over HTTP+JSON. The document has one operation for each operation of A2A. */
const restCall = group(calls)

const compatibility = group({ tag: 'compatibility', access: 'optional', limits: ['CALL_LIMIT', 'AUTH_LIMIT'] })

/** The routes of calls, of the host and its tokens, and of clients of other hosts. */
export const hostRoutes = {
  'POST /agents/:id/a2a': call('callAgent', 'Call an agent over JSON-RPC'),
  'POST /agents/:id': call('callAgentAtCard', 'Call an agent over JSON-RPC, at the URL of its card'),
  'POST /a2a': call('callHost', 'Call the agent that `params.tenant` names, else that of the host name'),
  'POST /a2a/v1': call('callNamedAgent', 'Call the agent that `params.agentName` names'),
  'GET /agents/:id/a2a/:operation+': restCall('read', 'Read over HTTP+JSON'),
  'POST /agents/:id/a2a/:operation+': restCall('send', 'Call over HTTP+JSON'),
  'DELETE /agents/:id/a2a/:operation+': restCall('delete', 'Delete over HTTP+JSON'),
  'GET /.well-known/a2a/agents': compatibility('listForShaman', "Get Shaman's list of agents", {
    description: 'With `ROLE` set to `internal`, only for callers with a token.',
    query: pageQuery(),
    answers: { 200: answer('A page of agents.', 'ShamanList', 'ETag', 'Link') },
    problems: [...pageProblems, ...tokenProblems],
  }),
  'GET /a2a/v1/agents/:name': compatibility('getNamedCard', "Get a card by the agent's name or id", {
    query: { dialect: 'The dialect of the card. Default: shaman.' },
    answers: { 200: answer('The card.', 'AgentCard', 'Last-Modified', 'A2A-Version') },
    validated: true,
    problems: ['agent-not-found', 'unknown-dialect', ...tokenProblems, ...upstreamProblems],
  }),
  'POST /rpc': compatibility('callSuperx', 'Call `agents/get`, `agents/list` or `agents/refreshCard` of SuperX', {
    body: { content: jsonBody('JsonRpcRequest') },
    answers: { 200: answer('The response.', 'JsonRpcResponse') },
    limits: ['CALL_LIMIT', 'WRITE_LIMIT', 'AUTH_LIMIT'],
    errors: 'superx',
  }),
  'POST /tokens': adminWrite('issueToken', 'Issue a token', {
    body: { content: jsonBody('TokenRequest') },
    answers: { 201: answer('The token, with its text.', 'IssuedToken') },
    problems: ['invalid-token-request', 'too-many-tokens'],
  }),
  'GET /tokens': admin('listTokens', 'List the tokens, without their texts', {
    query: pageQuery(),
    answers: { 200: answer('A page of tokens.', 'TokenList') },
    problems: pageProblems,
  }),
  'GET /tokens/self': admin('getOwnToken', 'Get what the token of the request allows', {
    access: 'token',
    answers: { 200: answer('The token, without its text.', 'OwnToken') },
  }),
  'DELETE /tokens/:id': adminWrite('revokeToken', 'Revoke a token', {
    answers: { 204: { description: 'The token was revoked.' } },
    problems: ['token-not-found'],
  }),
  'GET /audit': admin('getAudit', 'Read the audit, newest entries first', {
    query: {
      ...pageQuery(),
      agent: 'Entries about this agent.',
      actor: '`admin`, `host`, `anonymous` or the id of a token.',
      what: { description: 'What happened.', schema: { enum: [...AUDITED] } },
      since: 'A date or time. Entries from then on.',
      until: 'A date or time. Entries before it.',
    },
    answers: { 200: answer('A page of entries, and the newest of all.', 'AuditPage') },
    problems: [...pageProblems, 'bad-filter'],
  }),
  'GET /keys': admin('getKeys', 'Get the roles of the keys with which this host signs', {
    answers: { 200: answer('The keys, without their private parts.', 'HostKeys') },
    problems: ['no-signing-key'],
  }),
  'GET /export': admin('exportHost', 'Export all that is registered', {
    answers: { 200: answer('The export. Without its last line, it is incomplete.', lines) },
  }),
  'POST /import': adminWrite('importHost', 'Import an export into an empty host', {
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
    answers: { 201: answer('All of it was imported.', 'ImportResult') },
    problems: [
      ...(['invalid-import', 'export-too-new', 'host-not-empty', 'import-interrupted'] as const),
      ...(['unsupported-encoding', 'unknown-query'] as const),
    ],
  }),
  'GET /lint': people('getLintPage', 'Get the page that checks a card'),
  'GET /manage': people('getManagePage', 'Get the page on which owners manage agents'),
  'POST /lint': document('lint', 'Check a card or manifest, and store nothing', {
    tag: 'registry',
    query: {
      representations: {
        description: 'With `true`, the report has the card in each representation.',
        schema: { const: 'true' },
      },
    },
    body: { content: jsonBody('Manifest') },
    answers: { 200: answer('The report.', 'LintResult') },
    limits: ['LINT_LIMIT'],
  }),
  'POST /verify': document('verifyCard', 'Verify the signatures of a card, and store nothing', {
    tag: 'registry',
    body: { content: jsonBody('VerifyRequest') },
    answers: { 200: answer('The result, also if no signature is valid.', 'VerifyResult') },
    problems: ['card-unavailable', 'invalid-verify-request'],
    limits: ['LINT_LIMIT', 'FETCH_LIMIT'],
  }),
  'GET /schema/manifest.json': document('getManifestSchema', 'Get the JSON Schema of manifests', {
    answers: { 200: answer('A JSON Schema (draft 7).', { 'application/schema+json': { type: 'object' } }) },
    validated: true,
  }),
  'GET /openapi.json': document('getOpenApi', 'Get this document', {
    answers: { 200: answer('An OpenAPI 3.1 document.', { 'application/json': { type: 'object' } }) },
    validated: true,
  }),
  'GET /health': document('getHealth', 'Get the state of the host', {
    answers: {
      200: answer('The state.', 'Health'),
      503: answer('The state while the Registry is unreachable.', 'Health'),
    },
  }),
} as const satisfies Operations
