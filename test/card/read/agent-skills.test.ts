import { describe, expect, it } from 'vitest'
import { textArgument } from '../../../src/card/model/calls.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'
import { mcpServerCard, mcpUpstream, textToolSchema } from '../../support/cards/mcp.ts'

const compileSkills = (...tools: JsonObject[]) =>
  compileCard({ upstream: mcpUpstream }, mcpServerCard(...tools)).card.skills

describe('the skill of a tool', () => {
  it('has a unique id in kebab-case', () => {
    const names = ['get_contents', 'getContents', 'get-contents', 'Wetter für morgen', '天気', '???', '__']
    expect(compileSkills(...names.map(name => ({ name }))).map(({ id, name }) => [id, name])).toStrictEqual([
      ['get-contents', 'get_contents'],
      ['get-contents-2', 'getContents'],
      ['get-contents-3', 'get-contents'],
      ['wetter-fur-morgen', 'Wetter für morgen'],
      ['tool', '天気'],
      ['tool-2', '???'],
      ['tool-3', '__'],
    ])
  })

  it('is rejected where its name is not a text', () => {
    for (const name of [5, true, {}]) {
      const document = { ...mcpServerCard({ id: 'find', name }), url: 'https://mcp.example.com/mcp' }
      expect(getCompileErrors(document).map(({ pointer }) => pointer)).toStrictEqual(['/skills/0/name'])
    }
  })

  it('has the description of the tool, or one made from its arguments', () => {
    const rows: [JsonObject, string][] = [
      [{ description: 'Searches' }, 'Searches'],
      [{ description: null }, 'Calls the tool find with query.'],
      [{ description: ' ' }, 'Calls the tool find with query.'],
      [{ description: null, inputSchema: { type: 'object' } }, 'Calls the tool find.'],
    ]
    expect(rows.map(([tool]) => [tool, compileSkills({ name: 'find', ...tool })[0]?.description])).toEqual(rows)
  })

  it('has the annotations of the tool as tags', () => {
    const rows: [JsonObject, string[]][] = [
      [{}, ['tool', 'mcp']],
      [{ annotations: { readOnlyHint: true, openWorldHint: true } }, ['tool', 'mcp', 'read-only', 'open-world']],
      [{ annotations: { destructiveHint: true, idempotentHint: true } }, ['tool', 'mcp', 'destructive', 'idempotent']],
      [{ annotations: { readOnlyHint: false, title: 'T' } }, ['tool', 'mcp']],
    ]
    expect(rows.map(([tool]) => [tool, compileSkills({ name: 'a', ...tool })[0]?.tags])).toEqual(rows)
  })

  it('takes the text of a message for its only required string', () => {
    const rows: [JsonObject, string | undefined][] = [
      [textToolSchema, 'query'],
      [{ ...textToolSchema, properties: { query: { type: 'string' }, n: {} } }, 'query'],
      [{ ...textToolSchema, properties: { query: { type: 'number' } } }, undefined],
      [{ ...textToolSchema, required: ['query', 'more'] }, undefined],
      // Not described, and named like a member of Object.prototype.
      [{ ...textToolSchema, properties: {} }, undefined],
      [{ required: ['toString'], properties: {} }, undefined],
      [{}, undefined],
    ]
    expect(rows.map(([schema]) => [schema, textArgument(schema)])).toEqual(rows)
  })

  it('has JSON as its first output mode where the tool has an output schema', () => {
    const modes = ['application/json', 'text/plain']
    expect(compileSkills({ name: 'a', outputSchema: { type: 'object' } })[0]?.outputModes).toStrictEqual(modes)
  })

  it('is explained by notes in the report', () => {
    const { filled, converted } = compileCard({ upstream: mcpUpstream }, mcpServerCard({ name: 'get_x' })).report
    expect([
      filled.map(({ pointer }) => pointer).filter(pointer => pointer.startsWith('/skills')),
      converted,
    ]).toStrictEqual([
      ['/skills/0/description', '/skills/0/tags', '/skills/0/inputModes', '/skills/0/outputModes'],
      [{ pointer: '/skills/0/id', message: 'read as "get-x"' }],
    ])
  })
})

describe("the endpoint of an MCP server's card", () => {
  it('is `upstream.url` where the manifest has it, which the report notes', () => {
    const upstream = { ...mcpUpstream, url: 'https://agent.example/a2a' }
    const { filled } = compileCard({ upstream }, mcpServerCard({ name: 'get_x' })).report
    expect(filled.filter(({ pointer }) => pointer === '/supportedInterfaces')).toEqual([
      { pointer: '/supportedInterfaces', message: 'set to JSONRPC of A2A 1.0 at `upstream.url`' },
    ])
  })
})
