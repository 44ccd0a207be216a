import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { ResultFacts } from '../../src/a2a/results.ts'
import type { CallProfile } from '../../src/card/call-profile.ts'
import { observeAnswers } from '../../src/gateway/answer-policy.ts'
import { createCallContext } from '../../src/gateway/call-context.ts'
import { parseMediaRange } from '../../src/http/media-type.ts'
import { callWith, profileWith } from '../support/calls.ts'
import { executionContext } from '../support/kv.ts'

vi.mock('../../src/http/media-type.ts', async importOriginal => {
  const original = await importOriginal<typeof import('../../src/http/media-type.ts')>()
  return { ...original, parseMediaRange: vi.fn(original.parseMediaRange) }
})

const request = new Request('https://cards.example.com/agents/weather/a2a', { method: 'POST' })
const registry = { recordObservations: async () => undefined }
const env = { REGISTRY: { getByName: () => registry } } as unknown as Env
const contextOf = () => createCallContext({ authenticated: false, reason: 'anonymous' }, request, env, executionContext)

const factsWith = (...mediaTypes: string[]): ResultFacts => ({ kind: 'message', tasks: [], contexts: [], mediaTypes })

const modesWith = (...output: string[]): CallProfile['modes'] => ({
  defaults: { input: [], output },
  union: { input: [], output },
  skills: {},
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

  beforeEach(() => {
    parsed.mockClear()
  })

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
