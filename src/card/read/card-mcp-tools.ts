import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import type { AgentSkill } from '../model/agent-card.ts'

/** A tool of an MCP server, and the skill that it is in its agent's card. */
export type McpTool = { skillId: string; name: string; inputSchema: JsonObject }

/**
 * The tools of a document that was made of an MCP server, beside the skills that were read of it. The server knows a tool by
 * the id that the document gives it; its name there may be an owner's.
 */
export const mcpTools = (document: JsonObject, skills: readonly AgentSkill[]): McpTool[] =>
  (Array.isArray(document.skills) ? document.skills : []).flatMap((tool: Json, index) => {
    const name = isJsonObject(tool) ? (tool.id ?? tool.name) : undefined
    const skillId = skills[index]?.id
    if (!isJsonObject(tool) || typeof name !== 'string' || skillId === undefined) return []
    return [{ skillId, name, inputSchema: isJsonObject(tool.inputSchema) ? tool.inputSchema : { type: 'object' } }]
  })

/** The argument that a plain text is: the only required one of a tool, where that is a string. */
export const textArgument = ({ required, properties }: JsonObject): string | undefined => {
  const [name, ...others] = Array.isArray(required) ? required : []
  if (typeof name !== 'string' || others.length > 0 || !isJsonObject(properties)) return undefined
  const argument = Object.hasOwn(properties, name) ? properties[name] : undefined
  return isJsonObject(argument) && argument.type === 'string' ? name : undefined
}
