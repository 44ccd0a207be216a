import { describe, expect, it } from 'vitest'
import { checkInputModes } from '../../../src/gateway/content-negotiation.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { cleanCard, cleanSkill } from '../../support/cards/cards.ts'
import { compileCard, formatIssues, lintFields } from '../../support/cards/compile.ts'
import { mcpServerCard, mcpUpstream } from '../../support/cards/mcp.ts'

/** A message with one part. */
const textMessage = {
  parts: [{ text: 'x' }],
  ambiguousPart: undefined,
  skillId: undefined,
  acceptedOutputModes: undefined,
  hasPushConfig: false,
  isDoubtful: false,
  callbackUrls: [],
}

describe('the linter on skills', () => {
  it.each<[string, Json | undefined, string[]]>([
    ['no skills', undefined, ['skills-undeclared info /skills']],
    ['an empty list', [], ['skills-undeclared info /skills']],
    ['a complete skill', [cleanSkill], []],
    [
      'a bare name',
      ['code_review'],
      ['thin-description warning /skills/0', 'tags-undeclared info /skills/0', 'few-examples info /skills/0'],
    ],
  ])('checks a card with %s', (_, skills, expected) => {
    expect(formatIssues(lintFields({ skills }))).toEqual(expected)
  })

  it.each<[string, Record<string, Json | undefined>, string[]]>([
    ['an id in snake_case', { id: 'get_contents' }, ['skill-id-kebab-case info /skills/0/id']],
    ['an id in camelCase', { id: 'getContents' }, ['skill-id-kebab-case info /skills/0/id']],
    ['an id with two hyphens', { id: 'get--contents' }, ['skill-id-kebab-case info /skills/0/id']],
    ['an id with a space', { id: 'get contents' }, ['skill-id-kebab-case info /skills/0/id']],
    ['an id with a slash', { id: 'get/contents' }, ['skill-id-kebab-case info /skills/0/id']],
    ['an id of 65 characters', { id: 'a'.repeat(65) }, ['skill-id-kebab-case info /skills/0/id']],
    ['an id with digits', { id: '3d-models-2' }, []],
    ['no id, which the host adds', { id: undefined }, []],
    ['no tags', { tags: undefined }, ['tags-undeclared info /skills/0/tags']],
    ['empty tags', { tags: [] }, ['tags-undeclared info /skills/0/tags']],
    ['the default tag', { tags: ['general'] }, []],
    ['no examples', { examples: undefined }, ['few-examples info /skills/0/examples']],
    ['one example', { examples: ['Review this'] }, ['few-examples info /skills/0/examples']],
    ['one example, twice', { examples: ['Review this', ' Review this'] }, ['few-examples info /skills/0/examples']],
    ['three examples', { examples: ['a', 'b', 'c'] }, []],
  ])('checks a skill with %s: %j', (_, fields, expected) => {
    expect(formatIssues(lintFields({ skills: [JSON.parse(JSON.stringify({ ...cleanSkill, ...fields }))] }))).toEqual(
      expected,
    )
  })
})

describe('the linter on modes', () => {
  it.each<[string, Record<string, Json | undefined>, string[]]>([
    ['no input', { defaultInputModes: undefined }, ['modes-undeclared info /defaultInputModes']],
    ['empty output', { defaultOutputModes: [] }, ['modes-undeclared info /defaultOutputModes']],
    [
      'a word for all types of a kind',
      { defaultInputModes: ['image'] },
      ['mode-media-type warning /defaultInputModes/0'],
    ],
    ['a word', { defaultInputModes: ['text/plain', 'text'] }, ['mode-media-type warning /defaultInputModes/1']],
    ['a word in place of a list', { defaultInputModes: 'text' }, ['mode-media-type warning /defaultInputModes']],
    ['a type without a subtype', { defaultOutputModes: ['image/'] }, ['mode-media-type warning /defaultOutputModes/0']],
    ['two slashes', { defaultOutputModes: ['a/b/c'] }, ['mode-media-type warning /defaultOutputModes/0']],
    ['a type with a space', { defaultOutputModes: ['text/ plain'] }, ['mode-media-type warning /defaultOutputModes/0']],
    ['parameters', { defaultInputModes: ['text/plain; charset=utf-8', 'application/json;profile="a/b;c"'] }, []],
    ['a wildcard', { defaultInputModes: ['image/*', '*/*'] }, []],
    ['a vendor type with a suffix', { defaultInputModes: ['application/vnd.acme.v2+json'] }, []],
    [
      'a word in a skill',
      { skills: [{ ...cleanSkill, inputModes: ['image/png', 'file'], outputModes: 'text' }] },
      ['mode-media-type warning /skills/0/inputModes/1', 'mode-media-type warning /skills/0/outputModes'],
    ],
    ['media types in a skill', { skills: [{ ...cleanSkill, inputModes: ['image/png'] }] }, []],
    [
      'a word in the snake_case field',
      { defaultInputModes: undefined, default_input_modes: ['text'] },
      ['mode-media-type warning /default_input_modes/0'],
    ],
  ])('checks modes with %s', (_, fields, expected) => {
    expect(formatIssues(lintFields(fields))).toEqual(expected)
  })

  it.each([
    ['text', 'the gate takes it for text/*,'],
    ['Image', 'the gate takes it for image/*,'],
    ['*', 'the gate takes it for */*,'],
    ['file', 'the gate matches it with the same word only'],
    ['image/', 'the gate matches it with the same word only'],
  ])('says what the gate does with the mode %s', (mode, message) => {
    const { defaults } = compileCard({ ...cleanCard, defaultInputModes: [mode] }).profile.modes
    const [issue] = lintFields({ defaultInputModes: [mode] })
    expect(issue?.message).toContain(message)
    const accepts = (type: string) =>
      checkInputModes({ ...textMessage, mediaTypes: [type] }, { defaults, union: defaults, skills: {} }) === undefined
    const kind = mode === '*' ? 'video' : mode.toLowerCase().replace('/', '')
    expect([accepts(`${kind}/x-any`), accepts(mode)]).toStrictEqual([message.includes('*'), true])
  })

  it("points at GopherHole's own field names", () => {
    const fields = { defaultInputModes: undefined, defaultOutputModes: undefined, preferredTransport: undefined }
    expect(
      formatIssues(
        lintFields({
          ...fields,
          protocolVersion: '1.0',
          supportedInputModes: ['text'],
          supportedOutputModes: ['text/plain'],
        }),
      ),
    ).toEqual(['mode-media-type warning /supportedInputModes/0'])
  })
})

describe('the linter on the card of an MCP server', () => {
  const rulesOf = (upstream: JsonObject, tool: JsonObject = {}) =>
    compileCard(
      { upstream: { ...mcpUpstream, ...upstream } },
      mcpServerCard({ name: 'find_it', ...tool }),
    ).report.issues.map(({ rule, pointer }) => `${rule} ${pointer}`)

  it('reports nothing that MCP has no place for: tags, examples, modes, and the fields of its tools', () => {
    const tool = { description: 'Finds a book by its title', title: 'Find', annotations: { readOnlyHint: true } }
    expect(rulesOf({}, tool)).toEqual(['security-undeclared /securitySchemes'])
  })

  it('reports what the owner of the server can change', () => {
    expect(rulesOf({}, { description: 'Things' })).toContain('thin-description /skills/0/description')
  })

  it.each([
    ['find_it', []],
    ['find-it', []],
    ['find', ['default-tool-unknown /skills']],
  ])('reports a default tool that does not exist: %s', (defaultTool, expected) => {
    expect(rulesOf({ defaultTool }).filter(issue => issue.startsWith('default-tool'))).toEqual(expected)
  })
})
