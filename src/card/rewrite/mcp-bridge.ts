import { asList, asObject, formatPointer, hasItems, type Json, type JsonObject } from '../../json/index.ts'
import { isBehindBridge, isBridged, type Manifest } from '../manifest/index.ts'
import type { AgentCard, CallModes, CapabilityDefaults, Finding, Modes } from '../model/index.ts'
import { collectModes, wireVersions } from '../model/index.ts'
import { listMcpTools } from '../read/index.ts'

/** The capabilities of an agent whose tools the bridge calls. */
export const bridgeCapabilities: CapabilityDefaults = {
  flags: { streaming: true, pushNotifications: false, extendedAgentCard: false, multiTurn: false },
  reason: 'this host calls the tools of the MCP server itself',
}

/** Puts the bridge's A2A interfaces in the place of the MCP server's; returns any other card unchanged. */
export const withBridgeInterfaces = (manifest: Manifest, card: AgentCard): AgentCard => {
  const { mcp } = manifest.upstream
  if (mcp === undefined || !isBridged(manifest)) return card
  const bridge = { url: mcp, protocolBinding: 'JSONRPC' }
  const supportedInterfaces = wireVersions.toReversed().map(protocolVersion => ({ ...bridge, protocolVersion }))
  return { ...card, supportedInterfaces }
}

/** Returns the part of a call profile that describes the tools of a bridged agent; empty for any other agent. */
export const bridgeProfile = ({ upstream }: Manifest, document: JsonObject, card: AgentCard) => {
  if (upstream.mcp === undefined || !isBridged({ upstream })) return {}
  const { mcp: url, session, defaultTool } = upstream
  return {
    mcp: {
      url,
      tools: listMcpTools(document, card.skills),
      ...(session === 'shared' && { session }),
      ...(defaultTool !== undefined && { defaultTool }),
      ...(Array.isArray(document.resources) && { resources: listResources(document.resources) }),
    },
    modes: withAuthoredOutputModes(card, document),
  }
}

/** Returns the listed resources that callers cannot open themselves. */
const listResources = (resources: readonly Json[]): string[] =>
  resources.flatMap(resource => {
    const { uri } = asObject(resource)
    return typeof uri === 'string' && !/^https?:/i.test(uri) ? [uri] : []
  })

/** Removes assumed output modes. MCP does not declare any, so only those that the owner declares are enforced. */
const withAuthoredOutputModes = (card: AgentCard, { skills, defaultOutputModes }: JsonObject): CallModes => {
  const modes = collectModes(card)
  if (hasItems(defaultOutputModes)) return modes
  const authored = asList(skills).map(each => hasItems(asObject(each).outputModes))
  if (authored.length > 0 && authored.every(Boolean)) return modes
  const ownModes = card.skills.map(({ id }, index): [string, Partial<Modes>] => {
    const { output, ...input } = modes.skills[id] ?? {}
    return [id, authored[index] && output ? { ...input, output } : input]
  })
  return {
    defaults: { ...modes.defaults, output: [] },
    union: { ...modes.union, output: [] },
    skills: Object.fromEntries(ownModes),
  }
}

/** Rejects endpoints and push notifications in the card of a bridged agent: calls end at this host. */
export const bridgeErrors = (manifest: Manifest, { capabilities, supportedInterfaces }: AgentCard): Finding[] => {
  if (!isBehindBridge(manifest)) return []
  const message = 'must be left out: this host calls the tools of the MCP server itself'
  const noLater = 'must be false: a tool call ends with its result, so there is nothing to notify of later'
  return [
    ...supportedInterfaces.flatMap(({ url }, index) =>
      url === manifest.upstream.mcp ? [] : [{ pointer: formatPointer('supportedInterfaces', index, 'url'), message }],
    ),
    ...(capabilities.pushNotifications ? [{ pointer: '/capabilities/pushNotifications', message: noLater }] : []),
  ]
}
