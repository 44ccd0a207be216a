import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/json/json.ts'
import { cleanSkill } from '../../support/cards/cards.ts'
import { expectIssues, formatIssues, lintFields } from '../../support/cards/compile.ts'

describe('the linter on field names', () => {
  it('reports a misspelled or misplaced field, with the name that is meant', () => {
    const url = 'https://review.example.com/b'
    const rows: [fields: Record<string, Json>, pointer: string, suggestion: string][] = [
      [{ IconURL: 'https://example.com/i.png' }, '/IconURL', 'iconUrl'],
      [{ documentatonUrl: 'x' }, '/documentatonUrl', 'documentationUrl'],
      [{ extensions: [] }, '/extensions', 'capabilities.extensions'],
      [{ inputModes: [] }, '/inputModes', 'defaultInputModes'],
      [
        { capabilities: { streaming: true, pushNotifications: false, multiturn: true } },
        '/capabilities/multiturn',
        'multiTurn',
      ],
      [{ skills: [{ ...cleanSkill, inptuModes: [] }] }, '/skills/0/inptuModes', 'inputModes'],
      [
        { additionalInterfaces: [{ url, transport: 'GRPC', tennant: 'x' }] },
        '/additionalInterfaces/0/tennant',
        'tenant',
      ],
    ]
    for (const [fields, pointer, suggestion] of rows) {
      const issues = lintFields(fields)
      expect(formatIssues(issues)).toEqual([`misspelt-field warning ${pointer}`])
      expect(/did you mean (.*)\?/.exec(issues[0]?.message ?? '')?.[1], pointer).toBe(suggestion)
    }
  })

  it('reports an unknown field, once if every skill has it', () => {
    const provider = { organization: 'Acme', url: 'https://acme.example', organisation: 'Acme' }
    expectIssues([
      [{ provider }, 'unknown-field info /provider/organisation'],
      [{ 'pay/ment': {} }, 'unknown-field info /pay~1ment'],
      // Like a declared field, and like a member of Object.prototype.
      [{ skill: [] }, 'unknown-field info /skill'],
      [
        { additionalInterfaces: [{ url: 'https://a.example/b', transport: 'GRPC', tenancy: 'x' }] },
        'unknown-field info /additionalInterfaces/0/tenancy',
      ],
      [{ toString: 'x' as never }, 'unknown-field info /toString'],
      [
        { skills: ['a', 'b', 'c'].map(id => ({ ...cleanSkill, id, payment: {} })) },
        'unknown-field info /skills/0/payment',
      ],
    ])
    expect(lintFields({ skill: [] })[0]?.message).not.toContain('did you mean')
  })

  it('allows private fields, those of any dialect, and other spellings', () => {
    const bare = { url: undefined, preferredTransport: undefined }
    const provider = { organization: 'A', url: 'https://a.example' }
    const url = 'https://review.example.com/a2a'
    const snakeCase = { url, protocol_binding: 'JSONRPC', protocol_version: '1.0' }
    expectIssues([
      [{ 'x-ai': {}, _note: 'x', $schema: 'https://example.com/card.json' }],
      [{ documentation_url: 'https://docs.example.com' }],
      [{ skills: [{ ...cleanSkill, inputSchema: {}, parameters: {} }] }],
      [{ provider: { ...provider, email: 'a@a.example', contactEmail: 'a@a.example' } }],
      [{ capabilities: { streaming: true, pushNotifications: false, contextWindow: 1 }, authentication: {} }],
      [
        {
          ...{ tags: ['x'], icon: 'https://example.com/i.png', supportUrl: 'https://example.com', rateLimits: {} },
          ...{ inputSchema: {}, outputSchema: {}, additionalCapabilities: {}, provider: { ...provider, name: 'A' } },
        },
      ],
      ...['stateHistory', 'multiModal', 'parallelToolCalls', 'authentication', 'rateLimit'].map(
        (name): [Record<string, Json>] => [
          { capabilities: { streaming: true, pushNotifications: false, [name]: true } },
        ],
      ),
      // Those of SuperX.
      [{ protocol: 'a2a', resources: [], prompts: [] }],
      ...['tools', 'resources', 'prompts', 'sampling'].map((name): [Record<string, Json>] => [
        { capabilities: { streaming: true, pushNotifications: false, [name]: null } },
      ]),
      [{ skills: [{ ...cleanSkill, outputSchema: {}, title: 'T', annotations: {} }] }],
      [{ ...bare, supportedInterfaces: [{ url, protocol: 'rest', protocolVersion: '1.0' }] }],
      [{ ...bare, protocolVersion: undefined, supported_interfaces: [snakeCase] }],
    ])
  })
})
