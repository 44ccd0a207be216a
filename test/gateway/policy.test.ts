import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toJsonRpcError } from '../../src/a2a/error-response.ts'
import type { CallError } from '../../src/a2a/errors.ts'
import { type A2ACall, type OperationName, operations } from '../../src/a2a/operations.ts'
import type { CallProfile } from '../../src/card/call-profile.ts'
import type { CallTarget } from '../../src/card/model/calls.ts'
import { evaluatePolicy, preferVersionError, targetOf } from '../../src/gateway/policy.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { callWith, evaluate, profileWith } from '../support/calls.ts'

const passes = { warnings: [] }
const everyOperation = Object.keys(operations) as OperationName[]
const target = (binding: A2ACall['binding'], version: A2ACall['version']): CallTarget => ({
  binding,
  version,
  url: `https://agent.example/${binding}/${version}`,
})

describe('an unrestricted agent', () => {
  it.each(everyOperation)('allows %s in every binding and version', operation => {
    const calls = (['JSONRPC', 'HTTP+JSON'] as const).flatMap(binding =>
      (['0.3', '1.0'] as const).map(version => callWith({ binding, version, operation })),
    )
    expect(calls.map(call => evaluate(call, profileWith()))).toStrictEqual(calls.map(() => passes))
  })
})

describe('a translated call', () => {
  const own = [target('JSONRPC', '0.3'), target('HTTP+JSON', '1.0')]

  it.each([
    ['the same version before the same binding', 'all', own, 'JSONRPC', '1.0', 'HTTP+JSON 1.0'],
    ['the same version before the same binding', 'all', own, 'HTTP+JSON', '0.3', 'JSONRPC 0.3'],
    ['the same binding', 'versions', own, 'JSONRPC', '1.0', 'JSONRPC 0.3'],
    ['the same version', 'bindings', own, 'JSONRPC', '1.0', 'HTTP+JSON 1.0'],
    ['what there is', 'all', [target('HTTP+JSON', '0.3')], 'JSONRPC', '1.0', 'HTTP+JSON 0.3'],
    ['nothing', 'versions', [target('HTTP+JSON', '0.3')], 'JSONRPC', '1.0', undefined],
    ['nothing', 'bindings', [target('JSONRPC', '0.3')], 'JSONRPC', '1.0', undefined],
    ['nothing', 'off', [target('HTTP+JSON', '1.0')], 'JSONRPC', '1.0', undefined],
    ['itself', 'all', own, 'JSONRPC', '0.3', 'JSONRPC 0.3'],
  ] as const)('goes to %s with `bridge: %s`', (_, bridge, targets, binding, version, expected) => {
    const call = callWith({ binding, version })
    const profile = profileWith({ targets: [...targets], bridge })
    const result = evaluate(call, profile)
    expect('kind' in result ? result.kind : 'passes').toBe(expected === undefined ? 'version' : 'passes')
    const found = targetOf(call, profile)
    const isUntranslated = expected === undefined && found?.binding === binding
    if (!isUntranslated) expect(found && `${found.binding} ${found.version}`).toBe(expected)
  })
})

describe('the media type of data in a translated call', () => {
  const agent = (version: A2ACall['version'], input: string[]) => {
    const modes = { input, output: [] }
    return profileWith({
      targets: [target('JSONRPC', version)],
      bridge: 'all',
      modes: { defaults: modes, union: modes, skills: {} },
    })
  }

  it.each<[declared: string | undefined, version: A2ACall['version'], input: string, offered: string[]]>([
    ['text/plain', '0.3', 'text/plain', ['application/json']],
    ['text/plain', '0.3', 'application/json', []],
    ['text/plain', '1.0', 'text/plain', []],
    ['text/plain', '1.0', 'application/json', ['text/plain']],
    ['application/geo+json', '0.3', 'application/geo+json', []],
    [undefined, '0.3', 'text/plain', ['application/json']],
  ])('declared as %s: an agent of %s that accepts %s refuses %j', (mediaType, version, input, offered) => {
    const part = { data: 'rain', ...(mediaType !== undefined && { mediaType }) }
    const call = callWith({ version: '1.0', params: { message: { parts: [part] } } })
    expect(evaluate(call, agent(version, [input]))).toEqual(
      offered.length === 0 ? passes : { kind: 'input-modes', offered, accepted: [input] },
    )
  })

  it('does not change the type of text', () => {
    const part = { text: 'a: 1', mediaType: 'application/yaml' }
    const call = callWith({ version: '1.0', params: { message: { parts: [part] } } })
    expect(evaluate(call, agent('0.3', ['application/yaml']))).toEqual(passes)
  })
})

describe('the version check', () => {
  it.each([
    ['JSONRPC', '1.0', ['0.3']],
    ['JSONRPC', '0.3', undefined],
    ['HTTP+JSON', '1.0', undefined],
    ['HTTP+JSON', '0.3', ['1.0']],
  ] as const)('compares %s %s with the versions of the agent in that binding', (binding, version, accepted) => {
    const profile = profileWith({ targets: [target('JSONRPC', '0.3'), target('HTTP+JSON', '1.0')] })
    expect(evaluate(callWith({ binding, version }), profile)).toStrictEqual(
      accepted === undefined ? passes : { kind: 'version', offered: version, accepted: [...accepted] },
    )
  })

  it('comes before every other check', () => {
    const profile = profileWith({
      targets: [target('JSONRPC', '0.3')],
      streaming: false,
      pushNotifications: false,
      requiredExtensions: ['urn:x'],
      route: 'closed',
    })
    expect(evaluate(callWith({ operation: 'stream' }), profile)).toStrictEqual({
      kind: 'version',
      offered: '1.0',
      accepted: ['0.3'],
    })
  })

  it.each(['off', 'warn', 'enforce'] as const)(
    'rejects a binding that the agent does not support, at level %s',
    level => {
      const profile = profileWith({
        targets: [target('JSONRPC', '1.0')],
        gate: { ...profileWith().gate, version: level },
      })
      expect(evaluate(callWith({ binding: 'HTTP+JSON' }), profile)).toStrictEqual({
        kind: 'version',
        offered: '1.0',
        accepted: [],
      })
    },
  )

  it('selects the target of a call by binding and version', () => {
    const targets = [target('HTTP+JSON', '0.3'), target('JSONRPC', '0.3'), target('JSONRPC', '1.0')]
    const profile = profileWith({ targets })
    expect([
      targetOf(callWith({ version: '1.0' }), profile),
      targetOf(callWith({ version: '0.3' }), profile),
      targetOf(callWith({ binding: 'HTTP+JSON', version: '1.0' }), profile),
      targetOf(callWith(), profileWith({ targets: [] })),
    ]).toStrictEqual([targets[2], targets[1], targets[0], undefined])
  })
})

describe('preferVersionError', () => {
  const profile = (level: 'off' | 'warn' | 'enforce' = 'enforce') =>
    profileWith({
      targets: [target('JSONRPC', '0.3'), target('HTTP+JSON', '1.0'), target('HTTP+JSON', '0.3')],
      gate: { ...profileWith().gate, version: level },
    })
  const unknownMethod = (version: A2ACall['version']): CallError => ({ kind: 'method', method: 'shout', version })

  it('reports an unsupported version rather than an unknown method', () => {
    expect([
      preferVersionError(unknownMethod('1.0'), 'JSONRPC', profile()),
      preferVersionError(unknownMethod('0.3'), 'JSONRPC', profile()),
      preferVersionError(unknownMethod('1.0'), 'HTTP+JSON', profile()),
    ]).toStrictEqual([
      { kind: 'version', offered: '1.0', accepted: ['0.3'] },
      unknownMethod('0.3'),
      unknownMethod('1.0'),
    ])
  })

  it.each(['off', 'warn'] as const)('reports the unknown method if the level of the version check is %s', level => {
    expect(preferVersionError(unknownMethod('1.0'), 'JSONRPC', profile(level))).toStrictEqual(unknownMethod('1.0'))
  })

  it('lists the versions of the agent, not those of the host', () => {
    const unsupported: CallError = { kind: 'version', offered: '9.9', accepted: ['0.3', '1.0'] }
    expect([
      preferVersionError(unsupported, 'JSONRPC', profile()),
      preferVersionError(unsupported, 'HTTP+JSON', profile('off')),
    ]).toStrictEqual([
      { ...unsupported, accepted: ['0.3'] },
      { ...unsupported, accepted: ['0.3', '1.0'] },
    ])
  })

  it('leaves every other error unchanged', () => {
    const error: CallError = { kind: 'not-json', detail: 'D.' }
    expect(preferVersionError(error, 'JSONRPC', profile())).toBe(error)
  })
})

describe('the capabilities check', () => {
  it.each(everyOperation)('requires for %s only the capability that the operation needs', operation => {
    const { needs } = operations[operation]
    const without = (changes: Partial<CallProfile>) => evaluate(callWith({ operation }), profileWith(changes))
    expect([
      without({ streaming: false }),
      without({ pushNotifications: false }),
      without({ extendedAgentCard: false }),
    ]).toStrictEqual([
      needs === 'streaming' ? { kind: 'streaming' } : passes,
      needs === 'pushNotifications' ? { kind: 'push-notifications' } : passes,
      needs === 'extendedAgentCard' ? { kind: 'extended-card' } : passes,
    ])
  })

  const configurations: [JsonObject, boolean][] = [
    [{ pushNotificationConfig: { url: 'https://a.example' } }, true],
    [{ taskPushNotificationConfig: { url: 'https://a.example' } }, true],
    [{ task_push_notification_config: { url: 'https://a.example' } }, true],
    [{ push_notification_config: { url: 'https://a.example' } }, true],
    [{ pushNotification: { url: 'https://a.example' } }, true],
    [{ push_notification: { url: 'https://a.example' } }, true],
    [{ taskPushNotificationConfig: null, task_push_notification_config: {} }, true],
    [{ pushNotificationConfig: {} }, true],
    [{ pushNotificationConfig: null }, false],
    [{ blocking: true }, false],
    [{}, false],
  ]

  it.each(configurations)(
    'requires push notifications for a message with the configuration %j: %s',
    (configuration, needed) => {
      const verdicts = (['0.3', '1.0'] as const).flatMap(version =>
        (['send', 'stream'] as const).map(operation =>
          evaluate(
            callWith({ version, operation, params: { configuration } }),
            profileWith({ pushNotifications: false }),
          ),
        ),
      )
      expect(verdicts).toStrictEqual(Array(4).fill(needed ? { kind: 'push-notifications' } : passes))
    },
  )

  it.each(configurations)(
    'requires push notifications for a message next to the configuration %j: %s',
    (params, needed) => {
      const verdicts = (['0.3', '1.0'] as const).flatMap(version =>
        (['send', 'stream'] as const).map(operation =>
          evaluate(callWith({ version, operation, params }), profileWith({ pushNotifications: false })),
        ),
      )
      expect(verdicts).toStrictEqual(Array(4).fill(needed ? { kind: 'push-notifications' } : passes))
    },
  )

  it('requires no push notifications for an operation without a message', () => {
    const params = { configuration: { pushNotificationConfig: {} } }
    expect(
      evaluate(callWith({ operation: 'getTask', params }), profileWith({ pushNotifications: false })),
    ).toStrictEqual(passes)
  })
})

describe('the extensions check', () => {
  const required = ['urn:a', 'urn:b']

  it.each([
    [[], ['urn:a', 'urn:b']],
    [['urn:b'], ['urn:a']],
    [['urn:A', 'urn:b'], ['urn:a']],
    [['urn:b', 'urn:c', 'urn:a'], []],
  ])('finds that %j lacks %j', (extensions, missing) => {
    expect(
      evaluate(callWith({ extensions, operation: 'getTask' }), profileWith({ requiredExtensions: required })),
    ).toStrictEqual(missing.length === 0 ? passes : { kind: 'extensions', required, missing })
  })
})

describe('the extended card', () => {
  const evaluateCard = (changes: Partial<CallProfile>) =>
    evaluate(callWith({ operation: 'extendedCard', params: {} }), profileWith(changes))

  it.each([
    [false, [], { kind: 'extended-card' }],
    [false, ['extended'], { kind: 'extended-card' }],
    [true, [], { kind: 'extended-card-not-configured' }],
    [true, ['extended'], passes],
  ])('depends on its declaration (%s) and on tiers %j', (extendedAgentCard, tiers, verdict) => {
    expect(evaluateCard({ extendedAgentCard, tiers })).toStrictEqual(verdict)
  })

  it('is checked at every gate level', () => {
    const gate = { capabilities: 'off', modes: 'off', extensions: 'off', version: 'off', responses: 'off' } as const
    expect([evaluateCard({ gate, extendedAgentCard: false }), evaluateCard({ gate, tiers: [] })]).toStrictEqual([
      { kind: 'extended-card' },
      { kind: 'extended-card-not-configured' },
    ])
  })

  it('needs no target, extension or open route, because the host itself responds', () => {
    expect(evaluateCard({ targets: [], requiredExtensions: ['urn:a'], route: 'closed' })).toStrictEqual(passes)
  })
})

/** An agent at which `failingCall` fails every check. */
const restrictiveAgent = profileWith({
  targets: [target('JSONRPC', '0.3')],
  streaming: false,
  pushNotifications: false,
  requiredExtensions: ['urn:a'],
  modes: {
    defaults: { input: ['image/png'], output: ['image/png'] },
    union: { input: ['image/png'], output: ['image/png'] },
    skills: {},
  },
})
const failingCall = callWith({
  operation: 'stream',
  params: {
    message: { parts: [{ text: 'a' }] },
    configuration: { acceptedOutputModes: ['text/plain'], taskPushNotificationConfig: {} },
  },
})
const modes = { offered: ['text/plain'], accepted: ['image/png'] }
/** The errors of `failingCall`, in the order of the checks. */
const errors: [keyof CallProfile['gate'], CallError][] = [
  ['version', { kind: 'version', offered: '1.0', accepted: ['0.3'] }],
  ['capabilities', { kind: 'streaming' }],
  ['capabilities', { kind: 'push-notifications' }],
  ['extensions', { kind: 'extensions', required: ['urn:a'], missing: ['urn:a'] }],
  ['modes', { kind: 'input-modes', ...modes }],
  ['modes', { kind: 'output-modes', ...modes }],
]
const levels = ['off', 'warn', 'enforce'] as const
const families = ['version', 'capabilities', 'extensions', 'modes'] as const
const everyGate = families.reduce<Partial<CallProfile['gate']>[]>(
  (gates, family) => gates.flatMap(gate => levels.map(level => ({ ...gate, [family]: level }))),
  [{}],
) as CallProfile['gate'][]

describe('gate levels', () => {
  it.each(everyGate)(
    '$version, $capabilities, $extensions, $modes: the first enforced check rejects the call',
    gate => {
      const enforced = errors.find(([family]) => gate[family] === 'enforce')
      const warnings = errors.filter(([family]) => gate[family] === 'warn').map(([, error]) => error)
      expect(evaluate(failingCall, { ...restrictiveAgent, gate })).toStrictEqual(
        enforced?.[1] ?? { warnings, hasPushConfig: true },
      )
    },
  )

  it.each(everyGate)('$version, $capabilities, $extensions, $modes: a closed agent receives no call', gate => {
    const enforced = errors.find(([family]) => gate[family] === 'enforce')
    expect(evaluate(failingCall, { ...restrictiveAgent, gate, route: 'closed' })).toStrictEqual(
      enforced?.[1] ?? { kind: 'closed' },
    )
  })

  it.each(['direct', 'gateway'] as const)('are the same for the route %s', route => {
    expect(evaluate(callWith(), profileWith({ route }))).toStrictEqual(passes)
  })
})

it('never throws, and every error can be serialized', () => {
  const agent = fc.record({
    streaming: fc.boolean(),
    pushNotifications: fc.boolean(),
    modes: fc
      .record({ input: fc.array(fc.string()), output: fc.array(fc.string()) })
      .map(lists => ({ defaults: lists, union: lists, skills: { a: lists } })),
  })
  const message = fc.record(
    {
      parts: fc.oneof(
        fc.jsonValue(),
        fc.array(fc.dictionary(fc.constantFrom('kind', 'text', 'data', 'file', 'mediaType'), fc.jsonValue())),
      ),
      metadata: fc.oneof(
        fc.jsonValue(),
        fc.record({ skillId: fc.oneof(fc.constantFrom('a', '__proto__', 'valueOf'), fc.jsonValue()) }),
      ),
    },
    { requiredKeys: [] },
  )
  const configuration = fc.dictionary(
    fc.constantFrom('acceptedOutputModes', 'pushNotificationConfig'),
    fc.oneof(fc.jsonValue(), fc.array(fc.string())),
  )
  const params = fc.oneof(
    fc.dictionary(fc.string(), fc.jsonValue()),
    fc.record(
      { message: fc.oneof(message, fc.jsonValue()), configuration: fc.oneof(configuration, fc.jsonValue()) },
      { requiredKeys: [] },
    ),
  )
  return fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...everyOperation),
      fc.constantFrom('0.3' as const, '1.0' as const),
      params,
      agent,
      async (operation, version, generated, changes) => {
        const call = callWith({ operation, version, params: JSON.parse(JSON.stringify(generated)) })
        const verdict = await evaluatePolicy(call, profileWith(changes))
        if ('kind' in verdict)
          expect(JSON.parse(JSON.stringify(toJsonRpcError(verdict, version)))).toMatchObject({
            code: expect.any(Number),
          })
      },
    ),
  )
})
