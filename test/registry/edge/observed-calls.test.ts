import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createObservations, mergeObservations, type Observations } from '../../../src/card/model/observed-calls.ts'
import type { CallEnd, ForwardedCall } from '../../../src/registry/edge/call-outcome.ts'
import { observeCall, observeMediaTypes, sendObservations } from '../../../src/registry/edge/observed-calls.ts'
import { executionContext as ctx } from '../../support/kv.ts'

// The isolate remembers agents, so each test has its own.
let agent: string
let tests = 0
let sent: { id: string; observations: Observations }[]
let fails: boolean
beforeEach(() => {
  agent = `observed-${++tests}`
  vi.useFakeTimers({ now: 1_000_000 })
  sent = []
  fails = false
})

const recordObservations = async (id: string, observations: Observations): Promise<void> => {
  sent.push({ id, observations })
  if (fails) throw new Error('down')
}
const env = { REGISTRY: { getByName: () => ({ recordObservations }) } } as unknown as Env

const sending: ForwardedCall = { operation: 'send', binding: 'JSONRPC', version: '1.0' }
const answered: CallEnd = { status: 200, isStream: false }
const streamed: CallEnd = { status: 200, isStream: true }

type Observed = { call?: ForwardedCall; end?: CallEnd; id?: string }

const observe = (times = 1, { call = sending, end = answered, id = agent }: Observed = {}): void => {
  for (let time = 0; time < times; time++) observeCall(id, call, end, { env, ctx })
}
const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000)
const counts = () => sent.map(({ observations }) => observations.calls)

describe('what an isolate observes', () => {
  it('is sent a second after the first call, in one request', async () => {
    observeMediaTypes(agent, [], env, ctx)
    await sendObservations(agent, env)
    observe(100)
    expect(counts()).toEqual([])
    await pass(1)
    const results = { answered: 100, refused: 0, failed: 0 }
    const operations = { operations: { send: results }, protocols: { 'JSONRPC 1.0': results } }
    expect(sent).toEqual([{ id: agent, observations: { ...createObservations(1_000_000), calls: 100, ...operations } }])
  })

  it('is then sent once a minute, and nothing is lost while calls go on', async () => {
    for (let second = 0; second < 300; second++) {
      observe(3)
      await pass(1)
    }
    expect(sent.length).toBeLessThanOrEqual(6)
    await sendObservations(agent, env)
    const total = createObservations(0)
    for (const { observations } of sent) mergeObservations(total, observations)
    expect(total.calls).toBe(900)
  })

  it('is sent within a second if a call shows something new', async () => {
    observe()
    await pass(1)
    observe(2)
    await pass(1)
    observe(1, { call: { ...sending, operation: 'stream' }, end: streamed })
    observe(1, { end: { error: 'timeout' } })
    await pass(1)
    expect(counts()).toEqual([1, 4])
    observeMediaTypes(agent, ['image/png'], env, ctx)
    await pass(1)
    observeMediaTypes(agent, ['image/png', 'IMAGE/PNG; size=1'], env, ctx)
    await pass(1)
    expect(sent.map(({ observations }) => observations.mediaTypes)).toEqual([{}, {}, { 'image/png': 1 }])
    await pass(40)
    // What is known is due in 19 seconds.
    observe()
    observe(1, { call: { ...sending, operation: 'getTask' } })
    await pass(1)
    expect(counts()).toEqual([1, 4, 0, 2])
  })

  it('is not sent every second because an agent makes up media types', async () => {
    for (let second = 0; second < 600; second++) {
      observeMediaTypes(agent, [`image/t${second}`], env, ctx)
      await pass(1)
    }
    expect(sent.length).toBeLessThanOrEqual(220)
  })

  it('is lost if the Registry does not take it, and the next is sent', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue()
    fails = true
    observe(2)
    await pass(1)
    fails = false
    observe(3)
    await pass(70)
    observe()
    await pass(1)
    expect(counts()).toEqual([2, 4])
    expect(warn.mock.calls).toEqual([
      [expect.stringContaining(`"event":"observations-lost","gen_ai.agent.id":"${agent}"`)],
    ])
  })

  it('is sent by the next call if the request that was to send it was cancelled', async () => {
    vi.spyOn(globalThis, 'setTimeout').mockImplementationOnce(() => 0 as unknown as ReturnType<typeof setTimeout>)
    observe()
    await pass(5)
    expect(sent).toEqual([])
    observe()
    await pass(1)
    expect(counts()).toEqual([2])
  })

  it('is sent at once on request, and not twice', async () => {
    observe(5)
    await sendObservations(agent, env)
    await sendObservations(agent, env)
    await sendObservations('unknown', env)
    await pass(120)
    expect(counts()).toEqual([5])
  })

  it('is of at most a thousand agents at a time', async () => {
    for (let agent = 0; agent <= 1000; agent++) observe(1, { id: `a${agent}` })
    await sendObservations('a0', env)
    await sendObservations('a1', env)
    await sendObservations('a1000', env)
    expect(sent.map(({ id }) => id)).toEqual(['a1', 'a1000'])
  })
})
