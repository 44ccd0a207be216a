import { describe, expect, it } from 'vitest'
import type { AgentCard } from '../../src/card/model/agent-card.ts'
import { resolveTargets } from '../../src/card/model/calls.ts'
import { createObservations, type Observations, type Outcomes } from '../../src/card/model/observed-calls.ts'
import { compareWithObservations, observedRules } from '../../src/conformance/proposals.ts'

const card = (more: Partial<AgentCard> = {}): AgentCard => ({
  name: 'Weather',
  description: 'Tells the weather',
  version: '1.0.0',
  supportedInterfaces: [
    { url: 'https://a.example/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: 'https://a.example/grpc', protocolBinding: 'GRPC', protocolVersion: '1.0' },
    { url: 'https://a.example/old', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  ],
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'a', name: 'A', description: 'Does a', tags: ['a'] }],
  ...more,
})

const outcomes = (answered: number, refused = 0, failed = 0): Outcomes => ({ answered, refused, failed })

const compare = (
  observed: Partial<Observations>,
  more: Partial<AgentCard> = {},
  extendedOutputModes: string[] = [],
) => {
  const declared = card(more)
  return compareWithObservations(
    { card: declared, targets: resolveTargets(declared, {}), extendedOutputModes },
    { ...createObservations(0), ...observed },
  )
}

describe('the comparison of a card with its calls', () => {
  it('proposes to declare what was seen, and not to declare what is always refused', () => {
    const streaming = outcomes(1, 1)
    const pushNotifications = outcomes(0, 3, 1)
    const found = compare({ streaming, pushNotifications }, { capabilities: { pushNotifications: true } })
    expect(found).toEqual([
      {
        rule: 'observed-streaming',
        pointer: '/capabilities/streaming',
        message: 'is not true, but of 2 calls that asked for a stream 1 was answered with a stream',
        seen: streaming,
        change: { op: 'add', path: '/capabilities/streaming', value: true },
      },
      {
        rule: 'observed-push-notifications',
        pointer: '/capabilities/pushNotifications',
        message:
          'is true, but of 4 calls that configured push notifications none was accepted, and 3 were refused as not supported',
        seen: pushNotifications,
        change: { op: 'add', path: '/capabilities/pushNotifications', value: false },
      },
    ])
  })

  it('proposes nothing for a capability that works, may work, or is not declared', () => {
    const rows: [declared: boolean, Outcomes][] = [
      [true, outcomes(1, 99)],
      // Two refusals may have another reason, and the agent may be down.
      [true, outcomes(0, 2)],
      [true, outcomes(0, 0, 50)],
      [false, outcomes(0, 9)],
    ]
    for (const [declared, seen] of rows) {
      const capabilities = { streaming: declared, pushNotifications: declared }
      expect([seen, ...compare({ streaming: seen, pushNotifications: seen }, { capabilities })]).toEqual([seen])
    }
  })

  it('proposes to declare the media types that the agent produced, in one change', () => {
    const mediaTypes = { 'text/plain': 9, 'image/png': 3, 'audio/ogg': 1 }
    expect(compare({ mediaTypes })).toEqual([
      {
        rule: 'observed-output-modes',
        pointer: '/defaultOutputModes',
        message: 'do not include what the agent produced: image/png (in 3 results), audio/ogg (in 1 result)',
        seen: { 'image/png': 3, 'audio/ogg': 1 },
        change: { op: 'add', path: '/defaultOutputModes', value: ['text/plain', 'image/png', 'audio/ogg'] },
      },
    ])
  })

  it('counts a media type as declared by a range, by a skill and by an extended card', () => {
    const mediaTypes = { 'image/png': 1 }
    for (const mode of ['image/*', 'Image/PNG; q=0.5; size=large'])
      expect([mode, ...compare({ mediaTypes }, { defaultOutputModes: [mode] })]).toEqual([mode])
    const skill = { id: 'a', name: 'A', description: 'a', tags: ['a'], outputModes: ['image/png'] }
    expect(compare({ mediaTypes }, { skills: [skill] })).toEqual([])
    expect(compare({ mediaTypes }, {}, ['image/png'])).toEqual([])
    expect(compare({ mediaTypes }, {}, ['image/jpeg'])).toHaveLength(1)
    // What is counted as `other` is no media type.
    expect(compare({ mediaTypes: { other: 9 } })).toEqual([])
  })

  it('lists at most ten media types in the message, and counts the others', () => {
    const mediaTypes = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`image/t${index}`, 1]))
    const [proposal] = compare({ mediaTypes })
    expect(proposal?.message).toMatch(/image\/t9 \(in 1 result\) and 40 more$/)
    expect(Object.keys(proposal?.seen ?? {})).toHaveLength(50)
  })

  it('proposes to remove an interface whose protocol the agent always refuses', () => {
    const protocols = { 'JSONRPC 0.3': outcomes(0, 3), 'JSONRPC 1.0': outcomes(10, 5), 'GRPC 1.0': outcomes(0, 2) }
    expect(compare({ protocols })).toEqual([
      {
        rule: 'observed-interface',
        pointer: '/supportedInterfaces/2',
        message: 'declares JSONRPC 0.3, but of 3 calls in it the agent refused 3 and answered none',
        seen: outcomes(0, 3),
        change: { op: 'remove', path: '/supportedInterfaces/2' },
      },
    ])
    const first = { rule: 'observed-interface', pointer: '/supportedInterfaces/0' }
    expect(compare({ protocols: { 'JSONRPC 1.0': outcomes(0, 3) } })).toMatchObject([first])
  })

  it('proposes to add an interface in whose protocol the agent answers', () => {
    const supportedInterfaces = card().supportedInterfaces.slice(0, 1)
    const protocols = { 'JSONRPC 0.3': outcomes(2, 0, 1), 'HTTP+JSON 0.3': outcomes(0, 9) }
    expect(compare({ protocols }, { supportedInterfaces })).toEqual([
      {
        rule: 'observed-interface',
        pointer: '/supportedInterfaces',
        message: 'lacks JSONRPC 0.3, in which the agent answered 2 of 3 calls',
        seen: outcomes(2, 0, 1),
        change: {
          op: 'add',
          path: '/supportedInterfaces/-',
          value: { url: 'https://a.example/rpc', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
        },
      },
    ])
  })

  it('has a rule for each kind of proposal', () => {
    const found = compare({
      streaming: outcomes(1),
      pushNotifications: outcomes(1),
      operations: { extendedCard: outcomes(1) },
      mediaTypes: { 'image/png': 1 },
      protocols: { 'JSONRPC 0.3': outcomes(0, 3) },
    })
    expect(found.map(({ rule }) => rule)).toEqual(observedRules.map(({ id }) => id))
  })
})
