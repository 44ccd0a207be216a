import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import type { Issue } from '../../../src/card/model/report.ts'
import { formatPointer, type Json, parsePointer } from '../../../src/json/json.ts'
import { parseJson } from '../../../src/json/parse.ts'
import { corpus, hasReference } from '../../support/cards/reference.ts'

/** Whether a place is there, or names a member that its object lacks. */
const resolves = (document: Json, place: string): boolean => {
  const path = parsePointer(place)
  const last = path.pop()
  let parent: Json | undefined = document
  for (const token of path) parent = Object(parent)[token]
  if (last === undefined) return true
  return typeof parent === 'object' && parent !== null && (!Array.isArray(parent) || last in parent)
}

const cards = corpus.flatMap(({ file, text }): [string, Json, Issue[]][] => {
  const parsed = parseJson(text)
  if (!('value' in parsed)) return []
  const result = compile(parsed.value, { id: 'agent', requestOrigin: 'https://host.example' })
  return 'errors' in result ? [] : [[file, parsed.value, result.compiled.report.issues]]
})

describe.skipIf(!hasReference)('real cards (skipped where ../shared/corpus is absent)', () => {
  it('holds cards that register', () => {
    expect(cards.length).toBeGreaterThan(15)
  })

  it.each(cards)('%s: every issue points into the card', (_, card, issues) => {
    expect(issues.filter(issue => !resolves(card, issue.pointer))).toEqual([])
  })

  it('finds something in many, and the worst in few', () => {
    const severe = cards.filter(([, , issues]) => issues.some(issue => issue.severity === 'error'))
    expect(severe.length).toBeLessThan(cards.length / 2)
  })
})

it.each(['/skills/0', formatPointer('a/b'), ''])('resolves %j', place => {
  expect(resolves({ skills: ['x'], 'a/b': 1 }, place)).toBe(true)
})
it.each(['/skills/0/id', '/skills/1', '/none/of/it'])('does not resolve %j', place => {
  expect(resolves({ skills: ['x'] }, place)).toBe(false)
})
