import { describe, expect, it } from 'vitest'
import { agentIdPattern, toSlug } from '../../../src/card/model/constants.ts'
import { isFasterThan } from '../../support/cpu-time.ts'

describe('toSlug', () => {
  it('makes an agent id of a name', () => {
    const slugs = {
      'Weather Agent': 'weather-agent',
      WeatherAgent: 'weather-agent',
      Österreich: 'osterreich',
      '--a--': 'a',
      天気: 'none',
      '': 'none',
      [`${'a'.repeat(62)} b`]: 'a'.repeat(62),
      ['a'.repeat(70)]: 'a'.repeat(63),
      [`${'\u0301'.repeat(199)}a`]: 'a',
      [`${'\u0301'.repeat(200)}a`]: 'none',
    }
    expect(Object.fromEntries(Object.keys(slugs).map(name => [name, toSlug(name, 'none')]))).toEqual(slugs)
    for (const slug of Object.values(slugs)) expect(slug).toMatch(agentIdPattern)
  })

  it('takes bounded time for repetitions of any text', () => {
    for (const piece of ['\u0301\u0316', '\u0f73', '\ufdfa'])
      expect(isFasterThan(20, () => toSlug(piece.repeat(32 * 1024), 'none'))).toBe(true)
  })
})
