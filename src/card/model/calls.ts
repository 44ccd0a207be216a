import type { Manifest } from '../manifest/manifest.ts'
import type { AgentCard, AgentInterface } from './agent-card.ts'

/** The versions of A2A whose calls this host understands. */
export const wireVersions = ['0.3', '1.0'] as const
export type WireVersion = (typeof wireVersions)[number]

/** What this host reads a Major.Minor as: v0.2 has the names and the shapes of v0.3, v0.1 has neither. */
export const wireVersionOf: ReadonlyMap<string, WireVersion> = new Map([
  ['0.2', '0.3'],
  ['0.3', '0.3'],
  ['1.0', '1.0'],
])

/** The bindings of A2A that pass through this host. */
export type CallBinding = 'JSONRPC' | 'HTTP+JSON'

/**
 * Where calls of one binding and version go, and as whose: v1.0 knows tenants of an endpoint, Shaman's JSON-RPC endpoints know
 * agents by name.
 */
export type CallTarget = {
  binding: CallBinding
  version: WireVersion
  url: string
  tenant?: string
  agentName?: string
}

/** One target for each binding and version, the first that the card names; `upstream.url` takes the place of every address. */
export const resolveTargets = (
  { supportedInterfaces }: AgentCard,
  { url, agentName }: Manifest['upstream'],
): CallTarget[] => {
  const targets = new Map<string, CallTarget>()
  for (const each of supportedInterfaces) {
    const target = targetOf(each)
    const key = target && `${target.binding} ${target.version}`
    const named = agentName !== undefined && target?.binding === 'JSONRPC' ? { agentName } : {}
    if (key && !targets.has(key)) targets.set(key, { ...target, url: url ?? target.url, ...named })
  }
  return [...targets.values()]
}

/** Where calls go by an interface; undefined where they cannot pass through this host. */
export const targetOf = ({
  url,
  protocolBinding: binding,
  protocolVersion,
  tenant,
}: AgentInterface): CallTarget | undefined => {
  const version = wireVersionOf.get(protocolVersion)
  if (version === undefined || (binding !== 'JSONRPC' && binding !== 'HTTP+JSON')) return undefined
  return { binding, version, url, ...(version === '1.0' && tenant !== undefined && { tenant }) }
}
