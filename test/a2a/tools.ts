import type { McpTool } from '../../src/card/model/calls.ts'
import type { JsonObject } from '../../src/json/json.ts'

/** A tool whose arguments are these, `required` or not; its skill's id is its name in kebab case. */
export const toolWith = (
  name: string,
  properties: JsonObject,
  required: string[] = [],
  more: JsonObject = {},
): McpTool => ({
  skillId: name.replaceAll('_', '-'),
  name,
  inputSchema: { type: 'object', properties, ...(required.length > 0 && { required }), ...more },
})

/** A search: one text is all that it needs. */
export const search = toolWith(
  'web_search',
  { query: { type: 'string', minLength: 2 }, most: { type: 'integer', minimum: 1, maximum: 10 } },
  ['query'],
)

/** What needs no arguments. */
export const now = toolWith('now', { zone: { type: 'string' } })
