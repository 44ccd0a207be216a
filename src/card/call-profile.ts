import * as v from 'valibot'
import { isFieldName } from '../http/shared.ts'
import { collectStrings, type JsonObject } from '../json/index.ts'
import { callerPolicy, Manifest, Source, taskPolicy, tierRule, toolForms } from './manifest/index.ts'
import type { AgentCard } from './model/index.ts'
import { callBindings, collectModes, httpUrl, jsonObject, record, resolveTargets, wireVersions } from './model/index.ts'

const text = v.string()
const texts = v.array(text)
const level = Manifest.entries.compatibility.wrapped
const modes = v.object({ input: texts, output: texts })
const someModes = v.object({ input: v.exactOptional(texts), output: v.exactOptional(texts) })

/** What this host needs to know of an agent to check and forward a call. Compiled at registration, never published. */
export const CallProfile = v.object({
  ...{ visibility: Manifest.entries.visibility.wrapped, route: Manifest.entries.route.wrapped },
  gate: v.object({ capabilities: level, modes: level, extensions: level, version: level, responses: level }),
  /** The targets of calls, preferred first. Empty if this host can forward calls to none of the interfaces. */
  targets: v.array(
    v.object({
      ...{ binding: v.picklist(callBindings), version: v.picklist(wireVersions), url: httpUrl },
      ...{ tenant: v.exactOptional(text), agentName: v.exactOptional(text) },
    }),
  ),
  /** Which calls are translated to one of them. */
  bridge: Manifest.entries.bridge.wrapped,
  /** Set to `owner` if each caller reaches only the tasks that it started. */
  tasks: v.picklist(['owner', 'shared']),
  ...{ service: Source.entries.service, secret: Source.entries.secret },
  /** Set if the agent gets a signed assertion of each caller, from this issuer: an origin of this host. */
  identity: v.exactOptional(v.object({ issuer: text })),
  ...{ streaming: v.boolean(), pushNotifications: v.boolean(), extendedAgentCard: v.boolean() },
  /** Set if the agent itself serves the extended card: then calls for it are forwarded. */
  agentServesExtendedCard: v.exactOptional(v.literal(true)),
  /** The tiers of the manifest, the lowest first. */
  tiers: texts,
  /** The URIs of the extensions that a client must declare. */
  requiredExtensions: texts,
  modes: v.object({ defaults: modes, union: modes, skills: record(someModes) }),
  /** The headers of the card's API keys, in lower case. */
  apiKeyHeaders: v.array(v.pipe(v.string(), v.check(isFieldName))),
  /** The discovery documents of the trusted OpenID Connect issuers. */
  openIdConnectUrls: texts,
  /** The audiences and scopes that their access tokens need; only with `openIdConnectUrls`. */
  jwt: v.exactOptional(v.object({ audience: texts, scope: v.exactOptional(text), tiers: record(tierRule) })),
  callers: Manifest.entries.callers.wrapped,
  /**
   * The MCP server whose tools answer the agent's calls; no call is forwarded. A message that names no tool gets
   * `defaultTool`, and `resources` are those that callers cannot open themselves.
   */
  mcp: v.exactOptional(
    v.object({
      ...{ url: httpUrl, session: Source.entries.session, defaultTool: v.exactOptional(text) },
      tools: v.array(v.object({ skillId: text, name: text, inputSchema: jsonObject() })),
      resources: v.exactOptional(texts),
    }),
  ),
  /** The address for MCP clients, and the audiences of their access tokens; absent where the agent has none. */
  mcpServer: v.exactOptional(
    v.object({ url: text, audience: v.exactOptional(texts), tools: v.exactOptional(v.picklist(toolForms)) }),
  ),
  /** Set while a remote card was never fetched: nothing can be checked, so every call is rejected. */
  cardMissing: v.exactOptional(v.literal(true)),
})
export type CallProfile = v.InferOutput<typeof CallProfile>

/** The MCP server whose tools answer the calls of an agent. */
export type McpAgentProfile = NonNullable<CallProfile['mcp']>

/** Builds the profile of an agent. The card has the agent's own URLs, and `issuers` are the trusted ones. */
export const buildCallProfile = (
  manifest: Manifest,
  card: AgentCard,
  { tiers, issuers, origin, agentUrl }: { tiers: string[]; issuers: string[]; origin: string; agentUrl: string },
): CallProfile => {
  const { upstream, jwt } = manifest
  const { capabilities } = card
  const mcpUrl = `${agentUrl}/mcp`
  return {
    ...policiesOf(manifest),
    tasks: taskPolicy(manifest),
    targets: resolveTargets(card, upstream),
    // Only a gateway's card lists what is translated. A client with an older card of an agent that is closed now must
    // get the error `closed`: with an unsupported version, it would try the others.
    bridge: manifest.route === 'direct' ? 'off' : manifest.bridge,
    ...(upstream.service !== undefined && { service: upstream.service }),
    ...(upstream.secret !== undefined && { secret: upstream.secret }),
    ...(upstream.identity !== undefined && { identity: { issuer: origin } }),
    streaming: capabilities.streaming === true,
    pushNotifications: capabilities.pushNotifications === true,
    extendedAgentCard: capabilities.extendedAgentCard === true,
    ...(capabilities.extendedAgentCard === true &&
      upstream.card !== undefined &&
      tiers.length === 0 && { agentServesExtendedCard: true }),
    tiers,
    requiredExtensions: getRequiredExtensions(card),
    modes: collectModes(card),
    ...(manifest.mcp !== 'off' &&
      manifest.route !== 'closed' && {
        mcpServer: {
          url: mcpUrl,
          ...(issuers.length > 0 && { audience: [mcpUrl, jwt?.audience ?? []].flat() }),
          ...manifest.mcp,
        },
      }),
    apiKeyHeaders: getApiKeyHeaders(card).map(({ header }) => header.toLowerCase()),
    openIdConnectUrls: issuers,
    ...(issuers.length > 0 && {
      jwt: {
        audience: [jwt?.audience ?? agentUrl].flat(),
        ...(jwt?.scope !== undefined && { scope: jwt.scope }),
        tiers: jwt?.tiers ?? {},
      },
    }),
  }
}

/** Returns the profile of an agent whose remote card was never fetched. */
export const missingCardProfile = (manifest: Manifest): CallProfile => ({
  ...policiesOf(manifest),
  tasks: 'shared',
  targets: [],
  bridge: 'off',
  streaming: false,
  pushNotifications: false,
  extendedAgentCard: false,
  tiers: [],
  requiredExtensions: [],
  modes: { defaults: { input: [], output: [] }, union: { input: [], output: [] }, skills: {} },
  apiKeyHeaders: [],
  openIdConnectUrls: [],
  cardMissing: true,
})

/** Returns what the manifest alone decides. */
const policiesOf = (manifest: Manifest): Pick<CallProfile, 'visibility' | 'route' | 'gate' | 'callers'> => {
  const { visibility, route, gate } = manifest
  const { capabilities = 'enforce', modes = 'enforce', extensions = 'enforce' } = gate
  const { version = 'enforce', responses = 'enforce' } = gate
  const callers = callerPolicy(manifest)
  return { visibility, route, gate: { capabilities, modes, extensions, version, responses }, callers }
}

/** Returns the URIs of the extensions that a card requires. */
export const getRequiredExtensions = ({ capabilities: { extensions = [] } }: AgentCard): string[] =>
  extensions.filter(({ required }) => required).map(({ uri }) => uri)

/** Returns the headers of a card's API keys, as authored, with the names of their schemes. */
export const getApiKeyHeaders = ({ securitySchemes = {} }: AgentCard): { scheme: string; header: string }[] =>
  Object.entries(securitySchemes).flatMap(([scheme, { apiKeySecurityScheme: key }]) =>
    key?.location === 'header' ? [{ scheme, header: key.name }] : [],
  )

/**
 * Returns the discovery documents of the OpenID Connect issuers that a card names and that its owner wrote in
 * `ownerCard`. The source of a fetched card must not decide whose tokens give access to an agent of this host.
 */
export const trustedIssuers = ({ securitySchemes = {} }: AgentCard, ownerCard: JsonObject): string[] => {
  const isIssuerField = (name: string) => /^open_?id_?connect_?url$/i.test(name)
  const owned = new Set(collectStrings(ownerCard).flatMap(({ name, value }) => (isIssuerField(name) ? [value] : [])))
  const urls = Object.values(securitySchemes).flatMap(
    ({ openIdConnectSecurityScheme: scheme }) => scheme?.openIdConnectUrl ?? [],
  )
  return [...new Set(urls)].filter(url => owned.has(url))
}
