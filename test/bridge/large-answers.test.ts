import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Permit, type Principal, ResponseSemaphore } from '../../src/mcp-bridge/quotas.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const alice: Principal = { known: true, name: 'alice' }
const here: Principal = { known: false, name: 'here' }
const passed = (milliseconds = 0) => vi.advanceTimersByTimeAsync(milliseconds)

/** A hold in use, and whether its turn has come. */
const taking = (large: ResponseSemaphore, account: Principal) => {
  const hold = large.hold(account)
  const leave = hold.use()
  const state: { turn?: boolean; hold: Permit; leave: () => void } = { hold, leave }
  hold.take().then(turn => {
    state.turn = turn
  })
  return state
}

describe('the turns of large answers', () => {
  it('are four at once, three of one caller and one of an address; others wait for theirs', async () => {
    const large = new ResponseSemaphore()
    const held = [alice, alice, alice, alice, here, here].map(account => taking(large, account))
    const turns = () => held.map(({ turn }) => turn)
    await passed()
    expect(turns()).toEqual([true, true, true, undefined, true, undefined])
    held[0]?.leave()
    await passed()
    expect(turns()).toEqual([true, true, true, true, true, undefined])
    held[4]?.leave()
    await passed()
    expect(turns()).toEqual(Array(6).fill(true))
  })

  it('are not waited for longer than half a minute, and then left to others', async () => {
    const large = new ResponseSemaphore()
    const [first, second] = [taking(large, here), taking(large, here)]
    await passed(29_999)
    expect(second?.turn).toBeUndefined()
    await passed(1)
    expect(second?.turn).toBe(false)
    second?.leave()
    first?.leave()
    const third = taking(large, here)
    await passed()
    expect(third.turn).toBe(true)
  })

  it('are over when nobody uses them any more, once', async () => {
    const large = new ResponseSemaphore()
    const first = taking(large, here)
    const leaveToo = first.hold.use()
    first.leave()
    first.leave()
    const second = taking(large, here)
    await passed()
    expect(second.turn).toBeUndefined()
    leaveToo()
    await passed()
    expect([second.turn, await first.hold.take()]).toEqual([true, false])
  })

  it('that come when nobody waits any more are given on', async () => {
    const large = new ResponseSemaphore()
    const [first, second] = [taking(large, here), taking(large, here)]
    second.leave()
    first.leave()
    const third = taking(large, here)
    await passed()
    expect(third.turn).toBe(true)
  })
})
