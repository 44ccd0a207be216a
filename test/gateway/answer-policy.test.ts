import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { CallError } from '../../src/a2a/call-error.ts'
import type { Inspected, ResultFacts } from '../../src/a2a/read-result.ts'
import type { CallProfile } from '../../src/card/call-profile.ts'
import type { Observations, Outcomes } from '../../src/card/model/observed-calls.ts'
import { observeAnswers } from '../../src/gateway/answer-policy.ts'
import { type CallContext, createCallContext } from '../../src/gateway/gate/call-context.ts'
import type { OwnedCall } from '../../src/gateway/tasks/owned-call.ts'
import { sendObservations } from '../../src/registry/edge/observed-calls.ts'
import { callWith, profileWith } from '../support/calls.ts'
import { executionContext } from '../support/kv.ts'

// What is observed is sent in the background.
beforeEach(() => void vi.useFakeTimers())

type Forwarded = Parameters<typeof observeAnswers>[1]
type Gate = CallProfile['gate']
type Operation = Forwarded['call']['operation']

const modesWith = (...output: string[]): CallProfile['modes'] => ({
  ...{ defaults: { input: [], output }, union: { input: [], output }, skills: {} },
})
const gateWith = (changes: Partial<Gate>): Partial<CallProfile> => ({ gate: { ...profileWith().gate, ...changes } })
const factsWith = (...mediaTypes: string[]): ResultFacts => ({ kind: 'message', tasks: [], contexts: [], mediaTypes })

let agents = 0
let sent: Observations | undefined
const recordObservations = async (_: string, observations: Observations) => {
  sent = observations
}
const env = { REGISTRY: { getByName: () => ({ recordObservations }) } } as unknown as Env

/** Observes the answers to a call of an agent of its own, which accepts and produces everything. */
const observe = (changes: Partial<CallProfile> = {}, { call = callWith(), ...forwarded }: Partial<Forwarded> = {}) => {
  const request = new Request('https://cards.example.com/agents/weather/a2a', { method: 'POST' })
  const context: CallContext = createCallContext(
    { authenticated: false, reason: 'anonymous' },
    { request, env, ctx: executionContext },
  )
  context.agent = { id: `answer-policy-${agents++}`, named: 'weather' }
  const profile = profileWith(changes)
  const answers = observeAnswers(context, { call, profile, owned: undefined, hasPushConfig: false, ...forwarded })
  return { context, policy: answers.policy, end: (response: Response | CallError) => answers.end(response) }
}

/** Returns what was observed of the agent: outcome, outcome of its protocol, failures and media types. */
const observedOf = async ({ agent }: CallContext) => {
  sent = undefined
  await sendObservations(agent.id, env)
  if (!sent) return undefined
  const { operations, protocols, failures, mediaTypes } = sent
  const namesOf = (groups: Record<string, Outcomes>) =>
    Object.values(groups).flatMap(group => Object.entries(group).flatMap(([name, count]) => (count > 0 ? name : [])))
  return [...namesOf(operations), ...namesOf(protocols), ...Object.keys(failures), ...Object.keys(mediaTypes)].join(' ')
}

/** A list whose copies count how often they are parsed. */
let reads = 0
class CountedList extends Array<string> {
  override map<Result>(each: (item: string, index: number, list: string[]) => Result): Result[] {
    reads++
    return Array.from(this).map(each)
  }
}

describe('the media types of a stream', () => {
  const open = (declared: string, accepted: string[]) => {
    const configuration = { acceptedOutputModes: accepted }
    const call = callWith({ operation: 'stream', params: { configuration } })
    const { context, policy } = observe({ modes: modesWith(declared) }, { call })
    return { context, inspect: async (facts: ResultFacts) => await policy.inspect?.(facts, 'response') }
  }
  const modes = Array.from({ length: 100 }, (_, index) => `image/x${index}; level=1`)

  it('are compared with what the caller accepts, which is parsed once and only if it is needed', async () => {
    reads = 0
    const { context, inspect } = open('image/*', CountedList.from(modes))
    await inspect(factsWith('image/x1; level=1'))
    expect(reads).toBe(0)
    for (let event = 0; event < 10; event++) await inspect(factsWith('image/x1'))
    expect([reads, context.warnings]).toEqual([1, []])
  })

  it('are each reported once', async () => {
    const { context, inspect } = open('audio/*', modes)
    await inspect(factsWith('audio/ogg'))
    expect(context.warnings).toEqual([{ kind: 'unaccepted-output-modes' }])
    for (let event = 0; event < 2; event++) await inspect(factsWith('video/mp4'))
    expect(context.warnings).toEqual([{ kind: 'unaccepted-output-modes' }, { kind: 'undeclared-output-modes' }])
  })

  it('make this host read the extended card once, and only if they differ', async () => {
    const tiers = vi.fn(() => [])
    const profile = Object.defineProperty(profileWith({ modes: modesWith('text/plain') }), 'tiers', { get: tiers })
    const call = callWith({ params: { configuration: { acceptedOutputModes: ['text/plain', 'audio/*'] } } })
    const { policy } = observe({}, { call, profile })
    await policy.inspect?.(factsWith('text/plain'), 'response')
    expect(tiers).not.toHaveBeenCalled()
    // Not declared, then not accepted either.
    for (const type of ['audio/ogg', 'video/mp4']) await policy.inspect?.(factsWith(type), 'response')
    expect(tiers).toHaveBeenCalledOnce()
  })
})

describe('a list of tasks that are kept apart', () => {
  const facts: ResultFacts = {
    ...factsWith('text/plain', 'image/png'),
    kind: 'task-list',
    tasks: [
      { id: 't', mediaTypes: ['text/plain'] },
      { id: 'u', mediaTypes: ['image/png'] },
    ],
  }
  const call = callWith({ operation: 'listTasks' })
  const openList = (inspect: OwnedCall['inspect']) =>
    observe({ modes: modesWith('text/plain') }, { call, owned: { call, inspect } })

  it('is compared with the card as far as the caller sees it, if that is known at once or later', async () => {
    const undeclared = [{ kind: 'undeclared-output-modes' }]
    for (const decide of [(decision: Inspected) => decision, async (decision: Inspected) => decision])
      for (const [expected, ...ids] of [
        [undeclared, 't', 'u'],
        [[], 't'],
      ] as const) {
        const list = { ids: new Set<string>(ids), nextPageToken: '', pageSize: 50, totalSize: ids.length }
        const { context, policy } = openList(() => decide({ list }) as ReturnType<OwnedCall['inspect']>)
        expect(await policy.inspect?.(facts, 'response')).toEqual({ list })
        expect(context.warnings, ids.join()).toEqual(expected)
      }
  })

  it('is not compared if it is refused', async () => {
    const { context, policy } = openList(async () => ({ kind: 'unavailable' }))
    expect(await policy.inspect?.(facts, 'response')).toEqual({ kind: 'unavailable' })
    expect(context.warnings).toEqual([])
  })
})

describe('the repairs of answers', () => {
  it('are each reported once, whatever else the gate checks', () => {
    for (const gate of [{}, { responses: 'off' }] as const) {
      const { context, policy } = observe(gateWith(gate))
      for (const repairs of [['kind'], ['kind', 'id'], ['id']] as const) policy.onRepair?.(repairs, 'response')
      const reported = ['kind', 'id'].map(repair => ({ kind: 'repaired', repairs: [repair] }))
      expect(context.warnings, JSON.stringify(gate)).toEqual(reported)
    }
  })

  it('of an event are logged, because the headers of its stream were sent', () => {
    const info = vi.spyOn(console, 'info').mockImplementation(() => undefined)
    const { context, policy } = observe()
    policy.onRepair?.(['record-separator', 'kind'], 'event')
    policy.onRepair?.(['kind'], 'event')
    const warnings = info.mock.calls.map(([line]) => JSON.parse(line)['calling_card.warnings'])
    expect([context.warnings, warnings]).toEqual([[], ['repaired (record-separator kind)']])
  })

  it('are not reported of a list in which others have tasks', () => {
    const policyOf = (operation: Operation) => {
      const call = callWith({ operation })
      return observe({}, { call, owned: { call, inspect: async () => undefined } }).policy
    }
    expect([policyOf('listTasks').onRepair, policyOf('send').onRepair]).toEqual([undefined, expect.any(Function)])
  })

  it('are not made with warn, which reports a stack trace once', () => {
    const { context, policy } = observe(gateWith({ responses: 'warn' }))
    policy.onStackTrace?.('response')
    policy.onStackTrace?.('response')
    expect(context.warnings).toEqual([{ kind: 'stack-trace' }])
  })
})

describe('what is observed of a call', () => {
  const refusal: ResultFacts = { ...factsWith(), kind: 'error', error: { code: -32601 } }

  it('is an error of the agent', async () => {
    for (const gate of [{}, { modes: 'off' }, { modes: 'off', responses: 'warn' }] as const) {
      const { context, policy, end } = observe(gateWith(gate))
      policy.inspect?.(refusal, 'response')
      end(Response.json({}))
      expect(await observedOf(context), JSON.stringify(gate)).toBe('refused refused -32601')
    }
  })

  it('is an error event of the agent with modes that are off', async () => {
    const { context, policy, end } = observe(gateWith({ modes: 'off' }), { call: callWith({ operation: 'stream' }) })
    end(new Response('', { headers: { 'Content-Type': 'text/event-stream' } }))
    expect(await observedOf(context)).toBeUndefined()
    policy.inspect?.(refusal, 'event')
    expect(await observedOf(context)).toBe('refused failed -32601')
  })

  it('is its status alone with responses that are off', async () => {
    const { context, policy, end } = observe(gateWith({ responses: 'off' }))
    expect(policy.inspect).toBeUndefined()
    end(Response.json({}))
    expect(await observedOf(context)).toBe('answered answered')
  })

  it('with the id of another caller is a failure, which shows what the agent supports nevertheless', async () => {
    const error: CallError = { kind: 'foreign-task', detail: '' }
    const { context, policy, end } = observe({}, { owned: { call: callWith(), inspect: () => error } })
    await policy.inspect?.(factsWith('text/plain'), 'response')
    end(error)
    expect(await observedOf(context)).toBe('answered answered foreign-task text/plain')
  })

  it('is no fault of this host or the caller', async () => {
    for (const [error, expected] of [
      [{ kind: 'timeout', seconds: 1 }, 'failed failed timeout'],
      [{ kind: 'invalid-response', status: 200 }, 'failed failed invalid-response'],
      // Anyone can forge `Via`, and the owner of the host has to correct its configuration.
      [{ kind: 'loop' }, undefined],
      [{ kind: 'misconfigured', detail: 'This Worker has no secret.' }, undefined],
    ] as [CallError, string | undefined][]) {
      const { context, end } = observe()
      end(error)
      expect(await observedOf(context), error.kind).toBe(expected)
    }
  })
})
