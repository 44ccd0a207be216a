import { describe, expect, it } from 'vitest'
import { rules } from '../../../src/card/lint/index.ts'
import type { LintContext } from '../../../src/card/lint/rule.ts'
import { cleanCard, cleanSkill } from '../../support/cards/cards.ts'

/** Beginnings and repetitions on which a careless pattern runs back and forth. */
const hostile = [
  'a',
  ' ',
  '\n',
  '-',
  '.',
  ':',
  '/',
  '?',
  '=',
  '0',
  '1a',
  'eyJ',
  'eyJa.',
  'sk-',
  'AKIA',
  'xoxb-',
  '://a:',
  '://',
  '?key=',
  '&token',
  '-----BEGIN ',
  '-----BEGIN A ',
  'ignore ',
  'ignore all ',
  'you must ',
  'always use a ',
  'send all a ',
  'x_',
  'A_',
  '_live_',
  'a_live_',
  'gh',
  '\u200d',
  '\u{e0100}',
  '\u{1f3f4}',
  '\u{1f3f4}\u{e0067}',
  '\ufe01',
  '葛',
  'é',
  '<|',
  '[/',
  '1.0.0-',
  '1.0.0-a.',
  'SG.a',
]

const subjectOf = (text: string, count: number): LintContext => {
  const skills = Array.from({ length: count }, (_, index) => ({ ...cleanSkill, id: `s${index}`, description: text }))
  const authored = { ...cleanCard, version: text, name: text, description: text, skills, token: text, password: text }
  return {
    card: {
      ...cleanCard,
      ...authored,
      supportedInterfaces: [{ url: cleanCard.url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' }],
      securitySchemes: {},
      securityRequirements: [],
    },
    authored,
    dialect: '0.3',
    manifest: { card: authored, visibility: 'public', hosts: [], route: 'direct', upstream: {}, gate: {} },
    at: place => place,
  }
}

/** The best of several runs: the least that the work takes, whatever else the machine does. */
const duration = (run: () => void): number => {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 4; round++) {
    const start = performance.now()
    run()
    best = Math.min(best, performance.now() - start)
  }
  return best
}

// A longest string is 16 KiB; something quadratic takes seconds on eight of them, something linear about a millisecond each.
describe('the time of every rule is linear in the text', () => {
  it.each(hostile)('of %j, over and over', piece => {
    const text = piece.repeat(Math.floor((16 * 1024) / piece.length))
    const subject = subjectOf(text, 4)
    const slow = rules.filter(rule => duration(() => rule.check(subject)) > 60).map(({ id }) => id)
    expect(slow).toEqual([])
  })
})

it('takes ten times the time for ten times the members, not a hundred', () => {
  const withMembers = (count: number): LintContext => {
    const subject = subjectOf('Reviews code for vulnerabilities and style', 1)
    const names = Array.from({ length: count }, (_, index) => [`documentationUrk${index}`, 'x'] as const)
    return { ...subject, authored: { ...subject.authored, ...Object.fromEntries(names) } }
  }
  const timeOf = (count: number) => {
    const subject = withMembers(count)
    return duration(() => {
      for (const rule of rules) rule.check(subject)
    })
  }
  timeOf(1000)
  expect(timeOf(10_000) / timeOf(1000)).toBeLessThan(40)
})
