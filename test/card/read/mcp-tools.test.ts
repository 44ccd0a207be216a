import { describe, expect, it } from 'vitest'
import { textArgument } from '../../../src/card/model/calls.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { compileCard } from '../../support/cards/compile.ts'
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

  it('has a unique id where two tools have the same name', () => {
    const { profile } = compileCard({ upstream: mcpUpstream }, mcpServerCard({ name: 'x' }, { name: 'x' }))
    expect(profile.mcp?.tools.map(({ skillId, name }) => [skillId, name])).toStrictEqual([
      ['x', 'x'],
      ['x-2', 'x'],
    ])
  })

  it.each<[string, JsonObject, string]>([
    ['that of the tool', { description: 'Searches' }, 'Searches'],
    ['one made from the arguments, where the tool has none', { description: null }, 'Calls the tool find with query.'],
    ['one made from the arguments, where it is blank', { description: ' ' }, 'Calls the tool find with query.'],
    [
      'one made from the name, where the tool has no arguments',
      { description: null, inputSchema: { type: 'object' } },
      'Calls the tool find.',
    ],
  ])('has a description, %s', (_, tool, description) => {
    expect(compileSkills({ name: 'find', ...tool })[0]?.description).toBe(description)
  })

  it.each<[JsonObject | undefined, string[]]>([
    [undefined, []],
    [{ readOnlyHint: true, openWorldHint: true }, ['read-only', 'open-world']],
    [{ destructiveHint: true, idempotentHint: true }, ['destructive', 'idempotent']],
    [{ readOnlyHint: false, title: 'T' }, []],
  ])('has the annotations of the tool as tags: %j', (annotations, tags) => {
    expect(compileSkills({ name: 'a', ...(annotations && { annotations }) })[0]?.tags).toStrictEqual([
      'tool',
      'mcp',
      ...tags,
    ])
  })

  it('accepts data and text: arguments may come as JSON text, and an answer to a question as any text', () => {
    for (const inputSchema of [textToolSchema, { type: 'object' }, null])
      expect(compileSkills({ name: 'a', inputSchema })[0]?.inputModes).toStrictEqual(['application/json', 'text/plain'])
  })

  it.each<[string, JsonObject, string | undefined]>([
    ['one required string', textToolSchema, 'query'],
    [
      'one required string among others',
      { ...textToolSchema, properties: { query: { type: 'string' }, n: {} } },
      'query',
    ],
    ['a number', { ...textToolSchema, properties: { query: { type: 'number' } } }, undefined],
    ['two required strings', { ...textToolSchema, required: ['query', 'more'] }, undefined],
    ['a string that is not required', { ...textToolSchema, required: [] }, undefined],
    ['a required argument that is not described', { ...textToolSchema, properties: {} }, undefined],
    ['one with the name of a member of Object.prototype', { required: ['toString'], properties: {} }, undefined],
    ['no schema', {}, undefined],
  ])('takes the text of a message for its only required string: %s', (_, inputSchema, argument) => {
    expect(textArgument(inputSchema)).toBe(argument)
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
