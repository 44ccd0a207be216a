import { describe, expect, it } from 'vitest'
import { rules } from '../../../src/card/lint/index.ts'
import type { LintContext } from '../../../src/card/lint/rule.ts'
import { cleanCard, cleanSkill } from '../../support/cards/cards.ts'
import { growth, isFasterThan, linear } from '../../support/cpu-time.ts'

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
    manifest: { card: authored, visibility: 'public', hosts: [], route: 'direct', upstream: {}, gate: {} },
    sourceOf: pointer => pointer,
  }
}

// A longest string is 16 KiB; something quadratic takes seconds on eight of them, something linear about a millisecond each.
describe('the time of every rule is linear in the text', () => {
  it.each(hostile)('of %j, over and over', piece => {
    const text = piece.repeat(Math.floor((16 * 1024) / piece.length))
    const subject = subjectOf(text, 4)
    const slow = rules.filter(rule => !isFasterThan(60, () => rule.check(subject))).map(({ id }) => id)
    expect(slow).toEqual([])
  })
})

it('takes ten times the time for ten times the members, not a hundred', () => {
  const subjects = [1000, 10_000].map(count => {
    const subject = subjectOf('Reviews code for vulnerabilities and style', 1)
    const names = Array.from({ length: count }, (_, index) => [`documentationUrk${index}`, 'x'] as const)
    return [count, { ...subject, authored: { ...subject.authored, ...Object.fromEntries(names) } }] as const
  })
  const subjectWith = new Map<number, LintContext>(subjects)
  const checkAll = (count: number) => rules.map(rule => rule.check(subjectWith.get(count) as LintContext))
  expect(growth(1000, checkAll)).toBeLessThan(linear)
})
