import { formatPointer, type JsonObject } from '../../json/json.ts'
import type { CallProfile } from '../call-profile.ts'
import { isBridged, type Manifest } from '../manifest/manifest.ts'
import type { AgentCard, AgentInterface, CapabilityDefaults } from '../model/agent-card.ts'
import type { CardError } from '../model/report.ts'
import { listMcpTools } from '../read/mcp-tools.ts'

/** The capabilities of an agent whose tools the bridge calls. */
export const bridgeCapabilities: CapabilityDefaults = {
  flags: { streaming: true, pushNotifications: false, extendedAgentCard: false, multiTurn: false },
  reason: 'this host calls the tools of the MCP server itself',
}

/** Puts the bridge's A2A interfaces in the place of the MCP server's; returns any other card unchanged. */
export const withBridgeInterfaces = (manifest: Manifest, card: AgentCard): AgentCard => {
  const { mcp } = manifest.upstream
  if (mcp === undefined || !isBridged(manifest)) return card
  const supportedInterfaces = ['1.0', '0.3'].map(
    (protocolVersion): AgentInterface => ({ url: mcp, protocolBinding: 'JSONRPC', protocolVersion }),
  )
  return { ...card, supportedInterfaces }
}

/** Returns the part of a call profile that describes the tools of a bridged agent; empty for any other agent. */
export const bridgeProfile = (
  { upstream }: Manifest,
  document: JsonObject,
  { skills }: AgentCard,
): Pick<CallProfile, 'mcp'> =>
  upstream.mcp !== undefined && isBridged({ upstream })
    ? { mcp: { url: upstream.mcp, tools: listMcpTools(document, skills) } }
    : {}

/** Rejects endpoints and push notifications in the card of a bridged agent: calls end at this host, with their result. */
export const bridgeErrors = (manifest: Manifest, { capabilities, supportedInterfaces }: AgentCard): CardError[] => {
  if (manifest.route !== 'gateway' || !isBridged(manifest)) return []
  return [
    ...supportedInterfaces.flatMap(({ url }, index) =>
      url === manifest.upstream.mcp
        ? []
        : [{ pointer: formatPointer('supportedInterfaces', index, 'url'), message: endpointMessage }],
    ),
    ...(capabilities.pushNotifications === true
      ? [{ pointer: '/capabilities/pushNotifications', message: pushMessage }]
      : []),
  ]
}

const endpointMessage = 'must be left out: this host calls the tools of the MCP server itself'
const pushMessage = 'must be false: a tool call ends with its result, so there is nothing to notify of later'
