import { describe, expect, it } from 'vitest'
import { collectSecrets, lint, rules } from '../../../src/card/lint/index.ts'
import type { LintContext } from '../../../src/card/lint/rule.ts'
import { collectStrings } from '../../../src/json/tree.ts'
import { cleanCard, cleanSkill } from '../../support/cards/cards.ts'
import { growth, isFasterThan, linear } from '../../support/cpu-time.ts'

/** Strings whose repetitions make a careless pattern backtrack. */
const hostileTexts = [
  ...'a \n-.:/?=0葛é\u200d\ufe01',
  ...'1a eyJ eyJa. sk- AKIA xoxb- ://a: :// ?key= &token x_ A_ _live_ a_live_ gh <| [/ 1.0.0- 1.0.0-a. SG.a'.split(' '),
  ...['-----BEGIN ', '-----BEGIN A ', 'ignore ', 'ignore all ', 'you must ', 'always use a ', 'send all a '],
  ...['\u{e0100}', '\u{1f3f4}', '\u{1f3f4}\u{e0067}'],
]

const makeContext = (text: string, count: number): LintContext => {
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
    strings: collectStrings(authored),
    manifest: {
      card: authored,
      visibility: 'public',
      bridge: 'all',
      compatibility: 'warn',
      signatures: 'keep',
      hosts: [],
      route: 'direct',
      upstream: {},
      gate: {},
    },
    sourceOf: pointer => pointer,
    disallowed: [],
  }
}

// The longest allowed string has 16 KiB. On eight of them a quadratic rule takes seconds, a linear one about 8 ms.
describe('every lint rule', () => {
  it('takes linear time for repetitions of any text', () => {
    for (const piece of hostileTexts) {
      const context = makeContext(piece.repeat(Math.floor((16 * 1024) / piece.length)), 4)
      const slowRules = rules.filter(rule => !isFasterThan(60, () => rule.check(context))).map(({ id }) => id)
      expect([piece, slowRules]).toEqual([piece, []])
      // Its rule reports what this finds.
      expect([piece, isFasterThan(60, () => collectSecrets(context.authored))]).toEqual([piece, true])
    }
  })

  it('takes linear time for the number of members, and of items that break it', () => {
    const context = makeContext('Reviews code for vulnerabilities and style', 1)
    const lintMany = (count: number) => {
      const names = Array.from({ length: count }, (_, index) => [`documentationUrk${index}`, 'x'])
      const texts = Array<string>(count).fill('system prompt')
      return lint({ ...context, authored: { ...context.authored, ...Object.fromEntries(names), texts } })
    }
    expect(growth(1000, lintMany)).toBeLessThan(linear)
  })
})
