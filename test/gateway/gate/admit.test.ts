import { describe, expect, it } from 'vitest'
import type { CallError } from '../../../src/a2a/call-error.ts'
import { type A2ACall, type OperationName, operations } from '../../../src/a2a/operations.ts'
import type { Authentication } from '../../../src/auth/principal.ts'
import type { CallProfile } from '../../../src/card/call-profile.ts'
import type { CallTarget } from '../../../src/card/model/calls.ts'
import { admit } from '../../../src/gateway/gate/admit.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { callWith, type Decision, evaluate, gateWith, passes, profileWith } from '../../support/calls.ts'

type Levels = CallProfile['gate']

const everyOperation = Object.keys(operations) as OperationName[]
const levels = ['off', 'warn', 'enforce'] as const
const target = (binding: A2ACall['binding'], version: A2ACall['version']): CallTarget => ({
  ...{ binding, version, url: `https://agent.example/${binding}/${version}` },
})
const withLevels = (changes: Partial<Levels>): Partial<CallProfile> => ({ gate: { ...profileWith().gate, ...changes } })
/** Returns the kind of an error, or those of the warnings. */
const kindOf = (decision: Decision) => ('kind' in decision ? decision.kind : decision.warnings.map(({ kind }) => kind))

it('allows every operation of an unrestricted agent in every binding and version', () => {
  for (const operation of everyOperation)
    for (const binding of ['JSONRPC', 'HTTP+JSON'] as const)
      for (const version of ['0.3', '1.0'] as const)
        expect(evaluate(callWith({ binding, version, operation }), {}), operation).toStrictEqual(passes)
})

it('requires of the caller what the agent and the operation require', () => {
  const having = (scope: 'read' | 'call', ...agents: string[]): Authentication => ({
    ...{ authenticated: true, subject: 'token:a', scopes: [scope], agents, tiers: [], strippedHeaders: [] },
  })
  const lacking = (reason: 'anonymous' | 'unrecognized' | 'unavailable' | 'throttled'): Authentication => ({
    ...{ authenticated: false, reason },
  })
  const [byToken, own] = [{ callers: 'tokens' }, { callers: 'tokens', agentServesExtendedCard: true }] as const
  for (const [profile, operation, caller, expected] of [
    [{}, 'send', lacking('anonymous'), []],
    [{}, 'extendedCard', lacking('anonymous'), []],
    [{}, 'send', lacking('unavailable'), 'token-unchecked'],
    [{}, 'send', lacking('throttled'), 'rate-limit'],
    [{}, 'send', { authenticated: false, reason: 'bad-token', error: 'expired' }, 'bad-token'],
    [{ visibility: 'internal' }, 'send', lacking('anonymous'), 'unknown-agent'],
    [{ visibility: 'internal' }, 'send', having('read', 'weather'), []],
    [byToken, 'send', lacking('anonymous'), 'no-token'],
    [byToken, 'send', lacking('unrecognized'), 'bad-token'],
    [byToken, 'send', having('read', 'weather'), 'forbidden'],
    [byToken, 'send', having('call', 'news'), 'forbidden'],
    [byToken, 'send', having('call', 'we*'), []],
    // To read an extended card of this host, `read` is enough.
    [byToken, 'extendedCard', having('read', 'weather'), []],
    [byToken, 'extendedCard', having('read', 'news'), 'forbidden'],
    [own, 'extendedCard', having('read', 'weather'), 'forbidden'],
    [own, 'extendedCard', having('call', 'weather'), []],
  ] as [Partial<CallProfile>, OperationName, Authentication, string | string[]][])
    expect(
      kindOf(admit(gateWith(profile), callWith({ operation }), caller)),
      JSON.stringify([profile, operation, caller]),
    ).toEqual(expected)
})

describe('a translated call', () => {
  const own = [target('JSONRPC', '0.3'), target('HTTP+JSON', '1.0')]

  it('goes to the same version before the same binding, as far as `bridge` allows', () => {
    for (const [bridge, targets, binding, version, expected] of [
      ['all', own, 'JSONRPC', '1.0', 'HTTP+JSON 1.0'],
      ['all', own, 'HTTP+JSON', '0.3', 'JSONRPC 0.3'],
      ['versions', own, 'JSONRPC', '1.0', 'JSONRPC 0.3'],
      ['bindings', own, 'JSONRPC', '1.0', 'HTTP+JSON 1.0'],
      ['all', [target('HTTP+JSON', '0.3')], 'JSONRPC', '1.0', 'HTTP+JSON 0.3'],
      ['versions', [target('HTTP+JSON', '0.3')], 'JSONRPC', '1.0', undefined],
      ['off', [target('HTTP+JSON', '1.0')], 'JSONRPC', '1.0', undefined],
      ['bindings', [target('HTTP+JSON', '0.3')], 'JSONRPC', '1.0', undefined],
      ['all', own, 'JSONRPC', '0.3', 'JSONRPC 0.3'],
    ] as const) {
      const call = callWith({ binding, version })
      const profile = { targets: [...targets], bridge }
      const found = gateWith(profile).route(call).target
      const name = `${bridge}: ${binding} ${version}`
      expect(kindOf(evaluate(call, profile)), name).toEqual(expected === undefined ? 'version' : [])
      expect(found && `${found.binding} ${found.version}`, name).toBe(expected)
    }
  })

  it('may change the media type of data, but not of text', () => {
    const agent = (version: A2ACall['version'], input: string) => {
      const modes = { input: [input], output: [] }
      return {
        ...{ targets: [target('JSONRPC', version)], bridge: 'all' as const },
        modes: { defaults: modes, union: modes, skills: {} },
      }
    }
    const [json, geo] = ['application/json', 'application/geo+json']
    for (const [part, version, input, offered] of [
      [{ data: 'rain', mediaType: 'text/plain' }, '0.3', 'text/plain', json],
      [{ data: 'rain', mediaType: 'text/plain' }, '0.3', json, undefined],
      [{ data: 'rain', mediaType: 'text/plain' }, '1.0', 'text/plain', undefined],
      [{ data: 'rain', mediaType: 'text/plain' }, '1.0', json, 'text/plain'],
      [{ data: 'rain', mediaType: geo }, '0.3', geo, undefined],
      [{ data: 'rain' }, '0.3', 'text/plain', json],
      [{ text: 'a: 1', mediaType: 'application/yaml' }, '0.3', 'application/yaml', undefined],
    ] as const) {
      const call = callWith({ version: '1.0', params: { message: { parts: [part] } } })
      expect(evaluate(call, agent(version, input)), JSON.stringify([part, version, input])).toEqual(
        offered === undefined ? passes : { kind: 'input-modes', offered: [offered], accepted: [input] },
      )
    }
  })
})

describe('the version check', () => {
  it('compares the version with those of the agent in the binding of the call', () => {
    const profile = { targets: [target('JSONRPC', '0.3'), target('HTTP+JSON', '1.0')] }
    const decisionOf = (binding: A2ACall['binding'], version: A2ACall['version']) =>
      evaluate(callWith({ binding, version }), profile)
    expect(decisionOf('JSONRPC', '1.0')).toStrictEqual({ kind: 'version', offered: '1.0', accepted: ['0.3'] })
    expect(decisionOf('JSONRPC', '0.3')).toStrictEqual(passes)
    expect(decisionOf('HTTP+JSON', '1.0')).toStrictEqual(passes)
    expect(decisionOf('HTTP+JSON', '0.3')).toStrictEqual({ kind: 'version', offered: '0.3', accepted: ['1.0'] })
  })

  it('rejects a binding that the agent does not support, at every level', () => {
    for (const version of levels) {
      const profile = { targets: [target('JSONRPC', '1.0')], ...withLevels({ version }) }
      const expected = { kind: 'version', offered: '1.0', accepted: [] }
      expect(evaluate(callWith({ binding: 'HTTP+JSON' }), profile), version).toStrictEqual(expected)
    }
  })
})

describe('preferVersionError', () => {
  const targets = [target('JSONRPC', '0.3'), target('HTTP+JSON', '1.0'), target('HTTP+JSON', '0.3')]
  const gate = (version: Levels['version'] = 'enforce') => gateWith({ targets, ...withLevels({ version }) })
  const unknownMethod = (version: A2ACall['version']): CallError => ({ kind: 'method', method: 'shout', version })

  it('reports an unsupported version rather than an unknown method, if the gate enforces the version', () => {
    const [v03, v1] = [unknownMethod('0.3'), unknownMethod('1.0')]
    const unsupported = { kind: 'version', offered: '1.0', accepted: ['0.3'] }
    expect(gate().preferVersionError(v1, 'JSONRPC')).toStrictEqual(unsupported)
    expect(gate().preferVersionError(v03, 'JSONRPC')).toBe(v03)
    expect(gate().preferVersionError(v1, 'HTTP+JSON')).toBe(v1)
    for (const level of ['off', 'warn'] as const) expect(gate(level).preferVersionError(v1, 'JSONRPC')).toBe(v1)
    const other: CallError = { kind: 'not-json', detail: 'D.' }
    expect(gate().preferVersionError(other, 'JSONRPC')).toBe(other)
  })

  it('lists the versions of the agent, not those of the host', () => {
    const error: CallError = { kind: 'version', offered: '9.9', accepted: ['1.0'] }
    expect(gate().preferVersionError(error, 'JSONRPC')).toStrictEqual({ ...error, accepted: ['0.3'] })
    expect(gate('off').preferVersionError(error, 'HTTP+JSON')).toStrictEqual({ ...error, accepted: ['0.3', '1.0'] })
  })
})

describe('the capabilities check', () => {
  it('requires only the capability that an operation needs', () => {
    const refusedWithout = (capability: 'streaming' | 'pushNotifications' | 'extendedAgentCard', kind: string) =>
      everyOperation.filter(operation => {
        const decision = evaluate(callWith({ operation }), { [capability]: false })
        expect(kindOf(decision), operation).toEqual(expect.toBeOneOf([[], kind]))
        return 'kind' in decision
      })
    expect(refusedWithout('streaming', 'streaming')).toEqual(['stream', 'resubscribe'])
    expect(refusedWithout('pushNotifications', 'push-notifications')).toEqual([
      ...['createPushConfig', 'getPushConfig', 'listPushConfigs', 'deletePushConfig'],
    ])
    expect(refusedWithout('extendedAgentCard', 'extended-card')).toEqual(['extendedCard'])
  })

  it('requires push notifications for a message with their configuration, or beside it', () => {
    const url = 'https://a.example'
    for (const [configuration, isNeeded] of [
      [{ pushNotificationConfig: { url } }, true],
      [{ taskPushNotificationConfig: { url } }, true],
      [{ task_push_notification_config: { url } }, true],
      [{ push_notification_config: { url } }, true],
      [{ pushNotification: { url } }, true],
      [{ push_notification: { url } }, true],
      [{ taskPushNotificationConfig: null, task_push_notification_config: {} }, true],
      [{ pushNotificationConfig: {} }, true],
      [{ pushNotificationConfig: null }, false],
      [{ blocking: true }, false],
      [{}, false],
    ] as [JsonObject, boolean][])
      for (const [operation, params] of [
        ['send', { configuration }],
        ['stream', configuration],
        ['getTask', { configuration }],
      ] as const)
        expect(
          evaluate(callWith({ operation, params }), { pushNotifications: false }),
          JSON.stringify([operation, params]),
        ).toStrictEqual(isNeeded && operation !== 'getTask' ? { kind: 'push-notifications' } : passes)
  })
})

it('finds the required extensions that a call lacks', () => {
  const required = ['urn:a', 'urn:b']
  for (const [extensions, missing] of [
    [[], ['urn:a', 'urn:b']],
    [['urn:b'], ['urn:a']],
    [['urn:A', 'urn:b'], ['urn:a']],
    [['urn:b', 'urn:c', 'urn:a'], undefined],
  ]) {
    const decision = evaluate(callWith({ extensions, operation: 'getTask' } as A2ACall), {
      requiredExtensions: required,
    })
    expect(decision, `${extensions}`).toStrictEqual(missing ? { kind: 'extensions', required, missing } : passes)
  }
})

describe('the extended card', () => {
  const evaluateCard = (changes: Partial<CallProfile>) =>
    evaluate(callWith({ operation: 'extendedCard', params: {} }), changes)

  it('depends on its declaration and on tiers, at every gate level', () => {
    const gate = { capabilities: 'off', modes: 'off', extensions: 'off', version: 'off', responses: 'off' } as const
    for (const level of [{}, { gate }])
      expect([
        evaluateCard({ ...level, extendedAgentCard: false, tiers: [] }),
        evaluateCard({ ...level, extendedAgentCard: false, tiers: ['extended'] }),
        evaluateCard({ ...level, extendedAgentCard: true, tiers: [] }),
        evaluateCard({ ...level, extendedAgentCard: true, tiers: ['extended'] }),
      ]).toStrictEqual([
        { kind: 'extended-card' },
        { kind: 'extended-card' },
        { kind: 'extended-card-not-configured' },
        passes,
      ])
  })

  it('needs no target, extension or open route, because the host itself responds', () => {
    expect(evaluateCard({ targets: [], requiredExtensions: ['urn:a'], route: 'closed' })).toStrictEqual(passes)
  })
})

describe('gate levels', () => {
  const lists = { input: ['image/png'], output: ['image/png'] }
  /** An agent at which the call fails every check. */
  const agent: Partial<CallProfile> = {
    targets: [target('JSONRPC', '0.3')],
    streaming: false,
    pushNotifications: false,
    requiredExtensions: ['urn:a'],
    modes: { defaults: lists, union: lists, skills: {} },
  }
  const configuration = { acceptedOutputModes: ['text/plain'], taskPushNotificationConfig: {} }
  const call = callWith({ operation: 'stream', params: { message: { parts: [{ text: 'a' }] }, configuration } })
  const [e, w, o] = ['enforce', 'warn', 'off'] as const
  const capabilities = ['streaming', 'push-notifications']
  const modes = ['input-modes', 'output-modes']

  /** The levels of version, capabilities, extensions and modes, and the error, or the warnings. */
  const rows: [Levels['version'], Levels['capabilities'], Levels['extensions'], Levels['modes'], string | string[]][] =
    [
      // The first enforced check rejects the call, whatever the levels after and before it.
      [e, e, e, e, 'version'],
      [w, e, e, e, 'streaming'],
      [w, w, e, e, 'extensions'],
      [w, o, w, e, 'input-modes'],
      // If none is enforced, all with the level warn are warnings, in order.
      [w, w, w, w, ['version', ...capabilities, 'extensions', ...modes]],
      [w, o, o, o, ['version']],
      [o, w, o, o, capabilities],
      [o, o, w, o, ['extensions']],
      [o, o, o, w, modes],
      [o, o, o, o, []],
    ]

  it('reject the call with the first enforced check, or warn', () => {
    for (const [version, capabilities, extensions, modes, expected] of rows) {
      const gated = { ...agent, ...withLevels({ version, capabilities, extensions, modes }) }
      const name = [version, capabilities, extensions, modes].join(' ')
      const decision = evaluate(call, gated)
      expect(kindOf(decision), name).toEqual(expected)
      if (!('kind' in decision)) expect(decision.hasPushConfig).toBe(true)
      const closed = evaluate(call, { ...gated, route: 'closed' })
      expect(kindOf(closed), name).toEqual(typeof expected === 'string' ? expected : 'closed')
    }
  })
})
