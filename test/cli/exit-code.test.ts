import { describe, expect, it } from 'vitest'
import { exitCodeOf, type Result } from '../../cli/sync/outcome.ts'

const at = { file: 'a.json', line: 1, column: 1, pointer: '', message: '' }
const lintError = { issue: { rule: 'r', severity: 'error', pointer: '', message: '' }, at } as const

describe('the exit code of a synchronisation', () => {
  it.each<[string, Partial<Result>[], boolean, number]>([
    ['all in sync', [{ action: 'unchanged' }, { action: 'updated' }], false, 0],
    ['a dry run that would write', [{ action: 'to update' }], false, 0],
    ['--check, and something differs', [{ action: 'to update' }], true, 1],
    ['--check, and something would be deleted', [{ action: 'to delete' }], true, 1],
    ['--check, and lint finds an error', [{ action: 'unchanged', findings: [lintError] }], true, 1],
    ['a lint error without --check', [{ action: 'updated', findings: [lintError] }], false, 0],
    ['not live in time', [{ action: 'updated', live: false }], false, 1],
    ['a bad file', [{ action: 'invalid' }, { action: 'to create' }], true, 3],
    ['a refusal', [{ action: 'refused' }], false, 3],
    ['somebody else wrote', [{ action: 'changed meanwhile' }], false, 3],
    ['a host that went away', [{ action: 'invalid' }, { action: 'not pushed' }], false, 4],
  ])('%s', (_, results, check, code) => {
    expect(exitCodeOf({ url: '', results: results as Result[] }, check)).toBe(code)
  })

  it('tells a failure even where no file was concerned', () => {
    expect(exitCodeOf({ url: '', results: [], failure: 'gone' }, false)).toBe(4)
  })
})
