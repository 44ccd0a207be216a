import { expect, it } from 'vitest'
import type { Json } from '../../../src/json/json.ts'
import { cleanSkill } from '../../support/cards/cards.ts'
import { formatIssues, lintFields } from '../../support/cards/compile.ts'

it.each<[string, Record<string, Json | undefined>, string[]]>([
  ['input modes undeclared', { defaultInputModes: undefined }, ['modes-undeclared info /defaultInputModes']],
  ['output modes empty', { defaultOutputModes: [] }, ['modes-undeclared info /defaultOutputModes']],
  ['a word', { defaultInputModes: ['text/plain', 'text'] }, ['mode-media-type warning /defaultInputModes/1']],
  ['a word without its list', { defaultInputModes: 'text' }, ['mode-media-type warning /defaultInputModes']],
  ['a type without a subtype', { defaultOutputModes: ['image/'] }, ['mode-media-type warning /defaultOutputModes/0']],
  ['two slashes', { defaultOutputModes: ['a/b/c'] }, ['mode-media-type warning /defaultOutputModes/0']],
  ['a space inside', { defaultOutputModes: ['text/ plain'] }, ['mode-media-type warning /defaultOutputModes/0']],
  ['parameters', { defaultInputModes: ['text/plain; charset=utf-8', 'application/json;profile="a/b;c"'] }, []],
  ['a wildcard', { defaultInputModes: ['image/*', '*/*'] }, []],
  ['a vendor type with a suffix', { defaultInputModes: ['application/vnd.acme.v2+json'] }, []],
  [
    "a skill's word",
    { skills: [{ ...cleanSkill, inputModes: ['image/png', 'file'], outputModes: 'text' }] },
    ['mode-media-type warning /skills/0/inputModes/1', 'mode-media-type warning /skills/0/outputModes'],
  ],
  ["a skill's media types", { skills: [{ ...cleanSkill, inputModes: ['image/png'] }] }, []],
  [
    'a word in the snake_case field',
    { defaultInputModes: undefined, default_input_modes: ['text'] },
    ['mode-media-type warning /default_input_modes/0'],
  ],
])('modes with %s', (_, fields, expected) => {
  expect(formatIssues(lintFields(fields))).toEqual(expected)
})

it("points at GopherHole's own names", () => {
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
