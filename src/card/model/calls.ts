import { isJsonObject, type JsonObject } from '../../json/json.ts'
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
  { url, agentName }: { url?: string | undefined; agentName?: string | undefined },
): CallTarget[] => {
  const targets = new Map<string, CallTarget>()
  for (const each of supportedInterfaces) {
    const target = toTarget(each)
    const key = target && `${target.binding} ${target.version}`
    const named = agentName !== undefined && target?.binding === 'JSONRPC' ? { agentName } : {}
    if (key && !targets.has(key)) targets.set(key, { ...target, url: url ?? target.url, ...named })
  }
  return [...targets.values()]
}

/** Where calls go by an interface; undefined where they cannot pass through this host. */
export const toTarget = ({
  url,
  protocolBinding: binding,
  protocolVersion,
  tenant,
}: AgentInterface): CallTarget | undefined => {
  const version = wireVersionOf.get(protocolVersion)
  if (version === undefined || (binding !== 'JSONRPC' && binding !== 'HTTP+JSON')) return undefined
  return { binding, version, url, ...(version === '1.0' && tenant !== undefined && { tenant }) }
}

/** Media types that go in and come out. */
export type Modes = { input: string[]; output: string[] }

/** The modes of a card: its defaults; those of any skill besides; and by skill id (an own member) those that it has of its own. */
export type CallModes = { defaults: Modes; union: Modes; skills: Record<string, Partial<Modes>> }

/** The modes of a card. */
export const collectModes = ({
  defaultInputModes: input,
  defaultOutputModes: output,
  skills,
}: AgentCard): CallModes => ({
  defaults: { input, output },
  union: {
    input: [...new Set([...input, ...skills.flatMap(skill => skill.inputModes ?? [])])],
    output: [...new Set([...output, ...skills.flatMap(skill => skill.outputModes ?? [])])],
  },
  skills: Object.fromEntries(
    skills.map(({ id, inputModes, outputModes }) => [
      id,
      { ...(inputModes?.length && { input: inputModes }), ...(outputModes?.length && { output: outputModes }) },
    ]),
  ),
})

/** The Major.Minor of an A2A protocol version; patch numbers never count. Other text comes back as it is. */
export const majorMinor = (version: string): string => /^(\d+\.\d+)(?:\.\d+)?$/.exec(version.trim())?.[1] ?? version

/** Whether an interface speaks a version of A2A before 1.0. */
export const isPreV1 = (version: string): boolean => version.startsWith('0.')

/** The form that v0.x readers expect: with a patch number. */
export const toPatchVersion = (version: string): string => (/^0\.\d+$/.test(version) ? `${version}.0` : version)

/** A tool of an MCP server, and the skill that it is in its agent's card. */
export type McpTool = { skillId: string; name: string; inputSchema: JsonObject }

/** The argument that a plain text is: the only required one of a tool, where that is a string. */
export const textArgument = ({ required, properties }: JsonObject): string | undefined => {
  const [name, ...others] = Array.isArray(required) ? required : []
  if (typeof name !== 'string' || others.length > 0 || !isJsonObject(properties)) return undefined
  const argument = Object.hasOwn(properties, name) ? properties[name] : undefined
  return isJsonObject(argument) && argument.type === 'string' ? name : undefined
}
