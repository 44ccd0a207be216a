import { describe, expect, it } from 'vitest'
import { didYouMean, suggestField, suggestMisspelling } from '../../cli/did-you-mean.ts'
import type { Json } from '../../src/json/json.ts'
import { card, Workspace } from './workspace.ts'

describe('didYouMean', () => {
  const known = ['visibility', 'route', 'set', 'hosts', '1.0', '0.3', 'gopherhole']

  it.each([
    ['visiblity', 'visibility'],
    ['Visibility', 'visibility'],
    ['rout', 'route'],
    ['sett', 'set'],
    ['host', 'hosts'],
    ['1', '1.0'],
    ['0.30', '0.3'],
    ['gopher', 'gopherhole'],
  ])('suggests for %s the name %s', (unknown, name) => {
    expect(didYouMean(unknown, known)).toBe(` Did you mean "${name}"?`)
  })

  it.each(['klingon', 'x', 'zzt', '', 'description', 'v'.repeat(100_000)])('suggests nothing for %.20s', unknown => {
    expect(didYouMean(unknown, known)).toBe('')
  })
})

it('adds a suggestion only to messages about unknown fields', () => {
  const error = { pointer: '/upstream/sceret', message: 'is not a known field here. Known fields: url, secret' }
  expect(suggestField(error)).toEqual({
    ...error,
    message: 'is not a known field here. Did you mean "secret"? Known fields: url, secret',
  })
  const other = { pointer: '/route', message: 'must be direct, gateway or closed' }
  expect(suggestField(other)).toEqual(other)
})

it.each<[string, string, Json, string]>([
  [
    'a field of a card',
    '/card/description',
    { card: { name: 'A', descripton: 'x' } },
    '"descripton" for "description"',
  ],
  ['a field in a list', '/card/skills/1/tags', { card: { skills: [{}, { tag: [] }] } }, '"tag" for "tags"'],
  ['the card of a manifest', '/card/name', { card: { crad: {}, visibility: 'public' } }, '"crad" for "card"'],
])('finds the misspelt name of a missing field: %s', (_, pointer, document, names) => {
  const error = { pointer, message: 'is missing' }
  expect(suggestMisspelling(error, document).message).toBe(`is missing. Did you write ${names}?`)
})

it.each<[string, string, string, Json]>([
  ['nothing is similar', '/card/description', 'is missing', { card: { name: 'A', url: 'x' } }],
  ['nothing is there', '/card/description', 'is missing', {}],
  ['the field is there', '/card/name', 'must be a string', { card: { name: 1, nam: 'A' } }],
])('suggests no misspelling where %s', (_, pointer, message, document) => {
  expect(suggestMisspelling({ pointer, message }, document)).toEqual({ pointer, message })
})

describe('sync-card suggests', () => {
  const files = {
    'cards/a.json': { visiblity: 'internal', gate: { capabilites: 'off' }, card: card('a') },
    'typo/c.yaml': 'name: C\ndescripton: Forecasts rain\nurl: https://c.example.com\n',
    'more/b.json': card('b'),
    'more/defaults.yaml': 'visiblity: internal\n',
  }

  it.each([
    [
      'a field of a manifest',
      ['lint', 'cards'],
      /a\.json:2:3 error \/visiblity .* Did you mean "visibility"\? Known fields: id,/,
    ],
    ['a field of a card', ['lint', 'typo'], /c\.yaml:1:1 error \/description is missing\. Did you write "descripton"/],
    ['a field of a part of it', ['lint', 'cards'], /\/gate\/capabilites .* Did you mean "capabilities"\?/],
    [
      'a field of the defaults',
      ['lint', 'more'],
      /defaults\.yaml:1:1 error \/visiblity .* Did you mean "visibility"\?/,
    ],
    [
      'a dialect',
      ['convert', 'more', '--to', '0.4'],
      /'0\.4' is invalid\. Did you mean "0\.3"\? Allowed choices are agent-card\.json, /,
    ],
    ['a format', ['lint', '--format', 'sarf'], /Did you mean "sarif"\? Allowed choices are text, json, sarif\./],
    ['a command', ['lnt'], /"lnt" is neither a file nor a command\. Did you mean "lint"\? The commands are \w+,/],
    ['the folder', ['crads'], /Did you mean "cards"\?/],
    ['a file', ['lint', 'more/bb.json'], /more\/bb\.json does not exist\. Did you mean "more\/b\.json"\?/],
    ['a flag', ['lint', '--observd'], /Did you mean --observed\?/],
  ])('%s', async (_, args, message) => {
    const { code, stdout, stderr } = await new Workspace(files).run(args)
    expect(stdout + stderr).toMatch(message)
    expect(code).toBe(stdout === '' ? 2 : 3)
  })
})
