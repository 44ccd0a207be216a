import type { Tool as ToolDefinition } from '@modelcontextprotocol/server'
import type { Json, JsonObject } from '../../json/index.ts'
import { type Accepted, inputSchema } from './tools.ts'

/** The arguments of a host's tool, whose types are checked. */
type Args = Record<'agent', string> & { card: JsonObject; seq: number } & Partial<
    Record<'query' | 'dialect' | 'cursor', string> & Record<'tags' | 'modes', string[]>
  >

/** A tool of this host. `toRequest` makes its arguments the request to this host that answers it. */
type HostTool = Pick<ToolDefinition, 'description' | 'annotations'> & {
  properties: Record<string, JsonObject>
  required?: string[]
  needs?: 'write'
  toRequest?: (args: Args) => readonly [method: string, path: string, body?: Json]
}

const text = (description: string) => ({ type: 'string', description })
const texts = (description: string) => ({ type: 'array', items: { type: 'string' }, description })
const agent = text('The id of the agent, such as weather.')
const card = { type: 'object', description: 'The card or manifest.' }

const reads = { readOnlyHint: true, openWorldHint: false }
const writes = { destructiveHint: true, openWorldHint: false }

/** The input of `call_agent`: the gate checks what the agent accepts. */
const everything: Accepted = { text: true, data: true, files: ['*/*'] }

const table: Record<string, HostTool> = {
  find_agents: {
    description: 'Finds agents by what they can do, the best first. Without arguments, lists all agents.',
    properties: {
      query: text('Words in the name, description or skills of the agent.'),
      tags: texts('Tags that its skills have.'),
      modes: texts('Media types that it accepts, such as image/png.'),
      cursor: text('The cursor of the next page, from an earlier result.'),
    },
    annotations: reads,
    toRequest: ({ query, tags = [], modes = [], cursor }) => {
      const search = [
        ...(query === undefined ? [] : [['q', query]]),
        ...tags.map(tag => ['tag', tag]),
        ...modes.map(mode => ['inputMode', mode]),
        ...(cursor === undefined ? [] : [['cursor', cursor]]),
      ]
      return ['GET', `/agents?${new URLSearchParams(search)}`]
    },
  },
  get_agent: {
    description: 'Returns the Agent Card of an agent: its skills, its address, and how to call it.',
    properties: {
      agent,
      dialect: text('1.0, 0.3, gopherhole, superx, shaman or telex. Without it, one card for all clients.'),
    },
    required: ['agent'],
    annotations: reads,
    toRequest: ({ agent, dialect = 'hybrid' }) => ['GET', `/agents/${agent}?${new URLSearchParams({ dialect })}`],
  },
  call_agent: {
    description: 'Calls an agent of this host. What it can do, and what it accepts, is in its card: get_agent.',
    properties: {
      agent,
      skill: text('The id of the skill that is meant.'),
      ...(inputSchema(everything).properties as Record<string, JsonObject>),
    },
    required: ['agent'],
    annotations: { openWorldHint: true },
  },
  check_card: {
    description:
      'Checks an Agent Card or a manifest, in any dialect, and stores nothing. Reports what is wrong and where.',
    properties: { card },
    required: ['card'],
    annotations: reads,
    toRequest: ({ card }) => ['POST', '/lint', card],
  },
  register_card: {
    description: 'Registers an agent, or replaces its registration. roll_back restores an earlier one.',
    properties: { agent, card },
    required: ['agent', 'card'],
    needs: 'write',
    annotations: writes,
    toRequest: ({ agent, card }) => ['PUT', `/agents/${agent}`, card],
  },
  roll_back: {
    description: 'Registers the manifest of an earlier revision of an agent again.',
    properties: { agent, seq: { type: 'integer', description: 'The number of the revision.' } },
    required: ['agent', 'seq'],
    needs: 'write',
    annotations: writes,
    toRequest: ({ agent, seq }) => ['POST', `/agents/${agent}/rollback`, { seq }],
  },
}

/** The tools of this host, by what their callers need. */
export const hostTools = Object.entries(table).map(([name, { needs, toRequest, ...tool }]) => {
  const { description = '', properties, required = [], annotations } = tool
  const inputSchema = { type: 'object' as const, properties, required }
  return { definition: { name, description, inputSchema, annotations } as ToolDefinition, needs, toRequest }
})

const typeChecks: Readonly<Record<string, (value: Json | undefined) => boolean>> = {
  string: value => typeof value === 'string',
  integer: Number.isInteger,
  array: value => Array.isArray(value) && value.every(each => typeof each === 'string'),
  object: value => typeof value === 'object' && value !== null && !Array.isArray(value),
}

/** Returns what is wrong with the arguments of a tool of this host; undefined if nothing is. */
export const findProblem = ({ inputSchema }: ToolDefinition, args: JsonObject): string | undefined => {
  const { properties = {}, required = [] } = inputSchema as { properties?: JsonObject; required?: string[] }
  for (const name of new Set([...required, ...Object.keys(args)])) {
    const { type } = (properties[name] ?? {}) as { type?: string }
    if (args[name] === undefined) return `/${name} is missing.`
    if (type === undefined) return `/${name} is no argument of this tool: it has ${Object.keys(properties).join(', ')}.`
    // What `call_agent` passes on is checked as for any tool of the agent.
    if (required.includes(name) || !['data', 'files'].includes(name))
      if (!typeChecks[type]?.(args[name])) return `/${name} must be of type ${type}.`
  }
  return undefined
}
