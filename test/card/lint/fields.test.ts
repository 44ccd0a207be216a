import { expect, it } from 'vitest'
import type { JsonObject } from '../../../src/json/json.ts'
import { cleanSkill } from '../../support/cards/cards.ts'
import { lintFields } from '../../support/cards/compile.ts'

const findings = (fields: JsonObject) =>
  lintFields(fields).map(({ rule, severity, pointer, message }) => [
    `${rule} ${severity} ${pointer}`,
    /did you mean (.*)\?/.exec(message)?.[1],
  ])

it.each<[string, JsonObject, string, string | undefined]>([
  ['another case', { IconURL: 'https://example.com/i.png' }, 'misspelt-field warning /IconURL', 'iconUrl'],
  ['underscores', { 'terms-of-service-url': 'x' }, 'misspelt-field warning /terms-of-service-url', 'termsOfServiceUrl'],
  ['a missing letter', { documentatonUrl: 'x' }, 'misspelt-field warning /documentatonUrl', 'documentationUrl'],
  ['two missing letters', { documentionUrl: 'x' }, 'misspelt-field warning /documentionUrl', 'documentationUrl'],
  ['exchanged letters', { provdier: 'x' }, 'misspelt-field warning /provdier', 'provider'],
  ['the wrong place', { extensions: [] }, 'misspelt-field warning /extensions', 'capabilities.extensions'],
  ['the name of a skill', { inputModes: [] }, 'misspelt-field warning /inputModes', 'defaultInputModes'],
  [
    'a capability',
    { capabilities: { streaming: true, pushNotifications: false, multiturn: true } },
    'misspelt-field warning /capabilities/multiturn',
    'multiTurn',
  ],
  [
    'a provider',
    { provider: { organization: 'Acme', url: 'https://acme.example', organisation: 'Acme' } },
    'unknown-field info /provider/organisation',
    undefined,
  ],
  [
    'a skill',
    { skills: [{ ...cleanSkill, inptuModes: [] }] },
    'misspelt-field warning /skills/0/inptuModes',
    'inputModes',
  ],
  [
    'an interface',
    { additionalInterfaces: [{ url: 'https://review.example.com/b', transport: 'GRPC', tennant: 'x' }] },
    'misspelt-field warning /additionalInterfaces/0/tennant',
    'tenant',
  ],
  ['what no dialect knows', { 'pay/ment': {} }, 'unknown-field info /pay~1ment', undefined],
  ['what is declared already', { skill: [] }, 'unknown-field info /skill', undefined],
  ["a name of Object's own", { toString: 'x' }, 'unknown-field info /toString', undefined],
])('finds %s', (_, fields, line, meant) => {
  expect(findings(fields)).toEqual([[line, meant]])
})

it.each<[string, JsonObject]>([
  ["an owner's own", { 'x-ai': {}, _note: 'x', $schema: 'https://example.com/card.json' }],
  ['snake_case that is read', { documentation_url: 'https://docs.example.com' }],
  ['what a skill may hold in SuperX and Telex', { skills: [{ ...cleanSkill, inputSchema: {}, parameters: {} }] }],
  [
    "Telex's",
    {
      supportedProtocols: ['a2a-v1'],
      metadata: {},
      supportsAuthenticatedExtendedCard: false,
      provider: { organization: 'A', url: 'https://a.example' },
    },
  ],
  ["Shaman's", { tags: ['x'], supportUrl: 'https://example.com', additionalCapabilities: {}, rateLimits: {} }],
])('knows %s', (_, fields) => {
  expect(findings(fields)).toEqual([])
})

it('tells of a field that recurs in every skill once', () => {
  const skills = ['a', 'b', 'c'].map(id => ({ ...cleanSkill, id, payment: {} }))
  expect(findings({ skills })).toEqual([['unknown-field info /skills/0/payment', undefined]])
})
