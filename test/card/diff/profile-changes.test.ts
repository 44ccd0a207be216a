import { describe, expect, it } from 'vitest'
import type { CallProfile } from '../../../src/card/call-profile.ts'
import { findNewUse } from '../../../src/card/diff/widening.ts'
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
  it('finds other addresses, calls and callers', () => {
    const rows: [Partial<CallProfile>, string][] = [
      [{ targets: [{ ...target, url: 'https://a.example/other' }] }, 'a different address'],
      [{ targets: [target, { ...target, version: '0.3', tenant: 'north' }] }, 'a different address'],
      [{ targets: [{ ...target, agentName: 'Other' }] }, 'a different address'],
      [{ targets: [target, { ...target, version: '0.3' }] }, 'other calls: the interface JSONRPC 0.3 is new'],
      [{ targets: [{ ...target, binding: 'HTTP+JSON' }] }, 'other calls: the interface HTTP+JSON 1.0 is new'],
      [{ streaming: true }, 'other calls: card.capabilities.streaming is new'],
      [{ pushNotifications: true }, 'other calls: card.capabilities.pushNotifications is new'],
      [{ agentServesExtendedCard: true }, 'other calls: card.capabilities.extendedAgentCard is new'],
      [{ requiredExtensions: [] }, 'other calls: an extension of card.capabilities.extensions is no longer required'],
      [{ visibility: 'internal' }, 'other callers: visibility has changed'],
      [{ route: 'closed' }, 'other callers: route has changed'],
      [{ gate: { ...before.gate, modes: 'off' } }, 'other callers: gate has changed'],
      [{ tasks: 'owner' }, 'other callers: gate.tasks has changed'],
      [{ apiKeyHeaders: ['x-key'] }, 'other callers: card.securitySchemes has changed'],
      [{ openIdConnectUrls: ['https://id.example'] }, 'other callers: card.securitySchemes has changed'],
      [{ identity: { issuer: 'https://other.example' } }, 'other callers: hosts has changed'],
      [{ jwt: { audience: ['a'], tiers: {} } }, 'other callers: jwt has changed'],
    ]
    for (const [changes, found] of rows) expect(find(changes)?.slice(-found.length)).toBe(found)
  })

  it('allows any other change', () => {
    const modes = { ...before.modes, defaults: { input: ['text/plain'], output: [] } }
    const allowed: Partial<CallProfile>[] = [
      {},
      { targets: [] },
      { requiredExtensions: ['urn:b', 'urn:a'] },
      { tiers: ['partner'], extendedAgentCard: true },
      { modes },
    ]
    for (const changes of allowed) expect([changes, find(changes)]).toEqual([changes, undefined])
    expect(findNewUse({ ...before, streaming: true }, before)).toBeUndefined()
  })

  it('compares the callers', () => {
    const compare = (callers: CallProfile['callers'], changed: CallProfile['callers']) =>
      findNewUse({ ...before, callers }, { ...before, callers: changed })
    const found = (callers: string) => `would be available to other callers: callers would be ${callers}`
    expect(compare('tokens', 'issuer')).toBe(found('issuer'))
    expect(compare('issuer', 'anyone')).toBe(found('anyone'))
    expect([compare('anyone', 'issuer'), compare('issuer', 'tokens')]).toEqual([undefined, undefined])
  })
})
