import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import { registration } from '../../support/cards/compile.ts'
import { isFasterThan } from '../../support/cpu-time.ts'

describe('compiling a card with hostile texts', () => {
  const upstream = { card: 'https://up.example/card.json', url: 'https://bücher.example/a2a/' }
  const MAX_LENGTH = 16_000
  const endings = ['', 'x', '/', '.', ' up.example']

  it.each(
    [
      '/',
      '.',
      'a',
      'a:',
      '://',
      'a//',
      'http://',
      'http://a',
      '//@',
      '%25',
      '%2525',
      '[',
      '//[',
      'a.',
      '。',
      'ﷺ',
      'up.',
      'é.',
      'éa',
      '1.',
      '\u00ad',
      'version ',
    ].flatMap(part => [[part], [`https://up.example/${part}`]]),
  )('takes less than a second for repetitions of %j', part => {
    const text = part + part.slice(-2).repeat(Math.floor(MAX_LENGTH / 2))
    const fields = Object.fromEntries(endings.map((ending, n) => [`x${n}`, text.slice(0, MAX_LENGTH) + ending]))
    const fetched = { name: 'A', description: 'B', ...fields }
    const run = () => compile({ upstream, route: 'gateway' }, { ...registration, fetched })
    expect(isFasterThan(1000, run)).toBe(true)
  })
})
