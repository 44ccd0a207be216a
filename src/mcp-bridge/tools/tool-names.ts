import type { McpTool } from '../../card/read/card-mcp-tools.ts'
import type { Json } from '../../json/json.ts'

/** The tool that a caller names: by the skill's id or by the tool's own name; `first` is what counts where one's is the other's. */
export const findTool = (said: Json, tools: readonly McpTool[], first: 'skillId' | 'name'): McpTool | undefined => {
  const second = first === 'name' ? 'skillId' : 'name'
  return tools.find(tool => tool[first] === said) ?? tools.find(tool => tool[second] === said)
}

const mostNamed = 20

/** What is wrong with the name of a tool, if one was said, and which tools there are. */
export const describeTools = (said: Json | undefined, tools: readonly McpTool[]): string => {
  const names = tools.slice(0, mostNamed).map(({ name }) => name.slice(0, 64).toWellFormed())
  const list = [...names, ...(tools.length > mostNamed ? ['…'] : [])].join(', ')
  const there = tools.length === 0 ? 'this agent has none' : `there are ${list}`
  if (said === undefined) return `Tools: ${there}`
  return typeof said === 'string' ? `names no tool of this agent: ${there}` : `must be the name of a tool: ${there}`
}
