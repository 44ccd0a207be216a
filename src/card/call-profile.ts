import { isJsonObject, type JsonObject } from '../json/json.ts'
import { collectStrings } from '../json/tree.ts'
import type { Manifest } from './manifest/manifest.ts'
import type { TierRule } from './manifest/tiers.ts'
import type { AgentCard } from './model/agent-card.ts'
import { type CallModes, type CallTarget, collectModes, type McpTool, resolveTargets } from './model/calls.ts'
import { allowsAnonymous } from './read/security-requirements.ts'

/** The headers that a card's API keys go in, as it writes them, by the names of their schemes. */
export const getApiKeyHeaders = ({ securitySchemes = {} }: AgentCard): { scheme: string; header: string }[] =>
  Object.entries(securitySchemes).flatMap(([scheme, { apiKeySecurityScheme: key }]) =>
    isJsonObject(key) && key.location === 'header' && typeof key.name === 'string'
      ? [{ scheme, header: key.name }]
      : [],
  )

/** All that the gate needs to know of an agent to check and forward a call: compiled at registration, private to this host. */
export type CallProfile = {
  visibility: Manifest['visibility']
  route: Manifest['route']
  gate: Record<'capabilities' | 'modes' | 'extensions' | 'version', 'off' | 'warn' | 'enforce'>
  /** Preferred first; empty where the agent speaks nothing that passes through here. */
  targets: CallTarget[]
  service?: string
  secret?: string
  streaming: boolean
  pushNotifications: boolean
  /** Whether the card declares an extended card, and the tiers that its manifest configures: lowest first. */
  extendedAgentCard: boolean
  tiers: string[]
  /** The URIs of the extensions that a caller must name. */
  requiredExtensions: string[]
  modes: CallModes
  /** The names of the headers that the card's API keys go in, lower case. */
  apiKeyHeaders: string[]
  /** The discovery documents of the OpenID Connect issuers that count: those that its owner has written. */
  openIdConnectUrls: string[]
  /** What a token of one of them must say; there with `openIdConnectUrls` only. */
  jwt?: { audience: string[]; scope?: string; tiers: Record<string, TierRule> }
  /** Whether the card says that callers need credentials. */
  requiresAuthentication: boolean
  /** The MCP server whose tools are called for this agent, and its tools: then no call is forwarded. */
  mcp?: { url: string; tools: McpTool[] }
  /** There where the card is to come from elsewhere and never has: then nothing can be checked, and no call passes. */
  cardMissing?: true
}

/** What a profile is made of besides: the issuers that count, and the agent's address at this host. */
type ProfileContext = { tiers: readonly string[]; issuers: string[]; agentUrl: string }

/** The profile of an agent from its manifest and its card as authored: before any address is this host's. */
export const buildCallProfile = (
  manifest: Manifest,
  card: AgentCard,
  { tiers, issuers: openIdConnectUrls, agentUrl }: ProfileContext,
): CallProfile => {
  const { visibility, route, gate, upstream, jwt } = manifest
  const { capabilities } = card
  return {
    visibility,
    route,
    gate: gateLevels(gate),
    targets: resolveTargets(card, upstream),
    ...(upstream.service !== undefined && { service: upstream.service }),
    ...(upstream.secret !== undefined && { secret: upstream.secret }),
    streaming: capabilities.streaming === true,
    pushNotifications: capabilities.pushNotifications === true,
    extendedAgentCard: capabilities.extendedAgentCard === true,
    tiers: [...tiers],
    requiredExtensions: (capabilities.extensions ?? []).filter(({ required }) => required).map(({ uri }) => uri),
    modes: collectModes(card),
    apiKeyHeaders: getApiKeyHeaders(card).map(({ header }) => header.toLowerCase()),
    openIdConnectUrls,
    ...(openIdConnectUrls.length > 0 && {
      jwt: {
        audience: [jwt?.audience ?? agentUrl].flat(),
        ...(jwt?.scope !== undefined && { scope: jwt.scope }),
        tiers: jwt?.tiers ?? {},
      },
    }),
    requiresAuthentication: !allowsAnonymous(card.securityRequirements),
  }
}

/** How strictly each kind of check is made. */
const gateLevels = (gate: Manifest['gate']): CallProfile['gate'] => ({
  capabilities: gate.capabilities ?? 'enforce',
  modes: gate.modes ?? 'enforce',
  extensions: gate.extensions ?? 'enforce',
  version: gate.version ?? 'enforce',
})

/** The profile of an agent whose card is to come from elsewhere and never has. */
export const missingCardProfile = ({ visibility, route, gate }: Manifest): CallProfile => ({
  visibility,
  route,
  gate: gateLevels(gate),
  targets: [],
  streaming: false,
  pushNotifications: false,
  extendedAgentCard: false,
  tiers: [],
  requiredExtensions: [],
  modes: { defaults: { input: [], output: [] }, union: { input: [], output: [] }, skills: {} },
  apiKeyHeaders: [],
  openIdConnectUrls: [],
  requiresAuthentication: false,
  cardMissing: true,
})

/**
 * The discovery documents of the OpenID Connect issuers that count, each once: those that a card names and that are in what its
 * owner has written. Whose tokens open an agent at this host is never for the source of a fetched card to say.
 */
export const trustedIssuers = ({ securitySchemes = {} }: AgentCard, written: JsonObject): string[] => {
  const own = new Set(collectStrings(written).flatMap(({ name, value }) => (issuerField.test(name) ? [value] : [])))
  const urls = Object.values(securitySchemes).flatMap(scheme => {
    const issuer = scheme.openIdConnectSecurityScheme
    return isJsonObject(issuer) && typeof issuer.openIdConnectUrl === 'string' ? [issuer.openIdConnectUrl] : []
  })
  return [...new Set(urls)].filter(url => own.has(url))
}

const issuerField = /^open_?id_?connect_?url$/i
