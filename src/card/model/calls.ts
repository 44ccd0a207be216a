import { isJsonObject, type JsonObject } from '../../json/start.ts'
import type { AgentCard, AgentInterface } from './agent-card.ts'
import { callBindings, isCompatible, lineOf, type Protocol, versions, wireVersionOf, wireVersions } from './versions.ts'

/** The calls that this host translates for an agent: to another version of A2A, to another binding, or both. */
export const bridgeLevels = ['off', 'versions', 'bindings', 'all'] as const
export type BridgeLevel = (typeof bridgeLevels)[number]

/** The callers that are allowed: anyone, those whose token has the scope `call`, or also those with an issuer's JWT. */
export const callerPolicies = ['anyone', 'tokens', 'issuer'] as const
export type CallerPolicy = (typeof callerPolicies)[number]

/** Returns whether this host adds a credential of its own to a call: a secret, or the use of a service binding. */
export const addsCredential = ({ secret, service }: { secret?: unknown; service?: unknown }): boolean =>
  secret !== undefined || service !== undefined

/** Returns whether calls of one protocol are calls of another as they are. */
export const isSameProtocol = (one: Protocol, other: Protocol): boolean =>
  one.binding === other.binding && one.version === other.version

/** Returns whether `bridge` allows to translate calls of one protocol to another. */
export const canTranslate = (from: Protocol, to: Protocol, bridge: BridgeLevel): boolean => {
  const [isSameBinding, isSameVersion] = [from.binding === to.binding, from.version === to.version]
  return bridge === 'all' || (bridge === 'versions' && isSameBinding) || (bridge === 'bindings' && isSameVersion)
}

/** Returns the target to which a call is translated: of its version, else a compatible one, else of its binding. */
export const findBridgedTarget = (call: Protocol, targets: readonly CallTarget[], bridge: BridgeLevel) => {
  const reachable = targets.filter(target => canTranslate(call, target, bridge))
  return (
    reachable.find(({ version }) => version === call.version) ??
    reachable.find(({ version }) => isCompatible(version, call.version)) ??
    reachable.find(({ binding }) => binding === call.binding) ??
    reachable[0]
  )
}

/** Returns whether an agent with these targets can be called in a protocol, with or without translation. */
export const isReachable = (from: Protocol, targets: readonly Protocol[], bridge: BridgeLevel): boolean =>
  targets.some(to => isSameProtocol(from, to) || canTranslate(from, to, bridge))

/**
 * Returns the protocols from which calls are translated for an agent that has others, the newest version first. A
 * version that follows another is one of them only if the agent has it: its clients understand the other one.
 */
export const translatedProtocols = (own: readonly Protocol[], bridge: BridgeLevel): Protocol[] =>
  wireVersions
    .toReversed()
    .filter(version => lineOf(version).length === 1 || own.some(to => to.version === version))
    .flatMap(version => callBindings.map(binding => ({ binding, version })))
    .filter(from => !own.some(to => isSameProtocol(from, to)) && isReachable(from, own, bridge))

/** The endpoint to which calls of one binding and version are forwarded. */
export type CallTarget = Protocol & {
  url: string
  /** The tenant of a 1.0 endpoint. */
  tenant?: string
  /** The agent's name at a Shaman endpoint. */
  agentName?: string
}

/** Returns one target for each binding and version, the first in the card. `upstream.url` replaces every address. */
export const resolveTargets = (
  { supportedInterfaces }: AgentCard,
  { url, agentName }: { url?: string | undefined; agentName?: string | undefined },
): CallTarget[] => {
  const targets = supportedInterfaces.flatMap(each => toTarget(each) ?? [])
  const firsts = targets.filter(target => targets.find(each => isSameProtocol(each, target)) === target)
  return firsts.map(target => {
    const named = agentName !== undefined && target.binding === 'JSONRPC' ? { agentName } : {}
    return { ...target, url: url ?? target.url, ...named }
  })
}

/** Returns the target of an interface; undefined if this host cannot forward calls to it. */
export const toTarget = (agentInterface: AgentInterface): CallTarget | undefined => {
  const { url, protocolBinding: binding, protocolVersion, tenant } = agentInterface
  const version = wireVersionOf.get(protocolVersion)
  if (version === undefined || (binding !== 'JSONRPC' && binding !== 'HTTP+JSON')) return undefined
  return { binding, version, url, ...(versions[version].hasTenants && tenant !== undefined && { tenant }) }
}

/** A tool of an MCP server, and the id of its skill in the agent's card. */
export type McpTool = { skillId: string; name: string; inputSchema: JsonObject }

/** Returns the argument that takes a message's text: the only required one, if it is a string. */
export const textArgument = ({ required, properties }: JsonObject): string | undefined => {
  const [name, ...others] = Array.isArray(required) ? required : []
  if (typeof name !== 'string' || others.length > 0 || !isJsonObject(properties)) return undefined
  const argument = Object.hasOwn(properties, name) ? properties[name] : undefined
  return isJsonObject(argument) && argument.type === 'string' ? name : undefined
}
