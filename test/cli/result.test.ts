import { describe, expect, it } from 'vitest'
import { type AgentResult, exitCodeOf } from '../../cli/sync/result.ts'

const at = { file: 'a.json', line: 1, column: 1, pointer: '', message: '' }
const lintError = { issue: { rule: 'r', severity: 'error', pointer: '', message: '' }, at } as const

describe('exitCodeOf', () => {
  it.each<[string, Partial<AgentResult>[], boolean, number]>([
    ['0 when everything is in sync', [{ action: 'unchanged' }, { action: 'updated' }], false, 0],
    ['0 for a dry run that would write', [{ action: 'to update' }], false, 0],
    ['1 with --check when something differs', [{ action: 'to update' }], true, 1],
    ['1 with --check when something would be deleted', [{ action: 'to delete' }], true, 1],
    ['1 with --check when lint finds an error', [{ action: 'unchanged', issues: [lintError] }], true, 1],
    ['0 for a lint error without --check', [{ action: 'updated', issues: [lintError] }], false, 0],
    ['1 when a card is not live in time', [{ action: 'updated', live: false }], false, 1],
    ['3 for an invalid file', [{ action: 'invalid' }, { action: 'to create' }], true, 3],
    ['3 for a rejection', [{ action: 'refused' }], false, 3],
    ['3 for a concurrent change', [{ action: 'changed meanwhile' }], false, 3],
    ['4 for a lost host', [{ action: 'invalid' }, { action: 'not pushed' }], false, 4],
  ])('returns %s', (_, results, check, code) => {
    expect(exitCodeOf({ url: '', results: results as AgentResult[] }, check)).toBe(code)
  })

  it('returns 4 for a failure without any result', () => {
    expect(exitCodeOf({ url: '', results: [], failure: 'gone' }, false)).toBe(4)
  })
})
