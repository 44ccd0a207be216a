import { describe, expect, it } from 'vitest'
import type { Draft } from '../../cli/manifests/draft.ts'
import { describeOtherOwner, planStep } from '../../cli/sync/plan.ts'
import { type AgentResult, exitCodeOf, type Strictness } from '../../cli/sync/result.ts'

const at = { file: 'a.json', line: 1, column: 1, pointer: '', message: '' }
const lintError = { issue: { rule: 'r', severity: 'error', pointer: '', message: '' }, at } as const

const lintWarning = { issue: { ...lintError.issue, severity: 'warning' }, at } as const
const dryRun = { differences: true }
const check = { differences: true, lint: 'error' } as const
const strict = { lint: 'warning' } as const

describe('the exit code of results', () => {
  it('is the highest of their causes', () => {
    const rows: [results: Partial<AgentResult>[], strictness: Strictness, code: number][] = [
      [[{ action: 'unchanged' }, { action: 'updated' }], {}, 0],
      [[{ action: 'kept' }], check, 0],
      [[{ action: 'to update' }], dryRun, 1],
      [[{ action: 'to update' }], check, 1],
      [[{ action: 'to delete' }], check, 1],
      [[{ action: 'unchanged', issues: [lintError] }], check, 1],
      [[{ action: 'unchanged', issues: [lintWarning] }], check, 0],
      [[{ action: 'updated', issues: [lintError] }], {}, 0],
      [[{ action: 'unchanged', issues: [lintError] }], dryRun, 0],
      [[{ action: 'updated', issues: [lintError] }], strict, 1],
      [[{ action: 'unchanged', issues: [lintWarning] }], strict, 1],
      [[{ action: 'updated', live: false }], {}, 1],
      [[{ action: 'invalid' }, { action: 'to create' }], check, 3],
      [[{ action: 'refused' }], {}, 3],
      [[{ action: 'changed meanwhile' }], {}, 3],
      [[{ action: 'owned by another set' }], {}, 3],
      [[{ action: 'invalid' }, { action: 'not pushed' }], {}, 4],
    ]
    for (const [results, strictness, code] of rows) {
      const what = JSON.stringify([results, strictness])
      expect(exitCodeOf({ url: '', results: results as AgentResult[] }, strictness), what).toBe(code)
    }
  })

  it('is 4 for a failure without any result, and 130 after an interruption, whatever else happened', () => {
    expect(exitCodeOf({ url: '', results: [], failure: 'gone' })).toBe(4)
    const results: AgentResult[] = [{ action: 'not pushed' }, { action: 'invalid' }]
    expect(exitCodeOf({ url: '', results, failure: 'gone', interrupted: true })).toBe(130)
  })
})

const draft = (manifest: object): Draft => ({ file: 'a.json', id: 'a', manifest, sourceMap: {} }) as unknown as Draft
const registeredAs = (manifest: object | undefined) => (manifest && { manifest, etag: '"1"' }) as never

it('planStep compares a manifest with what is registered, in any order of members', () => {
  const card = { url: 'u', name: 'A' }
  const rows: [registered: object | undefined, todo: string][] = [
    [undefined, 'create'],
    [{ card }, 'nothing'],
    // A bare card that was registered with curl.
    [{ name: 'A', url: 'u' }, 'nothing'],
    [{ id: 'a', card: { name: 'A', url: 'u' } }, 'nothing'],
    [{ card: { name: 'B', url: 'u' } }, 'update'],
    [{ card, hosts: ['*'] }, 'update'],
  ]
  for (const [registered, todo] of rows)
    expect(planStep(draft({ card: { name: 'A', url: 'u' } }), registeredAs(registered))).toMatchObject({ todo })
})

it('describeOtherOwner names the set that an agent belongs to', () => {
  const owner = (set: string | undefined, registered?: object) =>
    describeOtherOwner(draft({ card: {}, ...(set && { set }) }), registeredAs(registered))
  const theirs = { card: {}, set: 'theirs' }
  const advice = 'choose another id, or take it over with --force'
  for (const registered of [undefined, { card: {}, set: 'mine' }, { card: {} }])
    expect(owner('mine', registered)).toBeUndefined()
  expect(owner(undefined, { card: {} })).toBeUndefined()
  expect(owner('mine', theirs)).toBe(`it belongs to the set theirs, and this file is of the set mine: ${advice}`)
  expect(owner(undefined, theirs)).toBe(`it belongs to the set theirs, and this file names no set: ${advice}`)
})
