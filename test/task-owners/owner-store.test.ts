import { beforeEach, describe, expect, it, vi } from 'vitest'
import { OWNED_ID_LIFETIME_SECONDS } from '../../src/limits.ts'
import { OwnerStore } from '../../src/task-owners/owner-store.ts'
import { openStorage, type TestStorage } from '../support/storage.ts'

const DAY_MS = 24 * 60 * 60 * 1000

let storage: TestStorage
let store: OwnerStore
beforeEach(async () => {
  vi.useFakeTimers({ now: 0 })
  storage = openStorage()
  store = new OwnerStore(storage.storage)
  await store.record('token:a', { tasks: ['a1', 'a2', 'a3'], contexts: [] })
  await store.record('token:b', { tasks: ['b1'], contexts: [] })
})

describe('a page of tasks', () => {
  it("has the caller's own, and a token that leads to the agent's next page", async () => {
    const first = await store.page('token:a', ['b1', 'a1'], { token: 'after-a1', seen: 0 })
    expect(first).toEqual({ own: ['a1'], total: 3, nextPageToken: expect.stringMatching(/./) })
    const position = await store.openPage('token:a', first.nextPageToken)
    expect(position).toEqual({ token: 'after-a1', seen: 1 })
    const second = await store.page('token:a', ['a2', 'a3'], { token: 'after-a3', seen: 1 })
    expect(second).toEqual({ own: ['a2', 'a3'], total: 3, nextPageToken: '' })
  })

  it.each(['token:c', ''])('of a caller without tasks is empty, and the last: "%s"', async caller => {
    const page = await store.page(caller, ['a1', 'b1'], { token: 'next', seen: 0 })
    expect(page).toEqual({ own: [], total: 0, nextPageToken: '' })
  })

  it('cannot be continued with the token of another caller, nor with one that is made up', async () => {
    const { nextPageToken } = await store.page('token:a', ['a1'], { token: 'next', seen: 0 })
    expect([await store.openPage('token:b', nextPageToken), await store.openPage('token:a', 'next')]).toEqual([
      null,
      null,
    ])
  })
})

describe('the alarm', () => {
  it('is set for the next day by the first record, and again while anything is left', async () => {
    expect(storage.alarms).toEqual([DAY_MS])
    storage.alarm = null
    vi.setSystemTime(DAY_MS)
    await store.alarm()
    expect(storage.alarms).toEqual([DAY_MS, 2 * DAY_MS])
  })

  it('forgets what was not used, and then rests', async () => {
    storage.alarm = null
    vi.setSystemTime(OWNED_ID_LIFETIME_SECONDS * 1000)
    await store.alarm()
    expect(storage.alarm).toBeNull()
    expect(await store.use('token:a', { tasks: ['a1'], contexts: [] }, false)).toBeNull()
  })
})
