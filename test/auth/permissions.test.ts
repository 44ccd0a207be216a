import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { coveredAgents, hasPermission, highestTier, readableTiers } from '../../src/auth/permissions.ts'
import type { Authentication, Principal } from '../../src/auth/principal.ts'
import { matchesGlob, type Scope, scopes } from '../../src/card/model/constants.ts'
import { growth, linear } from '../support/cpu-time.ts'

const principal = (more: Partial<Principal> = {}): Principal => ({
  authenticated: true,
  subject: 'token:x',
  scopes: ['read'],
  agents: ['*'],
  tiers: [],
  strippedHeaders: [],
  ...more,
})
const unauthenticated: Authentication[] = [
  { authenticated: false, reason: 'anonymous' },
  { authenticated: false, reason: 'unrecognized' },
  { authenticated: false, reason: 'bad-token', error: 'unknown' },
  { authenticated: false, reason: 'unavailable' },
  { authenticated: false, reason: 'throttled' },
]

describe('coveredAgents', () => {
  it('returns the globs of a caller with one of the scopes, and all agents for an administrator', () => {
    const agents = ['team1-*', 'shared']
    expect(coveredAgents(principal({ agents }), ['read'])).toEqual(agents)
    expect(coveredAgents(principal({ agents, scopes: ['write'] }), ['read', 'write'])).toEqual(agents)
    expect(coveredAgents(principal({ scopes: ['admin'] }), ['read'])).toEqual(['*'])
  })

  it('returns none for any other caller', () => {
    expect(coveredAgents(principal({ scopes: ['write'] }), ['read'])).toEqual([])
    for (const caller of unauthenticated) expect(coveredAgents(caller, ['read', 'write'])).toEqual([])
  })
})

describe('matchesGlob', () => {
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
  ])('for the glob "%s" and the id %s is %s', (glob, id, matches) => {
    expect(matchesGlob(glob, id)).toBe(matches)
  })

  it('agrees with the equivalent regular expression', () => {
    const text = (letters: string[]) => fc.array(fc.constantFrom(...letters), { maxLength: 8 }).map(all => all.join(''))
    fc.assert(
      fc.property(text(['a', 'b', '*']), text(['a', 'b']), (glob, id) => {
        expect(matchesGlob(glob, id)).toBe(new RegExp(`^${glob.replaceAll('*', '.*')}$`).test(id))
      }),
    )
  })

  it('takes linear time', () => {
    expect(growth(1000, size => matchesGlob('a*'.repeat(size), 'a'.repeat(size - 1)))).toBeLessThan(linear)
  })
})

describe('hasPermission', () => {
  it.each<[string, Authentication, Scope[]]>([
    ['the scope read', principal(), ['read']],
    ['the scope write', principal({ scopes: ['write'] }), ['write']],
    ['the scopes read and write', principal({ scopes: ['read', 'write'] }), ['read', 'write']],
    ['the scope admin', principal({ scopes: ['admin'] }), ['read', 'call', 'write', 'admin']],
    ['the scope call', principal({ scopes: ['call'] }), ['read', 'call']],
    ['no scope', principal({ scopes: [] }), []],
    ['scopes for other agents', principal({ scopes: ['read', 'write'], agents: ['other', 'weather-*'] }), []],
    ['a scope for no agent', principal({ agents: [] }), []],
  ])('returns the permissions of a principal with %s', (_, caller, allowed) => {
    expect(scopes.filter(scope => hasPermission(caller, scope, 'weather'))).toEqual(allowed)
  })

  it.each(unauthenticated)('returns false for an unauthenticated caller: $reason', caller => {
    expect(scopes.filter(scope => hasPermission(caller, scope, 'weather'))).toEqual([])
  })
})

describe('readableTiers and highestTier', () => {
  const profile = { tiers: ['base', 'partner', 'internal'] }
  it.each<[string, Authentication, { tiers: string[] }, string[]]>([
    ['a principal without tiers', principal(), profile, ['base']],
    ['a principal with one tier', principal({ tiers: ['partner'] }), profile, ['base', 'partner']],
    [
      "several tiers, in the agent's order",
      principal({ tiers: ['internal', 'partner'] }),
      profile,
      ['base', 'partner', 'internal'],
    ],
    ['a higher tier without the lower ones', principal({ tiers: ['internal'] }), profile, ['base', 'internal']],
    ['a tier that the agent does not have', principal({ tiers: ['gold'] }), profile, ['base']],
    ['all tiers', principal({ tiers: ['*'] }), profile, ['base', 'partner', 'internal']],
    ['an administrator', principal({ scopes: ['admin'] }), profile, ['base', 'partner', 'internal']],
    ['an agent without extended cards', principal({ tiers: ['*'] }), { tiers: [] }, []],
    ['an agent without a base tier', principal(), { tiers: ['partner'] }, []],
    ...unauthenticated.map((caller): [string, Authentication, { tiers: string[] }, string[]] => [
      `an unauthenticated caller: ${'reason' in caller && caller.reason}`,
      caller,
      profile,
      [],
    ]),
  ])('return the tiers for %s', (_, caller, { tiers }, expected) => {
    expect([readableTiers(caller, { tiers }), highestTier(caller, { tiers })]).toEqual([expected, expected.at(-1)])
  })
})
