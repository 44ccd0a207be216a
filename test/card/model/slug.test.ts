import { describe, expect, it } from 'vitest'
import { agentIdPattern, toSlug } from '../../../src/card/model/constants.ts'
import { isFasterThan } from '../../support/cpu-time.ts'

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
    [`${'\u0301'.repeat(199)}a`, 'a'],
    [`${'\u0301'.repeat(200)}a`, 'none'],
  ])('makes of %j the slug %s, which is a valid agent id', (name, slug) => {
    expect(toSlug(name, 'none')).toBe(slug)
    expect(slug).toMatch(agentIdPattern)
  })

  it.each(['\u0301\u0316', '\u0f73', '\ufdfa'])('takes bounded time for repetitions of %j', piece => {
    expect(isFasterThan(20, () => toSlug(piece.repeat(32 * 1024), 'none'))).toBe(true)
  })
})
