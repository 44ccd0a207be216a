import { describe, expect, it } from 'vitest'
import { agentIdPattern, toSlug } from '../../../src/card/model/constants.ts'

describe('toSlug', () => {
  it.each([
    ['Weather Agent', 'weather-agent'],
    ['WeatherAgent', 'weather-agent'],
    ['Österreich', 'osterreich'],
    ['--a--', 'a'],
    ['天気', 'none'],
    ['', 'none'],
    [`${'a'.repeat(62)} b`, 'a'.repeat(62)],
    [`${'a'.repeat(70)}`, 'a'.repeat(63)],
  ])('makes of %j the slug %s, which is a valid agent id', (name, slug) => {
    expect(toSlug(name, 'none')).toBe(slug)
    expect(slug).toMatch(agentIdPattern)
  })
})
