import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CallError } from '../../src/a2a/errors.ts'
import type { Inspected, ResultFacts } from '../../src/a2a/results.ts'
import type { CallProfile } from '../../src/card/call-profile.ts'
import { readExtendedModes } from '../../src/gateway/access.ts'
import { observeAnswers } from '../../src/gateway/answer-policy.ts'
import { createCallContext } from '../../src/gateway/call-context.ts'
import { parseMediaRange } from '../../src/http/media-type.ts'
import { observeCall } from '../../src/registry/edge/observations.ts'
import type { OwnedCall } from '../../src/task-owners/agent-owners.ts'
import { callWith, profileWith } from '../support/calls.ts'
import { executionContext } from '../support/kv.ts'

// Other files of this process have loaded these modules.
vi.hoisted(() => vi.resetModules())
afterAll(() => vi.resetModules())

vi.mock('../../src/http/media-type.ts', async importOriginal => {
  const original = await importOriginal<typeof import('../../src/http/media-type.ts')>()
  return { ...original, parseMediaRange: vi.fn(original.parseMediaRange) }
})

vi.mock('../../src/gateway/access.ts', async importOriginal => {
  const original = await importOriginal<typeof import('../../src/gateway/access.ts')>()
  return { ...original, readExtendedModes: vi.fn(original.readExtendedModes) }
})

vi.mock('../../src/registry/edge/observations.ts', () => ({ observeCall: vi.fn(), observeMediaTypes: vi.fn() }))

const request = new Request('https://cards.example.com/agents/weather/a2a', { method: 'POST' })
const contextOf = () =>
  createCallContext({ authenticated: false, reason: 'anonymous' }, { request, env: {} as Env, ctx: executionContext })

const factsWith = (...mediaTypes: string[]): ResultFacts => ({ kind: 'message', tasks: [], contexts: [], mediaTypes })

const modesWith = (...output: string[]): CallProfile['modes'] => ({
  defaults: { input: [], output },
  union: { input: [], output },
  skills: {},
})

beforeEach(() => {
  vi.clearAllMocks()
})

describe('the media types of a stream', () => {
  const parsed = vi.mocked(parseMediaRange)
  const acceptedOutputModes = Array.from({ length: 100 }, (_, index) => `image/x${index}; level=1`)

  const open = (declared: string[]) => {
    const context = contextOf()
    const call = callWith({ operation: 'stream', params: { configuration: { acceptedOutputModes } } })
    const profile = profileWith({ modes: modesWith(...declared) })
    const { policy } = observeAnswers(context, { call, profile, owned: undefined, hasPushConfig: false })
    return { context, inspect: async (facts: ResultFacts) => await policy.inspect?.(facts, 'response') }
  }

  it('are compared with what the caller accepts, which is parsed once and only if it is needed', async () => {
    const { context, inspect } = open(['image/*'])
    await inspect(factsWith('image/x1; level=1'))
    expect(parsed.mock.calls.filter(([text]) => acceptedOutputModes.includes(text)).length).toBeLessThanOrEqual(1)
    parsed.mockClear()
    for (let event = 0; event < 10; event++) await inspect(factsWith('image/x1'))
    expect(parsed.mock.calls.filter(([text]) => acceptedOutputModes.includes(text))).toHaveLength(100)
    expect(context.warnings).toEqual([])
  })

  it('are not compared any more when both differences are reported', async () => {
    const { context, inspect } = open(['text/plain'])
    await inspect(factsWith('audio/ogg'))
    expect(context.warnings).toEqual([{ kind: 'undeclared-output-modes' }, { kind: 'unaccepted-output-modes' }])
    parsed.mockClear()
    await inspect(factsWith('audio/wav'))
    expect(parsed).not.toHaveBeenCalled()
  })

  it('are still compared with the modes of the card when only what the caller accepts is reported', async () => {
    const { context, inspect } = open(['audio/*'])
    await inspect(factsWith('audio/ogg'))
    expect(context.warnings).toEqual([{ kind: 'unaccepted-output-modes' }])
    await inspect(factsWith('video/mp4'))
    expect(context.warnings).toEqual([{ kind: 'unaccepted-output-modes' }, { kind: 'undeclared-output-modes' }])
  })
})

describe('the media types of an extended card', () => {
  it('are read once in a call, if an answer has a type that the public card does not declare', async () => {
    const read = vi.mocked(readExtendedModes)
    read.mockResolvedValueOnce(modesWith('audio/*'))
    const context = contextOf()
    const profile = profileWith({ modes: modesWith('text/plain') })
    const { policy } = observeAnswers(context, { call: callWith(), profile, owned: undefined, hasPushConfig: false })
    await policy.inspect?.(factsWith('text/plain'), 'event')
    expect(read).not.toHaveBeenCalled()
    for (const type of ['audio/ogg', 'audio/wav', 'audio/ogg']) await policy.inspect?.(factsWith(type), 'event')
    expect(read).toHaveBeenCalledOnce()
  })
})

describe('an answer with the id of another caller', () => {
  it('counts as a failure of the agent, which has shown what it supports nevertheless', async () => {
    const error: CallError = { kind: 'foreign-task', detail: '' }
    const owned = { call: callWith(), inspect: () => error }
    const answers = observeAnswers(contextOf(), {
      call: callWith(),
      profile: profileWith(),
      owned,
      hasPushConfig: false,
    })
    await answers.policy.inspect?.(factsWith('text/plain'), 'response')
    answers.end(error)
    expect(vi.mocked(observeCall).mock.calls.map(([, observed]) => observed)).toMatchObject([
      { failure: 'foreign-task', outcome: 'answered', protocolOutcome: 'answered', mediaTypes: ['text/plain'] },
    ])
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
  const inspectFor = async (ids: string[], decide: (decision: Inspected) => ReturnType<OwnedCall['inspect']>) => {
    const list = { ids: new Set(ids), nextPageToken: '', pageSize: 50, totalSize: ids.length }
    const call = callWith({ operation: 'listTasks' })
    const context = contextOf()
    const profile = profileWith({ modes: modesWith('text/plain') })
    const owned = { call, inspect: () => decide({ list }) }
    const { policy } = observeAnswers(context, { call, profile, owned, hasPushConfig: false })
    expect(await policy.inspect?.(facts, 'response')).toEqual({ list })
    return context.warnings
  }

  it.each<[string, (decision: Inspected) => ReturnType<OwnedCall['inspect']>]>([
    ['at once', decision => decision],
    ['later', async decision => decision],
  ])('is compared with the card as far as the caller sees it, if that is known %s', async (_, decide) => {
    expect(await inspectFor(['t', 'u'], decide)).toEqual([{ kind: 'undeclared-output-modes' }])
    expect(await inspectFor(['u'], decide)).toEqual([{ kind: 'undeclared-output-modes' }])
    expect(await inspectFor(['t'], decide)).toEqual([])
    expect(await inspectFor([], decide)).toEqual([])
  })

  it('is not compared if it is refused', async () => {
    const call = callWith({ operation: 'listTasks' })
    const context = contextOf()
    const error: CallError = { kind: 'unavailable' }
    const answers = observeAnswers(context, {
      call,
      profile: profileWith({ modes: modesWith('text/plain') }),
      owned: { call, inspect: async () => error },
      hasPushConfig: false,
    })
    expect(await answers.policy.inspect?.(facts, 'response')).toEqual(error)
    expect(context.warnings).toEqual([])
  })
})

describe('the repairs of answers', () => {
  const open = (
    operation: 'send' | 'listTasks' = 'send',
    changes: Partial<CallProfile['gate']> = {},
    isOwned = false,
  ) => {
    const call = callWith({ operation })
    const profile = profileWith()
    const owned: OwnedCall | undefined = isOwned ? { call, inspect: async () => undefined } : undefined
    const context = contextOf()
    const gated = { ...profile, gate: { ...profile.gate, ...changes } }
    return { context, policy: observeAnswers(context, { call, profile: gated, owned, hasPushConfig: false }).policy }
  }

  it.each([{}, { modes: 'off' }, { responses: 'off' }] as const)('are each reported once, with %j', gate => {
    const { context, policy } = open('send', gate)
    policy.onRepair?.(['kind'], 'response')
    policy.onRepair?.(['kind', 'id'], 'response')
    policy.onRepair?.(['id'], 'response')
    expect(context.warnings).toEqual([
      { kind: 'repaired', repairs: ['kind'] },
      { kind: 'repaired', repairs: ['id'] },
    ])
  })

  it('of an event are logged, because the headers of its stream were sent', () => {
    const info = vi.spyOn(console, 'info').mockImplementation(() => undefined)
    const { context, policy } = open()
    policy.onRepair?.(['record-separator', 'kind'], 'event')
    policy.onRepair?.(['kind'], 'event')
    const warnings = info.mock.calls.map(([line]) => JSON.parse(line)['calling_card.warnings'])
    expect([context.warnings, warnings]).toEqual([[], ['repaired (record-separator kind)']])
  })

  it('are not reported of a list in which others have tasks', () => {
    expect(open('listTasks', {}, true).policy.onRepair).toBeUndefined()
    expect(open('send', {}, true).policy.onRepair).toBeDefined()
  })

  it('are not made with warn, which reports a stack trace once', () => {
    const { context, policy } = open('send', { responses: 'warn' })
    policy.onStackTrace?.('response')
    policy.onStackTrace?.('response')
    expect(context.warnings).toEqual([{ kind: 'stack-trace' }])
  })
})

describe('what is observed of a call', () => {
  const observe = (gate: Partial<CallProfile['gate']> = {}, operation: 'send' | 'stream' = 'send') => {
    const profile = profileWith({ modes: modesWith('text/plain') })
    const gated = { ...profile, gate: { ...profile.gate, ...gate } }
    const context = contextOf()
    const answers = observeAnswers(context, {
      call: callWith({ operation }),
      profile: gated,
      owned: undefined,
      hasPushConfig: false,
    })
    return { context, policy: answers.policy, end: (response: Response | CallError) => answers.end(response) }
  }
  const counted = () => vi.mocked(observeCall).mock.calls.map(([, call]) => call)
  const refusal: ResultFacts = { ...factsWith(), kind: 'error', error: { code: -32601 } }

  it.each([
    { modes: 'enforce', responses: 'enforce' },
    { modes: 'off', responses: 'enforce' },
    { modes: 'off', responses: 'warn' },
  ] as const)('is an error of the agent with %j', gate => {
    const { policy, end } = observe(gate)
    policy.inspect?.(refusal, 'response')
    end(Response.json({}))
    expect(counted()).toMatchObject([{ outcome: 'refused', failure: '-32601' }])
  })

  it('is an error event of the agent with modes that are off', () => {
    const { policy, end } = observe({ modes: 'off' }, 'stream')
    end(new Response('', { headers: { 'Content-Type': 'text/event-stream' } }))
    policy.inspect?.(refusal, 'event')
    expect(counted()).toMatchObject([{ outcome: 'refused', failure: '-32601' }])
  })

  it('is its status alone with responses that are off', () => {
    const { policy, end } = observe({ responses: 'off' })
    expect(policy.inspect).toBeUndefined()
    end(Response.json({}))
    expect(counted()).toMatchObject([{ outcome: 'answered' }])
  })

  it.each<[CallError, object[]]>([
    [{ kind: 'timeout', seconds: 1 }, [{ outcome: 'failed', failure: 'timeout' }]],
    [{ kind: 'invalid-response', status: 200 }, [{ outcome: 'failed', failure: 'invalid-response' }]],
    // Anyone can forge `Via`, and the owner of the host has to correct its configuration.
    [{ kind: 'loop' }, []],
    [{ kind: 'misconfigured', detail: 'This Worker has no secret.' }, []],
  ])('is no fault of this host or the caller: %j', (error, expected) => {
    observe().end(error)
    expect(counted()).toMatchObject(expected)
    expect(counted()).toHaveLength(expected.length)
  })
})
