import { describe, expect, it } from 'vitest'
import { type AgentResult, exitCodeOf, type Strictness } from '../../cli/sync/result.ts'

const at = { file: 'a.json', line: 1, column: 1, pointer: '', message: '' }
const lintError = { issue: { rule: 'r', severity: 'error', pointer: '', message: '' }, at } as const

const lintWarning = { issue: { ...lintError.issue, severity: 'warning' }, at } as const
const dryRun = { differences: true }
const check = { differences: true, lint: 'error' } as const
const strict = { lint: 'warning' } as const

describe('exitCodeOf', () => {
  it.each<[string, Partial<AgentResult>[], Strictness, number]>([
    ['0 when everything is in sync', [{ action: 'unchanged' }, { action: 'updated' }], {}, 0],
    ['0 for agents that stay although no file describes them', [{ action: 'kept' }], check, 0],
    ['1 for a dry run that would write', [{ action: 'to update' }], dryRun, 1],
    ['1 with --check when something differs', [{ action: 'to update' }], check, 1],
    ['1 with --check when something would be deleted', [{ action: 'to delete' }], check, 1],
    ['1 with --check when lint finds an error', [{ action: 'unchanged', issues: [lintError] }], check, 1],
    ['0 with --check when lint finds a warning', [{ action: 'unchanged', issues: [lintWarning] }], check, 0],
    ['0 for a lint error without --check', [{ action: 'updated', issues: [lintError] }], {}, 0],
    ['0 for a lint error in a dry run', [{ action: 'unchanged', issues: [lintError] }], dryRun, 0],
    ['1 with --strict when lint finds an error', [{ action: 'updated', issues: [lintError] }], strict, 1],
    ['1 with --strict when lint finds a warning', [{ action: 'unchanged', issues: [lintWarning] }], strict, 1],
    ['1 when a card is not live in time', [{ action: 'updated', live: false }], {}, 1],
    ['3 for an invalid file', [{ action: 'invalid' }, { action: 'to create' }], check, 3],
    ['3 for a rejection', [{ action: 'refused' }], {}, 3],
    ['3 for a concurrent change', [{ action: 'changed meanwhile' }], {}, 3],
    ['3 for an agent of another set', [{ action: 'owned by another set' }], {}, 3],
    ['4 for a lost host', [{ action: 'invalid' }, { action: 'not pushed' }], {}, 4],
  ])('returns %s', (_, results, strictness, code) => {
    expect(exitCodeOf({ url: '', results: results as AgentResult[] }, strictness)).toBe(code)
  })

  it('returns 4 for a failure without any result', () => {
    expect(exitCodeOf({ url: '', results: [], failure: 'gone' })).toBe(4)
  })

  it('returns 130 after an interruption, whatever else happened', () => {
    const results: AgentResult[] = [{ action: 'not pushed' }, { action: 'invalid' }]
    expect(exitCodeOf({ url: '', results, failure: 'gone', interrupted: true })).toBe(130)
  })
})
