import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { cleanSkill } from '../../support/cards/cards.ts'
import { lintFields } from '../../support/cards/compile.ts'

describe('the linter on field names', () => {
  const lintFieldNames = (fields: Record<string, Json | undefined>) =>
    lintFields(fields).map(({ rule, severity, pointer, message }) => [
      `${rule} ${severity} ${pointer}`,
      /did you mean (.*)\?/.exec(message)?.[1],
    ])

  it.each<[string, JsonObject, string, string | undefined]>([
    ['a field in another case', { IconURL: 'https://example.com/i.png' }, 'misspelt-field warning /IconURL', 'iconUrl'],
    [
      'a field in kebab-case',
      { 'terms-of-service-url': 'x' },
      'misspelt-field warning /terms-of-service-url',
      'termsOfServiceUrl',
    ],
    [
      'a field without a letter',
      { documentatonUrl: 'x' },
      'misspelt-field warning /documentatonUrl',
      'documentationUrl',
    ],
    [
      'a field without two letters',
      { documentionUrl: 'x' },
      'misspelt-field warning /documentionUrl',
      'documentationUrl',
    ],
    ['a field with exchanged letters', { provdier: 'x' }, 'misspelt-field warning /provdier', 'provider'],
    ['a field of another object', { extensions: [] }, 'misspelt-field warning /extensions', 'capabilities.extensions'],
    ['a field of skills', { inputModes: [] }, 'misspelt-field warning /inputModes', 'defaultInputModes'],
    [
      'an unknown capability',
      { capabilities: { streaming: true, pushNotifications: false, multiturn: true } },
      'misspelt-field warning /capabilities/multiturn',
      'multiTurn',
    ],
    [
      'an unknown field of a provider',
      { provider: { organization: 'Acme', url: 'https://acme.example', organisation: 'Acme' } },
      'unknown-field info /provider/organisation',
      undefined,
    ],
    [
      'an unknown field of a skill',
      { skills: [{ ...cleanSkill, inptuModes: [] }] },
      'misspelt-field warning /skills/0/inptuModes',
      'inputModes',
    ],
    [
      'an unknown field of an interface',
      { additionalInterfaces: [{ url: 'https://review.example.com/b', transport: 'GRPC', tennant: 'x' }] },
      'misspelt-field warning /additionalInterfaces/0/tennant',
      'tenant',
    ],
    ['an unknown field', { 'pay/ment': {} }, 'unknown-field info /pay~1ment', undefined],
    ['a field like a declared one', { skill: [] }, 'unknown-field info /skill', undefined],
    ['a name of a member of Object.prototype', { toString: 'x' }, 'unknown-field info /toString', undefined],
  ])('reports %s', (_, fields, line, suggestion) => {
    expect(lintFieldNames(fields)).toEqual([[line, suggestion]])
  })

  it.each<[string, Record<string, Json | undefined>]>([
    ['a private field', { 'x-ai': {}, _note: 'x', $schema: 'https://example.com/card.json' }],
    ['a field in snake_case', { documentation_url: 'https://docs.example.com' }],
    ['a field of skills in SuperX and Telex', { skills: [{ ...cleanSkill, inputSchema: {}, parameters: {} }] }],
    [
      'a field of Telex',
      {
        supportedProtocols: ['a2a-v1'],
        metadata: {},
        supportsAuthenticatedExtendedCard: false,
        provider: { organization: 'A', url: 'https://a.example' },
      },
    ],
    [
      'a field of Shaman',
      { tags: ['x'], supportUrl: 'https://example.com', additionalCapabilities: {}, rateLimits: {} },
    ],
    [
      'the protocol of an interface that names its transport',
      {
        url: undefined,
        preferredTransport: undefined,
        supportedInterfaces: [{ url: 'https://review.example.com/a2a', protocol: 'rest', protocolVersion: '1.0' }],
      },
    ],
    [
      'interfaces in snake_case',
      {
        url: undefined,
        preferredTransport: undefined,
        protocolVersion: undefined,
        supported_interfaces: [
          { url: 'https://review.example.com/a2a', protocol_binding: 'JSONRPC', protocol_version: '1.0' },
        ],
      },
    ],
    ['a transport in both spellings', { preferredTransport: 'JSONRPC', preferred_transport: 'JSONRPC' }],
    ['a transport by another name', { preferredTransport: undefined, transport: 'http' }],
  ])('allows %s', (_, fields) => {
    expect(lintFieldNames(fields)).toEqual([])
  })

  it('reports a field once if every skill has it', () => {
    const skills = ['a', 'b', 'c'].map(id => ({ ...cleanSkill, id, payment: {} }))
    expect(lintFieldNames({ skills })).toEqual([['unknown-field info /skills/0/payment', undefined]])
  })
})
