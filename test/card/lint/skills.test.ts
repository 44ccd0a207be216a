import { expect, it } from 'vitest'
import type { Json } from '../../../src/json/json.ts'
import { cleanSkill } from '../../support/cards/cards.ts'
import { formatIssues, lintFields } from '../../support/cards/compile.ts'

it.each<[string, Json | undefined, string[]]>([
  ['none', undefined, ['skills-undeclared info /skills']],
  ['an empty list', [], ['skills-undeclared info /skills']],
  ['one in order', [cleanSkill], []],
  [
    'a bare name',
    ['code_review'],
    ['thin-description warning /skills/0', 'tags-undeclared info /skills/0', 'few-examples info /skills/0'],
  ],
])('skills: %s', (_, skills, expected) => {
  expect(formatIssues(lintFields({ skills }))).toEqual(expected)
})

it.each<[string, Record<string, Json | undefined>, string[]]>([
  ['id in snake_case', { id: 'get_contents' }, ['skill-id-kebab-case info /skills/0/id']],
  ['id in camelCase', { id: 'getContents' }, ['skill-id-kebab-case info /skills/0/id']],
  ['id with two hyphens', { id: 'get--contents' }, ['skill-id-kebab-case info /skills/0/id']],
  ['id with a space', { id: 'get contents' }, ['skill-id-kebab-case info /skills/0/id']],
  ['id with a slash', { id: 'get/contents' }, ['skill-id-kebab-case info /skills/0/id']],
  ['id of 65 characters', { id: 'a'.repeat(65) }, ['skill-id-kebab-case info /skills/0/id']],
  ['id with digits', { id: '3d-models-2' }, []],
  ['no id: one was made', { id: undefined }, []],
  ['no tags', { tags: undefined }, ['tags-undeclared info /skills/0/tags']],
  ['empty tags', { tags: [] }, ['tags-undeclared info /skills/0/tags']],
  ['the tag that is the default, authored', { tags: ['general'] }, []],
  ['no examples', { examples: undefined }, ['few-examples info /skills/0/examples']],
  ['one example', { examples: ['Review this'] }, ['few-examples info /skills/0/examples']],
  ['one example, twice', { examples: ['Review this', ' Review this'] }, ['few-examples info /skills/0/examples']],
  ['three examples', { examples: ['a', 'b', 'c'] }, []],
])('a skill with %s: %j', (_, fields, expected) => {
  expect(formatIssues(lintFields({ skills: [JSON.parse(JSON.stringify({ ...cleanSkill, ...fields }))] }))).toEqual(
    expected,
  )
})
