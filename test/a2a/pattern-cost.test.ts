import { describe, expect, it } from 'vitest'
import { longestMatched as n, patternCost } from '../../src/mcp-bridge/tools/validation-budget.ts'

describe('what a pattern may cost', () => {
  it.each<[pattern: string, cost: number]>([
    ['^[A-Z]{3}$', 1],
    ['^\\d{4}-\\d{2}-\\d{2}$', 1],
    ['abc', n],
    ['^a+$', n],
    ['^a+@b+$', n * n],
    ['^a+?$', n],
    ['^a{2,}$', n],
    ['^a{2,5}$', 4],
    ['^a?b?$', 4],
    ['^(a|b|c)$', 3],
    ['^(?:a|b){3}$', 8],
    ['^(?:a|b){2,3}$', 16],
    ['^(?:ab)?$', 2],
    ['^(?=a+)b$', n],
    ['^[a|(]+\\)\\+$', n],
    ['^\\p{L}+\\u{61}$', n],
    // Alternatives at the top make the first character no anchor of all of them.
    ['^a|b', 2],
  ])('%s', (pattern, cost) => {
    expect(patternCost(pattern)).toBe(cost)
  })

  it.each(['(a+)+$', '^(a*)*b', '^(?:a|a)*$', '(a)\\1', '^(?<x>a)\\k<x>$', '(', ')', '^(a{0,30}){0,30}$'])(
    '%s: too much to tell',
    pattern => {
      expect(patternCost(pattern)).toBe(Number.POSITIVE_INFINITY)
    },
  )
})
