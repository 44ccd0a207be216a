import { formatPointer, type JsonObject } from '../../json/json.ts'
import type { CallProfile } from '../call-profile.ts'
import { isBridged, type Manifest } from '../manifest/manifest.ts'
import type { AgentCard, AgentInterface } from '../model/agent-card.ts'
import type { CardError } from '../model/report.ts'
import { listMcpTools } from '../read/mcp-tools.ts'

/** What the bridge does beyond answering a message. */
export const bridgeCapabilities = { streaming: true, pushNotifications: false, multiTurn: false } as const

/** What is spoken at the bridge, in the place of what the MCP server speaks. */
export const withBridgeInterfaces = (manifest: Manifest, card: AgentCard): AgentCard => {
  const { mcp } = manifest.upstream
  if (mcp === undefined || !isBridged(manifest)) return card
  const supportedInterfaces = ['1.0', '0.3'].map(
    (protocolVersion): AgentInterface => ({ url: mcp, protocolBinding: 'JSONRPC', protocolVersion }),
  )
  return { ...card, supportedInterfaces }
}

/** What the gate needs to know of the tools of a bridged agent; nothing of any other. */
export const bridgeProfile = (
  { upstream }: Manifest,
  document: JsonObject,
  { skills }: AgentCard,
): Pick<CallProfile, 'mcp'> =>
  upstream.mcp !== undefined && isBridged({ upstream })
    ? { mcp: { url: upstream.mcp, tools: listMcpTools(document, skills) } }
    : {}

/** What the card of a bridged agent may not say. */
export const bridgeErrors = (manifest: Manifest, { capabilities, supportedInterfaces }: AgentCard): CardError[] => {
  if (manifest.route !== 'gateway' || !isBridged(manifest)) return []
  return [
    ...supportedInterfaces.flatMap(({ url }, index) =>
      url === manifest.upstream.mcp
        ? []
        : [{ pointer: formatPointer('supportedInterfaces', index, 'url'), message: noEndpoint }],
    ),
    ...(capabilities.pushNotifications === true
      ? [{ pointer: '/capabilities/pushNotifications', message: noPush }]
      : []),
  ]
}

const noEndpoint = 'is not where calls go: this host calls the MCP server for them; leave the endpoint out'
const noPush = 'must be false: a call of a tool ends with its answer, and nothing is sent later'
