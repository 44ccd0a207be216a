import type { Json, JsonObject } from '../../src/json/json.ts'
import { shortCard } from './cards/cards.ts'
import { token } from './runtime.ts'

/** A request, each string of which is a place for hostile text. */
export type RequestSample = {
  method?: string
  path: string[]
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Json
}

const admin = { Authorization: `Bearer ${token}` }
const message = {
  messageId: 'm',
  role: 'ROLE_USER',
  contextId: 'c',
  parts: [
    { text: 'Hello', mediaType: 'text/plain', metadata: { a: 'b' } },
    { url: 'https://a.example/', filename: 'a' },
  ],
  metadata: { skillId: 'now' },
}
const configuration = {
  acceptedOutputModes: ['text/plain; charset=utf-8'],
  pushNotificationConfig: { url: 'https://a.example/hook', token: 't', authentication: { schemes: ['Bearer'] } },
}
const call = (method: string, params: JsonObject, path = ['agents', 'echo', 'a2a'], headers = {}): RequestSample => ({
  method: 'POST',
  path,
  headers,
  body: { jsonrpc: '2.0', id: 'one', method, params },
})

/** A request to each endpoint, by what it is for. The host has an agent `echo`, whose card is named Weather. */
export const requestSamples: Record<string, RequestSample> = {
  'a 1.0 call': call('SendMessage', { message, configuration, tenant: 'a' }, undefined, {
    'A2A-Version': '1.0',
    'A2A-Extensions': 'https://a.example/1, https://a.example/2',
    'X-A2A-Extensions': 'https://a.example/3',
    Authorization: 'Bearer abc',
    Via: '1.1 a.example (comment), 1.1 b.example',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    tracestate: 'a=b',
    Accept: 'application/json',
    'User-Agent': 'test/1',
    Cookie: 'a=b',
    'CF-Connecting-IP': '2001:db8::1',
  }),
  'a 0.3 call': call('message/send', {
    message: { ...message, parts: [{ kind: 'file', file: { mimeType: 'text/plain', uri: 'https://a.example/' } }] },
    configuration,
  }),
  'a call for a task': call('tasks/get', { id: 't', historyLength: '1' }),
  'a call by name': call('message/send', { agentName: 'Weather', message }, ['a2a', 'v1']),
  'a call by tenant': call('SendMessage', { tenant: 'echo', message }, ['a2a']),
  'a call over HTTP+JSON': {
    method: 'POST',
    path: ['agents', 'echo', 'a2a', 'message:send'],
    query: { tenant: 'a', 'A2A-Version': '1.0' },
    headers: { 'Content-Type': 'application/a2a+json; charset=utf-8' },
    body: { message, configuration },
  },
  'a task over HTTP+JSON': { path: ['agents', 'echo', 'a2a', 'tasks', 't'], query: { historyLength: '1', a: 'b' } },
  'a push configuration over HTTP+JSON': {
    path: ['agents', 'echo', 'a2a', 'v1', 'tasks', 't', 'pushNotificationConfigs', 'p'],
  },
  'agents/get': call('agents/get', { id: 'echo' }, ['rpc']),
  'agents/list': call('agents/list', { limit: '5', cursor: 'a' }, ['rpc']),
  'agents/refreshCard': call('agents/refreshCard', { name: 'Weather' }, ['rpc'], admin),
  'a card': {
    path: ['agents', 'echo', '.well-known', 'agent-card.json'],
    query: { dialect: '1.0', 'A2A-Version': '1.0' },
    headers: {
      'If-None-Match': '"a", W/"b"',
      'If-Modified-Since': 'Sun, 06 Nov 1994 08:49:37 GMT',
      Accept: 'text/html, application/json;q=0.9',
      Origin: 'https://a.example',
    },
  },
  'a card by name': { path: ['a2a', 'v1', 'agents', 'Weather'] },
  'a business card': { path: ['agents', 'echo', 'card.svg'], headers: { 'If-None-Match': '"a"' } },
  'a badge': { path: ['agents', 'echo', 'badge.svg'], query: { show: 'receipt' } },
  'a list': { path: ['agents'], query: { limit: '5', cursor: 'a' }, headers: admin },
  'a search': {
    path: ['agents'],
    query: { q: 'weather forecast', name: 'weather', tag: 'rain', facets: 'tag', limit: '5' },
  },
  'a batch': {
    method: 'POST',
    path: ['agents:batch'],
    query: { atomic: 'true' },
    headers: { ...admin, 'Content-Type': 'application/x-ndjson' },
    body: { id: 'other', manifest: { card: shortCard }, ifMatch: '"a"' },
  },
  'a registration': {
    method: 'PUT',
    path: ['agents', 'other'],
    headers: { ...admin, 'If-Match': '"a", "b"', 'If-None-Match': '*' },
    body: { card: shortCard },
  },
  'a catalog': {
    path: ['.well-known', 'ai-catalog.json'],
    query: { limit: '5', cursor: 'a' },
    headers: { 'If-None-Match': '"a"' },
  },
  'a search of ARD': {
    method: 'POST',
    path: ['ard', 'search'],
    body: {
      query: { text: 'a weather agent', filter: { type: ['application/a2a-agent-card+json'], tags: ['weather'] } },
      federation: 'none',
      pageToken: '1.5~0123456789ab.1',
    },
  },
  'the entries of ARD': {
    path: ['ard', 'agents'],
    query: { pageSize: '5', pageToken: 'a' },
    headers: { 'If-None-Match': '"a"' },
  },
  'an entry of ARD': {
    path: ['ard', 'agents', 'urn%3Aair%3Ahost.example%3Aagent%3Aecho'],
    headers: { 'If-None-Match': '"a"' },
  },
  'an MCP server card': { path: ['agents', 'echo', 'mcp', 'server-card'], headers: { 'If-None-Match': '"a"' } },
  'the MCP server card of the host': { path: ['mcp', 'server-card'], headers: { 'If-None-Match': '"a"' } },
  'a card to lint': { method: 'POST', path: ['lint'], query: { representations: 'true' }, body: shortCard },
  'a card to verify': {
    method: 'POST',
    path: ['verify'],
    body: {
      card: {
        ...shortCard,
        securitySchemes: { a: { apiKeySecurityScheme: { name: 'a', location: 'header' } } },
        signatures: [
          // {"alg":"ES256","typ":"JOSE","kid":"a","jku":"https://a.example/"}
          {
            protected: 'eyJhbGciOiJFUzI1NiIsInR5cCI6IkpPU0UiLCJraWQiOiJhIiwiamt1IjoiaHR0cHM6Ly9hLmV4YW1wbGUvIn0',
            signature: 'AAAA',
            header: { a: 'b' },
          },
        ],
      },
      keys: [
        {
          ...{ kty: 'EC', crv: 'P-256', kid: 'a', alg: 'ES256', use: 'sig' },
          x: 'gI0GAILBdu7T53akrFmMyGcsF3n5dO7MmwNBHKW5SV0',
          y: 'SLW_xSffzlPWrHEVI30DHM_4egVwt3NQqeUD7nMFpps',
        },
      ],
    },
  },
  'a card to verify at a URL': {
    method: 'POST',
    path: ['verify'],
    body: { url: 'https://host.example/agents/echo' },
  },
  'the sitemap': { path: ['sitemap.xml'], query: { page: '1' }, headers: { 'If-None-Match': '"a"' } },
  'the OpenAPI document': { path: ['openapi.json'], headers: { 'If-None-Match': '"a"' } },
  'the schema of manifests': { path: ['schema', 'manifest.json'], headers: { 'If-None-Match': '"a"' } },
  'a token': {
    method: 'POST',
    path: ['tokens'],
    headers: admin,
    body: { scopes: ['read'], agents: ['a*'], tiers: ['base'], expires: '2030-01-01T00:00:00Z', note: 'n' },
  },
  'the audit': { path: ['audit'], query: { what: 'agent-changed', since: '2027-01-01', limit: '5' }, headers: admin },
  'an import': {
    method: 'POST',
    path: ['import'],
    headers: admin,
    body: { format: 'calling-card-export', version: 1 },
  },
  'the own token': { path: ['tokens', 'self'], headers: admin },
  'a list of a set': { path: ['agents'], query: { set: 'a', limit: '5', cursor: 'a' }, headers: admin },
  'the health of the host': { path: ['health'], query: { a: 'b' } },
  'the changes of all agents': {
    method: 'HEAD',
    path: ['events'],
    query: { lastEventId: '0' },
    headers: { 'Last-Event-ID': '0' },
  },
  'the changes of an agent': { method: 'HEAD', path: ['agents', 'echo', 'events'], headers: admin },
  'a list of revisions': { path: ['agents', 'echo', 'revisions'], query: { limit: '5', cursor: '1' }, headers: admin },
  'a revision': { path: ['agents', 'echo', 'revisions', '1'], headers: admin },
  'a comparison of revisions': {
    path: ['agents', 'echo', 'revisions', '1', 'diff'],
    query: { from: '1' },
    headers: admin,
  },
  'a rollback': {
    method: 'POST',
    path: ['agents', 'echo', 'rollback'],
    headers: { ...admin, 'If-Match': '"a"' },
    body: { seq: 1 },
  },
}
