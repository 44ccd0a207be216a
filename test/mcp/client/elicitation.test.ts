import { beforeEach, describe, expect, it, vi } from 'vitest'
import { callWithElicitation, createSilenceTimer, type ElicitResult } from '../../../src/mcp/client/elicitation.ts'

beforeEach(() => void vi.useFakeTimers())

describe('callWithAnswers', () => {
  const done = { content: [{ type: 'text', text: 'done' }] }
  const params = { name: 'look', arguments: { a: 1 } }
  const elicit = (message: string) => ({
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema: { type: 'object', properties: {} } },
  })
  const asks = (inputRequests: object, requestState?: string) => ({
    resultType: 'input_required',
    inputRequests,
    ...(requestState !== undefined && { requestState }),
  })

  /** Calls a tool that returns these results, the last one for ever. Returns the outcome, the calls and the questions. */
  const call = async (...results: object[]) => {
    const calls: object[] = []
    const times: number[] = []
    const begun = Date.now()
    const elicitations: object[] = []
    const respond = async (given: object) => {
      calls.push(given)
      times.push(Date.now() - begun)
      return (results.length > 1 ? results.shift() : results[0]) as never
    }
    const outcome = callWithElicitation(params, respond, async (elicitation): Promise<ElicitResult> => {
      elicitations.push(elicitation)
      return { action: 'accept', content: { n: elicitations.length } }
    })
    await vi.advanceTimersByTimeAsync(60_000)
    return { outcome: await outcome, calls, times, elicitations }
  }

  it('repeats the call with the answers to all questions, and with the state of the server', async () => {
    const link = { method: 'elicitation/create', params: { mode: 'url', message: 'C', url: 'https://c.example/' } }
    const { outcome, calls, elicitations } = await call(asks({ a: elicit('A'), c: link }, 'state-1'), done)
    expect([outcome, elicitations]).toEqual([
      { result: done },
      [
        { message: 'A', requestedSchema: { type: 'object', properties: {} } },
        { message: 'C', url: 'https://c.example/' },
      ],
    ])
    const inputResponses = { a: { action: 'accept', content: { n: 1 } }, c: { action: 'accept', content: { n: 2 } } }
    expect(calls).toEqual([params, { ...params, inputResponses, requestState: 'state-1' }])
  })

  it('repeats the call with the newest state only, after a pause where nobody is asked', async () => {
    const { calls, times } = await call(asks({}, 'one'), asks({}, 'two'), done)
    expect([times, (await call(asks({ a: elicit('A') }), done)).times]).toEqual([
      [0, 250, 500],
      [0, 0],
    ])
    expect(calls).toEqual([params, { ...params, requestState: 'one' }, { ...params, requestState: 'two' }])
  })

  it.each([
    ['sampling', { a: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } } }],
    ['a question without a schema', { a: { method: 'elicitation/create', params: { message: 'A' } } }],
  ])('declines a request for %s', async (_, requests) => {
    expect(await call(asks(requests))).toMatchObject({
      outcome: { failure: { code: 'refused', message: expect.stringContaining('this host declines') } },
      elicitations: [],
    })
  })

  it('gives up after ten rounds of questions', async () => {
    const { outcome, elicitations } = await call(asks({ a: elicit('Again?') }))
    expect([outcome, elicitations.length]).toEqual([
      { failure: { code: 'refused', message: 'The tool asked for input too many times.' } },
      10,
    ])
  })
})

describe('createSilenceTimer', () => {
  it('aborts after the timeout, which begins again with each sign of life', () => {
    const timer = createSilenceTimer(1_000)
    vi.advanceTimersByTime(999)
    timer.restart()
    vi.advanceTimersByTime(999)
    expect(timer.signal.aborted).toBe(false)
    vi.advanceTimersByTime(1)
    expect(timer.signal.aborted).toBe(true)
  })

  it('does not count while an answer is awaited, nor after the end', async () => {
    const timer = createSilenceTimer(1_000)
    const answers = [Promise.withResolvers<number>(), Promise.withResolvers<number>()]
    const waiting = answers.map(({ promise }) => timer.pause(promise))
    timer.restart()
    vi.advanceTimersByTime(5_000)
    answers[0]?.resolve(1)
    await waiting[0]
    vi.advanceTimersByTime(5_000)
    expect(timer.signal.aborted).toBe(false)
    answers[1]?.resolve(2)
    expect(await waiting[1]).toBe(2)
    vi.advanceTimersByTime(999)
    expect(timer.signal.aborted).toBe(false)
    timer.end()
    vi.advanceTimersByTime(5_000)
    expect(timer.signal.aborted).toBe(false)
  })
})
