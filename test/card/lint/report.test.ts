import { describe, expect, it } from 'vitest'
import { rules } from '../../../src/card/lint/index.ts'
import { cleanCard } from '../../support/cards/cards.ts'
import { formatIssues, lintCard, lintFields } from '../../support/cards/compile.ts'

describe('a lint report', () => {
  it('has no issues for a clean card', () => {
    expect(lintCard(cleanCard)).toEqual([])
  })

  it('has messages that say what to do', () => {
    expect(lintFields({ url: 'http://review.example.com/a2a' })).toEqual([
      { rule: 'insecure-url', severity: 'warning', pointer: '/url', message: expect.stringContaining('use https') },
    ])
  })

  it('has an example of a good value where the advice leaves the value open', () => {
    const open = [
      ...['placeholder-url', 'link-url', 'gateway-host', 'provider-incomplete', 'security-undeclared'],
      ...['capability-undeclared', 'thin-description', 'skills-undeclared', 'skill-id-kebab-case', 'tags-undeclared'],
      ...['few-examples', 'modes-undeclared', 'mode-media-type', 'version-semver', 'protocol-version-unknown'],
      ...['instruction-text', 'unknown-field', 'endpoint-is-card'],
    ]
    const summaries = rules.filter(({ id }) => open.includes(id)).map(({ summary }) => summary)
    expect([summaries.length, summaries.filter(summary => !/ (?:as in|such as) \S/.test(summary))]).toEqual([18, []])
  })

  it('has at most 100 issues, the most severe first, and the number of further ones', () => {
    const unknown = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`q${index}zzz`, 0]))
    const issues = lintFields({ ...unknown, extras: { note: 'a\u200bb' } })
    expect([issues.length, issues[0]?.rule, issues.at(-1)]).toEqual([
      101,
      'hidden-text',
      {
        rule: 'unknown-field',
        severity: 'info',
        pointer: '/q99zzz',
        message: expect.stringContaining('(one of 802 more)'),
      },
    ])
  })

  it('reports missing fields, and checks none of their defaults', () => {
    expect(
      formatIssues(
        lintCard({ name: 'My Agent', description: 'Finds flights and hotels', url: 'https://my-agent.example.com' }),
      ),
    ).toEqual([
      'security-undeclared info /securitySchemes',
      'capability-undeclared info /capabilities',
      'skills-undeclared info /skills',
      'modes-undeclared info /defaultInputModes',
      'modes-undeclared info /defaultOutputModes',
    ])
  })

  it('has rules with unique ids in kebab-case', () => {
    const ids = rules.map(({ id }) => id)
    expect(ids.filter((id, index) => !/^[a-z]+(?:-[a-z]+)*$/.test(id) || ids.indexOf(id) !== index)).toEqual([])
  })
})
