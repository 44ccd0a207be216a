import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasPermission, highestTier, matchesGlob, readableTiers } from '../../src/auth/permissions.ts'
import type { Authentication, Principal } from '../../src/auth/principal.ts'
import { type Scope, scopes } from '../../src/card/model/constants.ts'
import { growth, linear } from '../support/cpu-time.ts'

const bearer = (more: Partial<Principal> = {}): Principal => ({
  authenticated: true,
  subject: 'token:x',
  scopes: ['read'],
  agents: ['*'],
  tiers: [],
  strippedHeaders: [],
  ...more,
})
const strangers: Authentication[] = [
  { authenticated: false, reason: 'anonymous' },
  { authenticated: false, reason: 'unrecognized' },
  { authenticated: false, reason: 'bad-token', error: 'unknown' },
  { authenticated: false, reason: 'unavailable' },
  { authenticated: false, reason: 'throttled' },
]

describe('a glob', () => {
  it.each([
    ['*', 'weather', true],
    ['weather', 'weather', true],
    ['weather', 'weather-eu', false],
    ['weather-*', 'weather-eu', true],
    ['weather-*', 'weather-', true],
    ['weather-*', 'weather', false],
    ['*-eu', 'weather-eu', true],
    ['*-eu', 'weather-us', false],
    ['w*-*u', 'weather-eu', true],
    ['w*r*u', 'weather-eu', true],
    ['w*u*r', 'weather-eu', false],
    ['ab*ba', 'aba', false],
    ['ab*ba', 'abba', true],
    ['*a*a*', 'a', false],
    ['*a*a*', 'aa', true],
    ['**', 'x', true],
    ['w.ather', 'weather', false],
    ['w?ather', 'weather', false],
    ['[w]eather', 'weather', false],
    ['', 'weather', false],
  ])('%s, %s: %s', (glob, id, matches) => {
    expect(matchesGlob(glob, id)).toBe(matches)
  })

  it('means what the regular expression means that it stands for', () => {
    const text = (letters: string[]) => fc.array(fc.constantFrom(...letters), { maxLength: 8 }).map(all => all.join(''))
    fc.assert(
      fc.property(text(['a', 'b', '*']), text(['a', 'b']), (glob, id) => {
        expect(matchesGlob(glob, id)).toBe(new RegExp(`^${glob.replaceAll('*', '.*')}$`).test(id))
      }),
    )
  })

  it('takes no longer the more of it there is', () => {
    expect(growth(1000, size => matchesGlob('a*'.repeat(size), 'a'.repeat(size - 1)))).toBeLessThan(linear)
  })
})

describe('may', () => {
  it.each<[string, Authentication, Scope[]]>([
    ['read', bearer(), ['read']],
    ['write', bearer({ scopes: ['write'] }), ['write']],
    ['both', bearer({ scopes: ['read', 'write'] }), ['read', 'write']],
    ['admin', bearer({ scopes: ['admin'] }), ['read', 'write', 'admin']],
    ['none', bearer({ scopes: [] }), []],
    ['of another agent', bearer({ scopes: ['read', 'write'], agents: ['other', 'weather-*'] }), []],
    ['of no agent', bearer({ agents: [] }), []],
  ])('a token with %s', (_, caller, allowed) => {
    expect(scopes.filter(scope => hasPermission(caller, scope, 'weather'))).toEqual(allowed)
  })

  it.each(strangers)('nothing: $given', caller => {
    expect(scopes.filter(scope => hasPermission(caller, scope, 'weather'))).toEqual([])
  })
})

describe('the tiers of a caller', () => {
  const profile = { tiers: ['base', 'partner', 'internal'] }
  it.each<[string, Authentication, { tiers: string[] }, string[]]>([
    ['a token that names none', bearer(), profile, ['base']],
    ['a token that names one', bearer({ tiers: ['partner'] }), profile, ['base', 'partner']],
    ['in the order of the agent', bearer({ tiers: ['internal', 'partner'] }), profile, ['base', 'partner', 'internal']],
    ['a higher one without the lower', bearer({ tiers: ['internal'] }), profile, ['base', 'internal']],
    ['one that the agent has not', bearer({ tiers: ['gold'] }), profile, ['base']],
    ['all', bearer({ tiers: ['*'] }), profile, ['base', 'partner', 'internal']],
    ['an administrator', bearer({ scopes: ['admin'] }), profile, ['base', 'partner', 'internal']],
    ['an agent without extended cards', bearer({ tiers: ['*'] }), { tiers: [] }, []],
    ['an agent with a named tier alone', bearer(), { tiers: ['partner'] }, []],
    ...strangers.map((caller): [string, Authentication, { tiers: string[] }, string[]] => [
      `nobody: ${'reason' in caller && caller.reason}`,
      caller,
      profile,
      [],
    ]),
  ])('%s', (_, caller, { tiers }, expected) => {
    expect([readableTiers(caller, { tiers }), highestTier(caller, { tiers })]).toEqual([expected, expected.at(-1)])
  })
})
