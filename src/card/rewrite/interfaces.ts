import { asList, asObject, formatPointer, hasItems, type Json, type JsonObject } from '../../json/index.ts'
import { isBehindBridge, isBridged, type Manifest } from '../manifest/index.ts'
import {
  type AgentCard,
  type AgentInterface,
  type BridgeLevel,
  type CallModes,
  type CapabilityDefaults,
  callBindings,
  collectModes,
  type Finding,
  findBridgedTarget,
  isPreV1,
  type Modes,
  resolveTargets,
  toTarget,
  translatedProtocols,
  wireVersionOf,
  wireVersions,
} from '../model/index.ts'
import { listMcpTools } from '../read/index.ts'

/**
 * Returns the interfaces of a gateway's card at this host's URL, each once: the agent's own, and those from which calls
 * are translated. An agent of 0.2 is listed as one of 0.3, as which it is called: readers of 0.x take all interfaces to
 * have one version.
 */
export const gatewayInterfaces = (card: AgentCard, bridge: BridgeLevel, agentUrl: string): AgentInterface[] => {
  const own = resolveTargets(card, {})
  const protocols = [...own, ...translatedProtocols(own, bridge)]
  const url = `${agentUrl}/a2a`
  return protocols.map(({ binding, version }) => ({ url, protocolBinding: binding, protocolVersion: version }))
}

/** Rejects `route: gateway` for an agent that has no interface this host can forward to. */
export const gatewayErrors = (interfaces: readonly AgentInterface[]): Finding[] => {
  const message = `needs an interface that this host can forward to, ${forwardable}: add one, or use \`route: direct\``
  return interfaces.some(toTarget) ? [] : [{ pointer: '/route', message }]
}

/**
 * Returns what the translation of calls cannot carry, and what is not forwarded, as far as the card of an agent shows
 * it. `card` has the agent's own interfaces. What one call or answer loses is reported with it.
 */
export const bridgeLosses = ({ route, bridge }: Pick<Manifest, 'route' | 'bridge'>, card: AgentCard): Finding[] => {
  const own = route === 'gateway' ? card.supportedInterfaces.flatMap(each => toTarget(each) ?? []) : []
  const pairs = translatedProtocols(own, bridge).map(from => ({ from, to: findBridgedTarget(from, own, bridge) }))
  const isTranslated = (ofV0: boolean): boolean =>
    pairs.some(({ from, to = from }) => isPreV1(from.version) === ofV0 && isPreV1(to.version) !== ofV0)
  return [
    ...notForwarded(route, card),
    ...(isTranslated(false) ? lossesOfNewClients(card) : []),
    ...(isTranslated(true) ? lossesOfOldClients(card) : []),
  ]
}

const versions = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(wireVersionOf.keys())
const forwardable = `${callBindings.join(' or ')} of A2A ${versions}`

/** Returns notes on the interfaces that a gateway leaves out, or on those of an agent that has only gRPC. */
const notForwarded = (route: Manifest['route'], { supportedInterfaces: interfaces }: AgentCard): Finding[] =>
  interfaces.flatMap((each, index) => {
    const { protocolBinding: binding, protocolVersion: version } = each
    const isLeftOut = route === 'gateway' && !toTarget(each)
    const isDirect = route === 'direct' && binding === 'GRPC' && !interfaces.some(toTarget)
    if (!isLeftOut && !isDirect) return []
    const message = isLeftOut
      ? `${binding} ${version} is left out of the card: this host forwards calls over ${forwardable} only`
      : 'this host forwards and checks no calls over gRPC: clients call the agent itself'
    return [{ pointer: formatPointer('supportedInterfaces', index), message }]
  })

const lossesOfNewClients = (card: AgentCard): Finding[] => [
  { pointer: '/supportedInterfaces', message: 'A2A 0.3 has no list of tasks: ListTasks of clients of 1.0 is refused' },
  ...capabilityLoss(card, 'pushNotifications', 'clients of 1.0 get notifications in the form of 0.3'),
  ...capabilityLoss(card, 'stateTransitionHistory', 'A2A 1.0 has no such capability'),
  ...textLosses('/defaultInputModes', collectModes(card).union.input, 'messages of clients of 1.0'),
]

const lossesOfOldClients = (card: AgentCard): Finding[] => [
  ...capabilityLoss(card, 'pushNotifications', 'clients of 0.3 get those of 1.0; only their first auth scheme is sent'),
  ...textLosses('/defaultOutputModes', collectModes(card).union.output, 'answers to clients of 0.3'),
]

const capabilityLoss = ({ capabilities }: AgentCard, name: string, message: string): Finding[] =>
  capabilities[name] === true ? [{ pointer: formatPointer('capabilities', name), message }] : []

/** A part with text has a media type in 1.0 only. */
const textLosses = (pointer: string, modes: readonly string[], where: string): Finding[] => {
  const types = modes.filter(mode => /^text\/(?!plain\b|\*)/i.test(mode))
  const message = `text has no media type in A2A 0.3: ${types.join(', ')} is lost in ${where}`
  return types.length > 0 ? [{ pointer, message }] : []
}

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
