import { describe, expect, it } from 'vitest'
import type { CallProfile } from '../../../src/card/call-profile.ts'
import { findNewUse } from '../../../src/card/diff/profile-changes.ts'
import { profileWith } from '../../support/calls.ts'

const target = { binding: 'JSONRPC', version: '1.0', url: 'https://a.example/a2a' } as const
const before = profileWith({
  secret: 'AGENT_TOKEN',
  targets: [target],
  streaming: false,
  pushNotifications: false,
  requiredExtensions: ['urn:a'],
})
const find = (changes: Partial<CallProfile>) => findNewUse(before, { ...before, ...changes })

describe('findNewUse', () => {
  it.each<[string, Partial<CallProfile>]>([
    ['a different address', { targets: [{ ...target, url: 'https://a.example/other' }] }],
    ['a different address', { targets: [target, { ...target, version: '0.3', tenant: 'north' }] }],
    ['a different address', { targets: [{ ...target, agentName: 'Other' }] }],
    ['other calls: the interface JSONRPC 0.3 is new', { targets: [target, { ...target, version: '0.3' }] }],
    ['other calls: the interface HTTP+JSON 1.0 is new', { targets: [{ ...target, binding: 'HTTP+JSON' }] }],
    ['other calls: card.capabilities.streaming is new', { streaming: true }],
    ['other calls: card.capabilities.pushNotifications is new', { pushNotifications: true }],
    ['other calls: card.capabilities.extendedAgentCard is new', { agentServesExtendedCard: true }],
    ['other calls: an extension of card.capabilities.extensions is no longer required', { requiredExtensions: [] }],
    ['other callers: visibility has changed', { visibility: 'internal' }],
    ['other callers: route has changed', { route: 'closed' }],
    ['other callers: gate has changed', { gate: { ...before.gate, modes: 'off' } }],
    ['other callers: gate.tasks has changed', { tasks: 'owner' }],
    ['other callers: card.securitySchemes has changed', { apiKeyHeaders: ['x-key'] }],
    ['other callers: card.securitySchemes has changed', { openIdConnectUrls: ['https://id.example'] }],
    ['other callers: hosts has changed', { identity: { issuer: 'https://other.example' } }],
    ['other callers: jwt has changed', { jwt: { audience: ['a'], tiers: {} } }],
  ])('finds %s: %j', (found, changes) => {
    expect(find(changes)).toMatch(new RegExp(`${found.replaceAll('.', '\\.').replace('+', '\\+')}$`))
  })

  it.each<[string, Partial<CallProfile>]>([
    ['nothing', {}],
    ['fewer targets', { targets: [] }],
    ['another extension to declare', { requiredExtensions: ['urn:b', 'urn:a'] }],
    ['tiers', { tiers: ['partner'], extendedAgentCard: true }],
    ['modes', { modes: { ...before.modes, defaults: { input: ['text/plain'], output: [] } } }],
  ])('allows a change of %s', (_, changes) => {
    expect(find(changes)).toBeUndefined()
  })

  it.each<[before: CallProfile['callers'], after: CallProfile['callers'], found: string | undefined]>([
    ['tokens', 'anyone', 'would be available to other callers: callers would be anyone'],
    ['tokens', 'issuer', 'would be available to other callers: callers would be issuer'],
    ['issuer', 'anyone', 'would be available to other callers: callers would be anyone'],
    ['anyone', 'tokens', undefined],
    ['anyone', 'issuer', undefined],
    ['issuer', 'tokens', undefined],
  ])('compares the callers %s with %s', (callers, changed, found) => {
    expect(findNewUse({ ...before, callers }, { ...before, callers: changed })).toBe(found)
  })

  it('allows capabilities to be removed', () => {
    const capable = { ...before, streaming: true, pushNotifications: true, agentServesExtendedCard: true } as const
    expect(findNewUse(capable, before)).toBeUndefined()
  })
})
