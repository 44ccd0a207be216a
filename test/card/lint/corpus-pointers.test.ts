import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import type { Issue } from '../../../src/card/model/report.ts'
import { formatPointer, type Json, parsePointer } from '../../../src/json/json.ts'
import { parseJson } from '../../../src/json/parse.ts'
import { registration } from '../../support/cards/compile.ts'
import { corpus, hasReference } from '../../support/cards/reference.ts'

/** Checks whether a pointer is to an existing value, or to a missing member of an existing object. */
const resolvesPointer = (document: Json, pointer: string): boolean => {
  const path = parsePointer(pointer)
  const last = path.pop()
  let parent: Json | undefined = document
  for (const token of path) parent = Object(parent)[token]
  if (last === undefined) return true
  return typeof parent === 'object' && parent !== null && (!Array.isArray(parent) || last in parent)
}

const cards = corpus.flatMap(({ file, text }): [string, Json, Issue[]][] => {
  const parsed = parseJson(text)
  if (!('value' in parsed)) return []
  const result = compile(parsed.value, registration)
  return 'errors' in result ? [] : [[file, parsed.value, result.compiled.report.issues]]
})

describe('the linter with the cards of the corpus', () => {
  it('returns only pointers into the card', () => {
    expect(cards.length).toBeGreaterThanOrEqual(hasReference ? 26 : 11)
    for (const [file, card, issues] of cards)
      expect([file, issues.filter(issue => !resolvesPointer(card, issue.pointer))]).toEqual([file, []])
  })

  it('reports errors for less than half of the cards', () => {
    const severe = cards.filter(([, , issues]) => issues.some(issue => issue.severity === 'error'))
    expect(severe.length).toBeLessThan(cards.length / 2)
  })
})

it('resolvesPointer finds what exists, or could be added to an object', () => {
  const document = { skills: ['x'], 'a/b': 1 }
  const pointers = ['/skills/0', formatPointer('a/b'), '', '/skills/0/id', '/skills/1', '/none/of/it']
  expect(pointers.filter(pointer => resolvesPointer(document, pointer))).toEqual(pointers.slice(0, 3))
})
