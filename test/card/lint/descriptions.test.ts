import { expect, it } from 'vitest'
import { cleanSkill } from '../../support/cards/cards.ts'
import { formatIssues, lintFields } from '../../support/cards/compile.ts'

const thinAgent = 'thin-description warning /description'
const thinSkill = 'thin-description warning /skills/0/description'

it.each([
  ['Handles code stuff', [thinAgent]],
  ['Handles code security.', [thinAgent]],
  ['Does something useful', [thinAgent]],
  ['A helpful assistant for everything', [thinAgent]],
  ['Code Review Agent', [thinAgent]],
  ['代码审查', [thinAgent]],
  ['Search the web for information', []],
  ['Analyze and summarize documents', []],
  ['Prüft Verträge auf Risiken', []],
  ['审查代码中的安全漏洞和风格问题', []],
  [`${' '.repeat(300)}Search the web for information`, []],
  ['ok '.repeat(5000), []],
])('an agent described as %j: %j', (description, expected) => {
  expect(formatIssues(lintFields({ description }))).toEqual(expected)
})

it.each([
  ['Handles code stuff', [thinSkill]],
  ['Review', [thinSkill]],
  ['code review', [thinSkill]],
  [undefined, [thinSkill]],
  ['Create bar charts from tables', []],
])('a skill described as %j: %j', (description, expected) => {
  expect(formatIssues(lintFields({ skills: [JSON.parse(JSON.stringify({ ...cleanSkill, description }))] }))).toEqual(
    expected,
  )
})
