import type { CallBinding, WireVersion } from '../../src/card/model/versions.ts'
import type { JsonObject } from '../../src/json/json.ts'

/** The endpoints of an agent by their paths. The scripted agent recognizes a call by them. */
export const endpoints: Readonly<Record<string, { binding: CallBinding; version: WireVersion }>> = {
  'rpc-1': { binding: 'JSONRPC', version: '1.0' },
  'rpc-0': { binding: 'JSONRPC', version: '0.3' },
  'rest-1': { binding: 'HTTP+JSON', version: '1.0' },
  'rest-0': { binding: 'HTTP+JSON', version: '0.3' },
}

/** The origins that the manifests name: the scripted agent as this host reaches it, and the issuer of JWTs. */
export type Origins = { agent: string; issuer: string }

/** A kind of agent: how many there are in a batch of cases, and their manifest. */
type Kind = { count: number; manifest: (id: string, origins: Origins) => JsonObject }

/** The secrets and the service bindings of the hosts, by their names. */
export const AGENT_SECRET = 'the-secret-of-the-agent'
export const SERVICE = 'SCRIPTED'

const all = Object.keys(endpoints)
const capabilities = { streaming: true, pushNotifications: true, extendedAgentCard: false }

const card = (id: string, { agent }: Origins, paths: readonly string[] = all, more: JsonObject = {}): JsonObject => ({
  name: `Agent ${id}`,
  description: 'Responds as a script says',
  version: '1.0.0',
  supportedInterfaces: paths.map(path => ({
    url: `${agent}/${id}/${path}`,
    protocolBinding: endpoints[path]?.binding ?? '',
    protocolVersion: endpoints[path]?.version ?? '',
  })),
  capabilities,
  defaultInputModes: ['text/plain', 'application/json'],
  defaultOutputModes: ['text/plain'],
  skills: [
    { id: 'now', name: 'Now', description: 'The weather now', tags: ['weather'] },
    {
      id: 'maps',
      name: 'Maps',
      description: 'Draws a map',
      tags: ['map'],
      inputModes: ['image/*'],
      outputModes: ['image/png'],
    },
  ],
  ...more,
})

/**
 * Creates a kind whose manifest has a card with some endpoints, `more` members of the manifest, and members of the
 * card.
 */
const kind = (count: number, more: JsonObject = {}, paths?: readonly string[], ofCard?: JsonObject): Kind => ({
  count,
  manifest: (id, origins) => ({ card: card(id, origins, paths, ofCard), route: 'gateway', ...more }),
})

const everyLevel = (level: string): JsonObject => ({
  gate: { capabilities: level, modes: level, extensions: level, version: level, responses: level },
})
const owner = { gate: { tasks: 'owner' } }
const apiKey = { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } }
const secured = { securitySchemes: { key: apiKey, bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } } }
const required = (uri: string): JsonObject => ({ uri, required: true })
const strict = {
  capabilities: {
    ...{ streaming: false, pushNotifications: false, extendedAgentCard: false },
    extensions: [required('https://a.example/1'), required('https://a.example/2'), { uri: 'https://a.example/3' }],
  },
  defaultInputModes: ['text/plain'],
}
const withExtended = { capabilities: { ...capabilities, extendedAgentCard: true } }
const extended = {
  extended: { description: 'Extended', defaultInputModes: ['text/plain', 'application/json', 'image/png'] },
  tiers: { partner: { description: 'Of partners', defaultOutputModes: ['*/*'] }, staff: {} },
}
const login = (issuer: string): JsonObject => ({
  login: {
    openIdConnectSecurityScheme: { openIdConnectUrl: `${issuer}/tenant/.well-known/openid-configuration` },
  },
})
const jwt = { audience: 'weather-api', tiers: { partner: { scope: 'cards:partner' } } }

/** Creates a kind whose card names the issuer of JWTs. */
const issued = (count: number, more: JsonObject): Kind => ({
  count,
  manifest: (id, origins) => ({
    card: card(id, origins, all, { securitySchemes: login(origins.issuer), ...withExtended }),
    ...{ route: 'gateway', jwt, ...extended, ...more },
  }),
})

/** Every kind of agent that is called. */
export const kinds: Readonly<Record<string, Kind>> = {
  plain: kind(14),
  warn: kind(4, everyLevel('warn')),
  off: kind(4, everyLevel('off')),
  'responses-warn': kind(3, { gate: { responses: 'warn' } }),
  'responses-off': kind(3, { gate: { responses: 'off' } }),
  mixed: kind(
    2,
    { gate: { version: 'off', modes: 'warn', capabilities: 'off', extensions: 'warn' } },
    ['rpc-1'],
    strict,
  ),
  'bridge-rpc-1': kind(4, {}, ['rpc-1']),
  'bridge-rpc-0': kind(4, {}, ['rpc-0']),
  'bridge-rest-1': kind(4, {}, ['rest-1']),
  'bridge-rest-0': kind(4, {}, ['rest-0']),
  'bridge-off': kind(2, { bridge: 'off' }, ['rpc-1']),
  'bridge-versions': kind(2, { bridge: 'versions', ...everyLevel('warn') }, ['rpc-0', 'rest-1']),
  'bridge-bindings': kind(2, { bridge: 'bindings' }, ['rpc-1', 'rest-0']),
  closed: kind(1, { route: 'closed' }),
  direct: kind(2, { route: 'direct' }, ['rpc-1', 'rpc-0']),
  strict: kind(4, {}, all, strict),
  'api-key': kind(5, {}, all, secured),
  extended: kind(3, extended, all, withExtended),
  far: {
    count: 2,
    manifest: (id, { agent }) => ({ route: 'gateway', upstream: { card: `${agent}/${id}/card`, ttl: 86_400 } }),
  },
  'far-secret': {
    count: 2,
    manifest: (id, { agent }) => ({
      ...{ route: 'gateway', upstream: { card: `${agent}/${id}/card`, ttl: 86_400, secret: 'AGENT_TOKEN' } },
    }),
  },
  owner: kind(5, owner),
  'owner-rpc-0': kind(3, owner, ['rpc-0']),
  'owner-rest-1': kind(3, owner, ['rest-1']),
  'owner-rest-0': kind(2, owner, ['rest-0']),
  secret: kind(2, { upstream: { secret: 'AGENT_TOKEN' } }, all, secured),
  'secret-shared': kind(2, { upstream: { secret: 'AGENT_TOKEN' }, callers: 'anyone', gate: { tasks: 'shared' } }),
  'no-secret': kind(1, { upstream: { secret: 'EMPTY_TOKEN' }, callers: 'anyone', gate: { tasks: 'shared' } }),
  identity: kind(3, { upstream: { identity: 'header' }, ...extended }, all, withExtended),
  tenant: {
    count: 3,
    manifest: (id, origins) => {
      const own = card(id, origins)
      const interfaces = own.supportedInterfaces as JsonObject[]
      return {
        card: { ...own, supportedInterfaces: interfaces.map(each => ({ ...each, tenant: 'north' })) },
        route: 'gateway',
      }
    },
  },
  'tenant-rest-1': {
    count: 2,
    manifest: (id, origins) => {
      const own = card(id, origins, ['rest-1'])
      const interfaces = own.supportedInterfaces as JsonObject[]
      return {
        card: { ...own, supportedInterfaces: interfaces.map(each => ({ ...each, tenant: 'north' })) },
        route: 'gateway',
      }
    },
  },
  'agent-name': kind(2, { upstream: { agentName: 'Inner' } }),
  internal: kind(2, { visibility: 'internal' }),
  tokens: kind(2, { callers: 'tokens' }, all, secured),
  issuer: issued(4, { callers: 'issuer' }),
  'issuer-identity': issued(3, { upstream: { identity: 'header' } }),
  'issuer-owner': issued(2, owner),
  service: kind(3, { upstream: { service: SERVICE }, callers: 'anyone', gate: { tasks: 'shared' } }),
  // The binding of an example that does not run leads to the host itself.
  loop: {
    count: 1,
    manifest: (id, origins) => ({
      card: {
        ...card(id, origins),
        supportedInterfaces: [
          { url: `${origins.agent}/agents/${id}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        ],
      },
      ...{ route: 'gateway', upstream: { service: 'ECHO' }, callers: 'anyone', gate: { tasks: 'shared' } },
    }),
  },
  mcp: {
    count: 3,
    manifest: (id, { agent }) => ({ route: 'gateway', upstream: { mcp: `${agent}/${id}/mcp` } }),
  },
}

/** An agent that is called: its kind and its id. */
export type TestedAgent = { kind: string; id: string }

/**
 * The agents of one batch of cases. Each is called by one case at a time, so that its log lines are those of the case.
 */
export const testedAgents: readonly TestedAgent[] = Object.entries(kinds).flatMap(([kind, { count }]) =>
  Array.from({ length: count }, (_, index) => ({ kind, id: `${kind}-x${String(index).padStart(2, '0')}` })),
)

/** The agent of calls that name none. Cases of all agents may call it. */
export const rootAgent: TestedAgent = { kind: 'plain', id: 'root' }

/** Returns the host name that an agent claims. */
export const hostNameOf = (id: string): string => `${id}.example`

/** Returns the manifest of an agent as a host registers it. */
export const manifestOf = ({ kind, id }: TestedAgent, origins: Origins): JsonObject => ({
  hosts: [hostNameOf(id)],
  ...kinds[kind]?.manifest(id, origins),
})

/** Returns the card that the agent itself serves, public or extended. */
export const servedCard = (id: string, origin: string, isExtended: boolean): JsonObject =>
  card(id, { agent: origin, issuer: '' }, all, {
    ...withExtended,
    ...secured,
    ...(isExtended && {
      description: 'Only for callers that the agent knows',
      defaultInputModes: ['text/plain', 'image/png'],
      documentationUrl: `${origin}/docs`,
    }),
  })

/** The tokens of each host, by their names in cases. */
export const tokenRequests: Readonly<Record<string, JsonObject>> = {
  reader: { scopes: ['read'] },
  caller: { scopes: ['call'] },
  partner: { scopes: ['read', 'call'], tiers: ['partner'] },
  staff: { scopes: ['read', 'call'], tiers: ['staff', 'base'] },
  other: { scopes: ['read', 'call'], agents: ['none-*'] },
  writer: { scopes: ['write'] },
}
