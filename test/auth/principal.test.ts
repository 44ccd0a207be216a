import { describe, expect, it } from 'vitest'
import type { Authentication, Principal } from '../../src/auth/principal.ts'
import { coveredAgents, hasPermission, highestTier, readableTiers } from '../../src/auth/principal.ts'
import { matchesGlob, type Scope, scopes } from '../../src/card/model/constants.ts'
import { growth, linear } from '../support/cpu-time.ts'

const principal = (more: Partial<Principal> = {}): Principal => ({
  ...{ authenticated: true, subject: 'token:x', scopes: ['read'], agents: ['*'], tiers: [], strippedHeaders: [] },
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
    for (const caller of [principal({ scopes: ['write'] }), ...unauthenticated])
      expect(coveredAgents(caller, ['read'])).toEqual([])
  })
})

describe('matchesGlob', () => {
  it('matches an asterisk with any text, and nothing else specially', () => {
    for (const [glob, matching, others] of [
      ['*', ['weather'], []],
      ['weather', ['weather'], ['weather-eu']],
      ['weather-*', ['weather-eu', 'weather-'], ['weather']],
      ['*-eu', ['weather-eu'], ['weather-us']],
      ['w*-*u', ['weather-eu'], []],
      ['w*r*u', ['weather-eu'], []],
      ['w*u*r', [], ['weather-eu']],
      ['ab*ba', ['abba'], ['aba']],
      ['*a*a*', ['aa'], ['a']],
      ['**', ['x'], []],
      ['w.ather', [], ['weather']],
    ] as const)
      expect([glob, ...[...matching, ...others].filter(id => matchesGlob(glob, id))]).toEqual([glob, ...matching])
  })

  it('takes linear time', () => {
    expect(growth(1000, size => matchesGlob('a*'.repeat(size), 'a'.repeat(size - 1)))).toBeLessThan(linear)
  })
})

describe('hasPermission', () => {
  it('returns the permissions of a principal, and none for an unauthenticated caller', () => {
    const elsewhere = principal({ scopes: ['read', 'write'], agents: ['other', 'weather-*'] })
    for (const [caller, allowed] of [
      [principal(), ['read']],
      [principal({ scopes: ['write'] }), ['write']],
      [principal({ scopes: ['read', 'write'] }), ['read', 'write']],
      [principal({ scopes: ['admin'] }), ['read', 'call', 'write', 'admin']],
      [principal({ scopes: ['call'] }), ['read', 'call']],
      ...[principal({ scopes: [] }), principal({ agents: [] }), elsewhere, ...unauthenticated].map(
        (caller): [Authentication, Scope[]] => [caller, []],
      ),
    ] as [Authentication, Scope[]][]) {
      const found = scopes.filter(scope => hasPermission(caller, scope, 'weather'))
      expect({ caller, found }).toEqual({ caller, found: allowed })
    }
  })
})

describe('readableTiers and highestTier', () => {
  it("return the tiers of a caller, in the agent's order", () => {
    const profile = { tiers: ['base', 'partner', 'internal'] }
    for (const [caller, { tiers }, expected] of [
      [principal(), profile, ['base']],
      [principal({ tiers: ['internal', 'partner'] }), profile, ['base', 'partner', 'internal']],
      [principal({ tiers: ['*'] }), profile, ['base', 'partner', 'internal']],
      [principal({ scopes: ['admin'] }), profile, ['base', 'partner', 'internal']],
      // An agent without a base tier.
      [principal(), { tiers: ['partner'] }, []],
      ...unauthenticated.map((caller): [Authentication, typeof profile, string[]] => [caller, profile, []]),
    ] as [Authentication, typeof profile, string[]][]) {
      const found = [readableTiers(caller, { tiers }), highestTier(caller, { tiers })]
      expect({ caller, found }).toEqual({ caller, found: [expected, expected.at(-1)] })
    }
  })
})
