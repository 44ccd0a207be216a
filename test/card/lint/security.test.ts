import { expect, it } from 'vitest'
import type { Json } from '../../../src/json/json.ts'
import { cleanSkill } from '../../support/cards/cards.ts'
import { formatIssues, lintFields } from '../../support/cards/compile.ts'

const provider = { organization: 'Acme', url: 'https://acme.example' }
const bearer = { type: 'http', scheme: 'bearer' }

it.each<[string, Record<string, Json | undefined>, string[]]>([
  ['an unknown name', { security: [{ bearer: [] }, { oauth: [] }] }, ['scheme-undefined error /security/1/oauth']],
  [
    'an unknown name beside a known one',
    { security: [{ bearer: [], oauth: [] }] },
    ['scheme-undefined error /security/0/oauth'],
  ],
  ['an object in place of the list', { security: { oauth: [] } }, ['scheme-undefined error /security/oauth']],
  ["a name of Object's own", { security: [{ toString: [] }] }, ['scheme-undefined error /security/0/toString']],
  [
    "v1.0's form",
    { security: undefined, securityRequirements: [{ schemes: { oauth: { list: [] } } }] },
    ['scheme-undefined error /securityRequirements/0/schemes/oauth'],
  ],
  [
    'a skill',
    { skills: [{ ...cleanSkill, security: [{ 'a/b': [] }] }] },
    ['scheme-undefined error /skills/0/security/0/a~1b'],
  ],
  ['a skill that names a defined scheme', { skills: [{ ...cleanSkill, security: [{ bearer: ['read'] }] }] }, []],
  ['no requirement', { security: undefined }, []],
  ['an empty requirement, for anonymous calls', { security: [{}] }, []],
  [
    'several flows of one scheme',
    {
      securitySchemes: {
        oauth: {
          type: 'oauth2',
          flows: {
            clientCredentials: { tokenUrl: 'https://id.example.com/token', scopes: {} },
            authorizationCode: {
              authorizationUrl: 'https://id.example.com/authorize',
              tokenUrl: 'https://id.example.com/token',
              scopes: {},
            },
          },
        },
      },
      security: [{ oauth: [] }],
    },
    [],
  ],
])('a requirement with %s', (_, fields, expected) => {
  expect(formatIssues(lintFields(fields))).toEqual(expected)
})

it.each<[string, Record<string, Json | undefined>, string[]]>([
  ['none', {}, ['security-undeclared info /securitySchemes']],
  ['none that it names', { securitySchemes: {} }, ['security-undeclared info /securitySchemes']],
  ['one', { securitySchemes: { bearer } }, []],
  ["v0.2's authentication", { authentication: { schemes: ['bearer'] } }, []],
  ["Telex's word that none is needed", { authentication: { required: false, methods: [] }, provider }, []],
])('a card that declares %s', (_, fields, expected) => {
  expect(formatIssues(lintFields({ securitySchemes: undefined, security: undefined, ...fields }))).toEqual(expected)
})
