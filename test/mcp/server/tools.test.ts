import { describe, expect, it } from 'vitest'
import type { CallProfile } from '../../../src/card/index.ts'
import { readArguments, type ToolCard, toTools } from '../../../src/mcp/server/tools.ts'
import { profileWith } from '../../support/calls.ts'

const makeTools = (card: Partial<ToolCard>, profile: Partial<CallProfile> = {}) =>
  toTools('weather', { name: 'Weather', description: 'Tells the weather', ...card }, profileWith(profile))
const namesOf = (ids: string[]) =>
  makeTools({ skills: ids.map(id => ({ id })) }).map(({ definition }) => definition.name)
const inputOf = (modes: string[], more: object = {}) =>
  makeTools({ skills: [{ id: 'a', inputModes: modes, ...more }] })[0]?.definition.inputSchema

describe('the name of a tool', () => {
  it('is the id of its skill in the characters that clients accept, with a number where it is taken', () => {
    const long = 'x'.repeat(64)
    for (const [ids, names] of [
      [
        ['code-review', 'Code_2'],
        ['code-review', 'Code_2'],
      ],
      [
        ['a b', 'a.b', 'a_b', 'a_b_2'],
        ['a_b', 'a_b_2', 'a_b_3', 'a_b_2_2'],
      ],
      [
        ['', '天気'],
        ['skill', '__'],
      ],
      [
        [long, `${long}y`, `${long}z`],
        [long, `${long.slice(4)}_2`, `${long.slice(4)}_3`],
      ],
    ] as [string[], string[]][])
      expect(namesOf(ids), ids.join()).toEqual(names)
  })
})

describe('the tools of an agent', () => {
  const skills = (count: number, more: object = {}) =>
    Array.from({ length: count }, (_, index) => ({
      id: `s${index}`,
      name: `Skill ${index}`,
      examples: ['Go'],
      ...more,
    }))

  it('are one for each skill, or a single one for more than 20 that take the same input', () => {
    const other = { id: 'other', inputModes: ['image/png'] }
    const mcp = { url: 'https://mcp.example/', session: 'shared', tools: [] } as unknown as NonNullable<
      CallProfile['mcp']
    >
    const mcpServer = (tools: 'skills' | 'one' | 'off') => ({ mcpServer: { url: 'https://host/mcp', tools } })
    for (const [title, card, profile, count] of [
      ['20', skills(20), {}, 20],
      ['21', skills(21), {}, 1],
      ['21 with two inputs', [...skills(20), other], {}, 21],
      ['21 of an MCP server', skills(21), { mcp }, 21],
      ['none', [], {}, 1],
      ['21 as the owner chooses', skills(21), mcpServer('skills'), 21],
      ['2 in one', skills(2), mcpServer('one'), 1],
      ['off', skills(2), mcpServer('off'), 0],
    ] as const)
      expect(makeTools({ skills: [...card] }, profile), title).toHaveLength(count)
  })

  it('that are one describe all skills, and accept what any of them does', () => {
    const card = { defaultInputModes: ['text/plain'], skills: [...skills(1), { id: 'b', inputModes: ['image/png'] }] }
    const [tool] = makeTools(card, { mcpServer: { url: 'https://host/mcp', tools: 'one' } })
    expect(tool).toMatchObject({
      definition: {
        ...{ name: 'weather', title: 'Weather', annotations: { openWorldHint: true } },
        description: 'Tells the weather\n\nSkills:\n- Skill 0:\n- b:',
      },
      examples: ['Go'],
    })
    const { properties = {} } = tool?.definition.inputSchema ?? {}
    expect(Object.keys(properties)).toEqual(['message', 'files', 'contextId', 'taskId'])
    expect(properties.files).toMatchObject({ description: 'Files for the agent: image/png.' })
    expect(tool?.skillId).toBeUndefined()
  })

  it('have the texts of the skill, in clean lines, and its examples', () => {
    const description = `Reviews\u202e code\n${'x'.repeat(9000)}`
    const [tool] = makeTools({
      skills: [{ id: 'a', name: 'A\n\u0007B', description, examples: ['One\nline', { no: 1 }] }],
    })
    expect(tool?.definition).toMatchObject({
      title: 'A B',
      description: expect.stringMatching(/^Reviews {2}code\nx+$/),
    })
    expect([tool?.definition.description?.length, tool?.examples]).toEqual([8000, ['One\nline']])
    const [short] = makeTools({ skills: [{ id: 'a', description: 'D', examples: ['One\nline'] }] })
    expect(short?.definition).toMatchObject({ title: 'a', description: 'D\n\nExamples:\n- One line' })
  })
})

describe('the input of a tool', () => {
  it('follows the input modes of its skill', () => {
    const ids = ['contextId', 'taskId']
    for (const [modes, properties, required] of [
      [['text/plain'], ['message'], ['message']],
      [['text'], ['message'], ['message']],
      [['application/json'], ['data'], []],
      [['image/*', 'text/plain'], ['message', 'files'], ['message']],
      [['application/pdf'], ['files'], []],
      [['*/*'], ['message', 'data', 'files'], ['message']],
      [[], ['message', 'data'], ['message']],
    ] as [string[], string[], string[]][]) {
      const schema = inputOf(modes)
      expect([Object.keys(schema?.properties ?? {}), schema?.required], modes.join()).toEqual([
        [...properties, ...ids],
        required,
      ])
    }
    expect(inputOf(['image/png', 'audio/*'])?.properties?.files).toMatchObject({
      description: 'Files for the agent: image/png, audio/*.',
    })
  })

  it('has the schema of the data that the skill declares', () => {
    const inputSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    expect(inputOf(['application/json'], { inputSchema })?.properties?.data).toMatchObject(inputSchema)
  })

  it("is that of an MCP server's own tool, whose arguments are passed on as they are", () => {
    const properties: Record<string, object> = { message: { type: 'string' } }
    const inputSchema = { properties, required: ['message'] }
    const mcp = { tools: [{ skillId: 'say-it', name: 'say_it', inputSchema }] } as unknown as NonNullable<
      CallProfile['mcp']
    >
    const outputSchema = { type: 'object' }
    const skill = { id: 'say-it', title: 'Say', annotations: { readOnlyHint: true }, outputSchema, description: 'Says' }
    const [tool] = makeTools({ skills: [skill] }, { mcp })
    expect(tool?.definition).toEqual({
      ...{ name: 'say_it', title: 'Say', description: 'Says', annotations: { readOnlyHint: true }, outputSchema },
      inputSchema: { ...inputSchema, type: 'object' },
    })
    const read = (args: Parameters<typeof readArguments>[1]) => tool && readArguments(tool, args)
    const passed = (args: object) => ({
      parts: [{ data: { skillId: 'say-it', arguments: args }, mediaType: 'application/json' }],
    })
    for (const args of [{ message: 'x' }, { anything: [1] }, {}])
      expect(read(args), JSON.stringify(args)).toEqual(passed(args))
    // With the id of a task, they answer its question.
    const answers = { taskId: 't', contextId: undefined }
    const answer = { text: 'Rome', mediaType: 'text/plain' }
    expect(read({ taskId: 't' })).toEqual({ parts: [], ...answers })
    expect(read({ text: 'x', taskId: 't', message: 'Rome' })).toEqual({ parts: [answer], ...answers })
    expect(read({ taskId: 't', data: { city: 'Rome' } })).toMatchObject({ parts: [{ data: { city: 'Rome' } }] })
    properties.taskId = { type: 'string' }
    expect(read({ taskId: 't', message: 'x' })).toEqual(passed({ taskId: 't', message: 'x' }))
  })
})
