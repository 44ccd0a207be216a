import { describe, expect, it } from 'vitest'
import { cleanCard } from '../../support/cards/cards.ts'
import { formatIssues, lintCard, lintFields } from '../../support/cards/compile.ts'

describe('a lint report', () => {
  it('has no issues for a clean card', () => {
    expect(lintCard(cleanCard)).toEqual([])
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
})
