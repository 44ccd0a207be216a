import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { cleanSkill } from '../../support/cards/cards.ts'
import { compileCard, expectIssues, lintFields } from '../../support/cards/compile.ts'
import { mcpServerCard, mcpUpstream } from '../../support/cards/mcp.ts'

describe('the linter on skills', () => {
  it('reports what a card does not say of its skills', () => {
    expectIssues([
      [{ skills: undefined }, 'skills-undeclared info /skills'],
      [{ skills: [] }, 'skills-undeclared info /skills'],
      [
        { skills: ['code_review'] },
        'thin-description warning /skills/0',
        'tags-undeclared info /skills/0',
        'few-examples info /skills/0',
      ],
    ])
  })

  it('reports ids that are not in kebab-case, and missing tags and examples', () => {
    const id = 'skill-id-kebab-case info /skills/0/id'
    const tags = 'tags-undeclared info /skills/0/tags'
    const examples = 'few-examples info /skills/0/examples'
    const rows: [members: Record<string, Json | undefined>, ...issues: string[]][] = [
      [{ id: 'get_contents' }, id],
      [{ id: 'getContents' }, id],
      [{ id: 'a'.repeat(65) }, id],
      [{ id: '3d-models-2' }],
      // The host adds an id.
      [{ id: undefined }],
      [{ tags: undefined }, tags],
      [{ examples: undefined }, examples],
      [{ examples: ['Review this'] }, examples],
      [{ examples: ['Review this', ' Review this'] }, examples],
    ]
    expectIssues(
      rows.map(([members, ...issues]) => [
        { skills: [JSON.parse(JSON.stringify({ ...cleanSkill, ...members }))] },
        ...issues,
      ]),
    )
  })
})

describe('the linter on modes', () => {
  it('reports what is no media type', () => {
    const gopherhole = { defaultInputModes: undefined, defaultOutputModes: undefined, preferredTransport: undefined }
    expectIssues([
      [{ defaultInputModes: undefined }, 'modes-undeclared info /defaultInputModes'],
      [{ defaultOutputModes: [] }, 'modes-undeclared info /defaultOutputModes'],
      [{ defaultInputModes: ['text/plain', 'text'] }, 'mode-media-type warning /defaultInputModes/1'],
      [{ defaultInputModes: 'text' }, 'mode-media-type warning /defaultInputModes'],
      [{ defaultOutputModes: ['image/'] }, 'mode-media-type warning /defaultOutputModes/0'],
      [{ defaultOutputModes: ['text/ plain'] }, 'mode-media-type warning /defaultOutputModes/0'],
      [{ defaultInputModes: ['text/plain; charset=utf-8', 'application/json;profile="a/b;c"'] }],
      [{ defaultInputModes: ['image/*', '*/*'] }],
      [
        { skills: [{ ...cleanSkill, inputModes: ['image/png', 'file'], outputModes: 'text' }] },
        'mode-media-type warning /skills/0/inputModes/1',
        'mode-media-type warning /skills/0/outputModes',
      ],
      // Under other names of the field.
      [
        { defaultInputModes: undefined, default_input_modes: ['text'] },
        'mode-media-type warning /default_input_modes/0',
      ],
      [
        { ...gopherhole, protocolVersion: '1.0', supportedInputModes: ['text'], supportedOutputModes: ['text/plain'] },
        'mode-media-type warning /supportedInputModes/0',
      ],
    ])
  })

  it('says what the gate does with a mode', () => {
    const rows: [mode: string, message: string][] = [
      ['text', 'this host takes it for text/*,'],
      ['Image', 'this host takes it for image/*,'],
      ['*', 'this host takes it for */*,'],
      ['image/', 'this host matches it with the same word only'],
    ]
    for (const [mode, message] of rows) expect(lintFields({ defaultInputModes: [mode] })[0]?.message).toContain(message)
  })
})

describe('the linter on the card of an MCP server', () => {
  const rulesOf = (upstream: JsonObject, tool: JsonObject = {}) =>
    compileCard(
      { upstream: { ...mcpUpstream, ...upstream } },
      mcpServerCard({ name: 'find_it', ...tool }),
    ).report.issues.map(({ rule, pointer }) => `${rule} ${pointer}`)

  it('reports what the owner of the server can change, and nothing that MCP has no place for', () => {
    const tool = { description: 'Finds a book by its title', title: 'Find', annotations: { readOnlyHint: true } }
    expect(rulesOf({}, tool)).toEqual(['security-undeclared /securitySchemes'])
    expect(rulesOf({}, { description: 'Things' })).toContain('thin-description /skills/0/description')
  })

  it('reports a default tool that does not exist', () => {
    const found = ['find_it', 'find-it', 'find'].map(defaultTool =>
      rulesOf({ defaultTool }).filter(issue => issue.startsWith('default-tool')),
    )
    expect(found).toEqual([[], [], ['default-tool-unknown /skills']])
  })
})
