import { describe, expect, it } from 'vitest'
import { didYouMean, suggestField, suggestMisspelling } from '../../cli/did-you-mean.ts'
import type { Json } from '../../src/json/json.ts'
import { card, Workspace } from './workspace.ts'

describe('didYouMean', () => {
  const known = ['visibility', 'route', 'set', 'hosts', '1.0', '0.3', 'gopherhole']

  it('suggests a similar name, or nothing', () => {
    const similar = {
      ...{ visiblity: 'visibility', Visibility: 'visibility', sett: 'set', '1': '1.0', gopher: 'gopherhole' },
    }
    for (const [unknown, name] of Object.entries(similar))
      expect(didYouMean(unknown, known)).toBe(` Did you mean "${name}"?`)
    for (const unknown of ['x', 'zzt', '', 'description', 'v'.repeat(100_000)])
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

it('finds the misspelt name of a missing field, or none', () => {
  const found = (pointer: string, document: Json, message = 'is missing') =>
    suggestMisspelling({ pointer, message }, document).message
  const did = (names: string) => `is missing. Did you write ${names}?`
  const misspelt = { card: { name: 'A', descripton: 'x' } }
  expect(found('/card/description', misspelt)).toBe(did('"descripton" for "description"'))
  expect(found('/card/skills/1/tags', { card: { skills: [{}, { tag: [] }] } })).toBe(did('"tag" for "tags"'))
  expect(found('/card/name', { card: { crad: {}, visibility: 'public' } })).toBe(did('"crad" for "card"'))
  expect(found('/card/description', { card: { name: 'A', url: 'x' } })).toBe('is missing')
  expect(found('/card/name', { card: { name: 1, nam: 'A' } }, 'must be a string')).toBe('must be a string')
})

it('sync-card suggests what was meant', async () => {
  const workspace = new Workspace({
    'cards/a.json': { visiblity: 'internal', gate: { capabilites: 'off' }, card: card('a') },
    'typo/c.yaml': 'name: C\ndescripton: Forecasts rain\nurl: https://c.example.com\n',
    'more/b.json': card('b'),
  })
  const rows: [args: string, message: RegExp][] = [
    ['lint typo', /c\.yaml:1:1 error \/description is missing\. Did you write "descripton"/],
    ['lint cards', /\/gate\/capabilites .* Did you mean "capabilities"\?/],
    ['convert more --to 0.4', /'0\.4' is invalid\. Did you mean "0\.3"\? Allowed choices are agent-card\.json, /],
    ['lnt', /"lnt" is neither a file nor a command\. Did you mean "lint"\? The commands are \w+,/],
    ['crads', /Did you mean "cards"\?/],
  ]
  for (const [args, message] of rows) {
    const { code, stdout, stderr } = await workspace.run(args.split(' '))
    expect(stdout + stderr).toMatch(message)
    expect([args, code]).toEqual([args, stdout === '' ? 2 : 3])
  }
})
