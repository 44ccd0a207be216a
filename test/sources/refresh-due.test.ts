import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { refreshAgent } from '../../src/sources/refresh.ts'
import { refreshDue } from '../../src/sources/scheduled.ts'

vi.mock('../../src/sources/refresh.ts')

/** The agents that are due, in order; what the Registry was asked; and how the run goes. */
let due: string[]
let pages: [before: number, limit: number][]
let begun: string[]
let underWay: number
let most: number
const start = Date.parse('2026-11-22T00:00:00Z')

beforeEach(() => {
  vi.useFakeTimers({ now: start })
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  pages = []
  begun = []
  underWay = 0
  most = 0
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const ctx = {} as ExecutionContext
const env = {
  REGISTRY: {
    getByName: () => ({
      dueSources: async (before: number, limit: number) => {
        pages.push([before, limit])
        return due.slice(0, limit)
      },
    }),
  },
} as unknown as Env
const agents = (count: number) => Array.from({ length: count }, (_, index) => `agent-${index}`)

/** Has each refresh take so long, in ms; then its agent is due no more, unless what comes of it says so. */
const run = async (milliseconds: number, comes: (id: string) => 'unchanged' | 'spent' | Error = () => 'unchanged') => {
  vi.mocked(refreshAgent).mockImplementation(async id => {
    begun.push(id)
    most = Math.max(most, ++underWay)
    await new Promise(resolve => setTimeout(resolve, milliseconds))
    underWay--
    const came = comes(id)
    if (came instanceof Error) throw came
    due = due.filter(other => other !== id)
    return { outcome: came }
  })
  const running = refreshDue(env, ctx)
  await vi.runAllTimersAsync()
  await running
}
const logged = () => vi.mocked(console.error).mock.calls.map(([line]) => JSON.parse(String(line)).event)

describe('the scheduled job', () => {
  it('reads all that are due, page by page, each once, in order', async () => {
    const all = agents(250)
    due = all
    await run(100)
    expect(begun).toEqual(all)
    expect([pages.length >= 3, new Set(pages.map(page => page.join()))]).toEqual([true, new Set([`${start},100`])])
  })

  it('reads six at a time', async () => {
    due = agents(20)
    await run(100)
    expect(most).toBe(6)
  })

  it('lets one that is slow hold up none but itself', async () => {
    due = agents(200)
    let slow = true
    vi.mocked(refreshAgent).mockImplementation(async id => {
      begun.push(id)
      await new Promise(resolve => setTimeout(resolve, id === 'agent-0' ? 20_000 : 10))
      if (id === 'agent-0') slow = false
      due = due.filter(other => other !== id)
      return { outcome: 'unchanged' }
    })
    const running = refreshDue(env, ctx)
    await vi.advanceTimersByTimeAsync(10_000)
    expect([begun.length, slow]).toEqual([200, true])
    await vi.runAllTimersAsync()
    await running
  })

  it('begins with no more after 50 seconds', async () => {
    due = agents(1000)
    await run(10_000)
    expect([begun.length, due.length]).toEqual([30, 970])
  })

  it('goes on after one that cannot be read, and asks for it once', async () => {
    due = agents(12)
    await run(100, id => (id === 'agent-3' ? new Error('boom') : 'unchanged'))
    expect([begun, due, logged()]).toEqual([agents(12), ['agent-3'], ['refresh-failed']])
  })

  it.each<['spent' | Error]>([
    ['spent'],
    [new Error('Too many subrequests by single Worker invocation. To configure this limit, refer to the docs')],
  ])('stops where the platform lets it ask nobody any more: %s', async came => {
    due = agents(100)
    await run(100, id => (Number(id.slice('agent-'.length)) < 20 ? 'unchanged' : came))
    expect(begun.length).toBeLessThanOrEqual(20 + 6)
  })

  it('ends where the Registry is away', async () => {
    due = []
    const away = { REGISTRY: { getByName: () => ({ dueSources: () => Promise.reject(new Error('away')) }) } }
    await refreshDue(away as unknown as Env, ctx)
    expect(logged()).toEqual(['refresh-failed'])
  })
})
