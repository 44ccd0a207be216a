import { beforeEach, describe, expect, it, vi } from 'vitest'
import { Alarm } from '../../src/registry/alarm.ts'
import { createPublisher } from '../../src/registry/store/publisher.ts'
import { createTables } from '../../src/registry/tables/create.ts'
import { openStorage, type TestStorage } from '../support/storage.ts'

let state: TestStorage
let alarm: Alarm
beforeEach(() => {
  state = openStorage()
  alarm = new Alarm(state.storage)
})

describe('the alarm of an object', () => {
  it('is set for the earliest time that anything needs, also by concurrent callers', async () => {
    await Promise.all([alarm.wakeAt(30), alarm.wakeAt(20), alarm.wakeAt(40)])
    await alarm.wakeAt(25)
    expect([state.alarm, state.alarms]).toEqual([20, [30, 20]])
  })

  it('is not postponed by an object that has started again', async () => {
    state.alarm = 10
    await alarm.wakeAt(20)
    expect([state.alarm, state.alarms]).toEqual([10, []])
  })

  it('is set again once it has fired', async () => {
    await alarm.wakeAt(10)
    alarm.clear()
    await alarm.wakeAt(20)
    expect(state.alarms).toEqual([10, 20])
  })

  it('is set by the next need if it could not be set, and still not postponed', async () => {
    state.alarm = 50
    const failing = vi.spyOn(state.storage, 'setAlarm').mockRejectedValueOnce(new Error('unavailable'))
    await expect(alarm.wakeAt(20)).rejects.toThrow('unavailable')
    await alarm.wakeAt(60)
    await alarm.wakeAt(30)
    expect([state.alarm, failing.mock.calls]).toEqual([30, [[20], [30]]])
  })

  it('is set before `wakeAt` returns once it is loaded', async () => {
    const loaded = await Alarm.load(state.storage)
    void loaded.wakeAt(10)
    expect(state.alarm).toBe(10)
  })

  it('of the Registry is set by the next write if it could not be set, and the failure is logged', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue()
    vi.spyOn(state.storage, 'setAlarm').mockRejectedValueOnce(new Error('unavailable'))
    const publisher = createPublisher(state.storage, {} as Env, await Alarm.load(state.storage))
    publisher.wakeAt(10)
    await new Promise(setImmediate)
    publisher.wakeAt(20)
    await new Promise(setImmediate)
    expect([state.alarm, logged.mock.calls.length]).toEqual([20, 1])
  })
})

it('the alarm of the Registry publishes at most 500 keys, and is set again for the rest', async () => {
  const { sql } = state.storage
  createTables(sql)
  const put = vi.fn(async () => undefined)
  const alarm = await Alarm.load(state.storage)
  const publisher = createPublisher(state.storage, { CARDS: { put } } as never, alarm)
  publisher.enqueue(Array.from({ length: 501 }, (_, index) => `token:${index}`))
  expect(state.alarm).toBeGreaterThan(Date.now() + 900)
  alarm.clear()
  state.alarm = null
  await publisher.retry()
  expect(put).toHaveBeenCalledTimes(500)
  expect(state.alarm).toBeLessThanOrEqual(Date.now())
  await publisher.retry()
  expect(put).toHaveBeenCalledTimes(501)
})
