import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createOwnerStore, type OwnerStore, type PagePosition } from '../../../src/gateway/tasks/owner-store.ts'
import { taskKey } from '../../../src/gateway/tasks/owner-table.ts'
import { MAX_PAGE_TOKEN_LENGTH, OWNED_ID_LIFETIME_SECONDS } from '../../../src/limits.ts'
import { openStorage, type TestStorage } from '../../support/storage.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const FIRST_PAGE: PagePosition = { token: '', skip: 0, seen: 0 }

let storage: TestStorage
let store: OwnerStore
beforeEach(async () => {
  vi.useFakeTimers({ now: 0, toFake: ['Date'] })
  storage = openStorage()
  store = createOwnerStore(storage.storage)
  await store.record('token:a', { tasks: ['a1', 'a2', 'a3'], contexts: [] })
  await store.record('token:b', { tasks: ['b1'], contexts: [] })
})

/** Asks for a page of two tasks of `token:a`, by default the first one. */
const page = (tasks: string[], next: string, position: PagePosition = FIRST_PAGE, caller = 'token:a') =>
  store.page(caller, { tasks, next, position, size: 2 })

const openPage = async (pageToken: string): Promise<PagePosition> => {
  const position = await store.openPage('token:a', pageToken)
  if (position === null) throw new Error('The page token is not valid.')
  return position
}

describe('a page of tasks', () => {
  it("has the caller's own, and a token that leads to the agent's next page", async () => {
    const first = await page(['b1', 'a1'], 'after-a1')
    expect(first).toEqual({ own: ['a1'], totalSize: 3, nextPageToken: expect.stringMatching(/./) })
    const position = await openPage(first.nextPageToken)
    expect(position).toEqual({ token: 'after-a1', skip: 0, seen: 1 })
    expect(await page(['a2', 'a3'], 'after-a3', position)).toEqual({
      own: ['a2', 'a3'],
      totalSize: 3,
      nextPageToken: '',
    })
  })

  it('continues within the page of the agent where that has more of them than fit', async () => {
    await store.record('token:a', { tasks: ['a4', 'a5'], contexts: [] })
    const found = ['a1', 'b1', 'a2', 'a3', 'a4']
    const first = await page(found, 'after-a4')
    expect([first.own, first.totalSize]).toEqual([['a1', 'a2'], 5])
    const position = await openPage(first.nextPageToken)
    expect(position).toEqual({ token: '', skip: 2, seen: 2 })
    const second = await page(found, 'after-a4', position)
    expect([second.own, await openPage(second.nextPageToken)]).toEqual([
      ['a3', 'a4'],
      { token: 'after-a4', skip: 0, seen: 4 },
    ])
  })

  it('counts those that match where the agent has one page only', async () => {
    const first = await page(['a1', 'b1'], '')
    expect(first).toEqual({ own: ['a1'], totalSize: 1, nextPageToken: '' })
    const whole = await page(['a1', 'a2', 'a3'], '')
    expect([whole.own, whole.totalSize, await openPage(whole.nextPageToken)]).toEqual([
      ['a1', 'a2'],
      3,
      { token: '', skip: 2, seen: 2 },
    ])
  })

  it('of a caller without tasks is empty, and the last', async () => {
    const none = { own: [], totalSize: 0, nextPageToken: '' }
    expect(await page(['a1', 'b1'], 'next', FIRST_PAGE, 'token:c')).toEqual(none)
  })

  it('cannot be continued with the token of another caller or agent, nor with one that was changed or is none', async () => {
    const { nextPageToken } = await page(['a1'], 'next')
    const other = createOwnerStore(openStorage().storage)
    await other.record('token:a', { tasks: ['a1', 'a2'], contexts: [] })
    await other.page('token:a', { tasks: ['a1'], next: 'next', position: FIRST_PAGE, size: 2 })
    expect([
      await store.openPage('token:b', nextPageToken),
      await other.openPage('token:a', nextPageToken),
      await store.openPage('token:a', `${nextPageToken.slice(2)}AA`),
      await store.openPage('token:a', 'dGFzaw'),
      await store.openPage('token:a', '%'),
    ]).toEqual(Array(5).fill(null))
  })

  it("reveals nothing of the agent's token, and has another token each time", async () => {
    const pages = await Promise.all([1, 2].map(() => page(['a1'], 'task-of-another-caller')))
    const [first = '', second] = pages.map(({ nextPageToken }) => nextPageToken)
    expect(first).toMatch(/^[\w-]+$/)
    expect([first === second, Buffer.from(first, 'base64url').includes('task')]).toEqual([false, false])
  })

  it('continues after the longest token that an agent may have, whatever its characters', async () => {
    const token = '\ud800'.repeat(MAX_PAGE_TOKEN_LENGTH)
    const { nextPageToken } = await page(['a1'], token)
    expect(await openPage(nextPageToken)).toEqual({ token, skip: 0, seen: 1 })
    // Longer ones are refused before they are opened.
    expect(nextPageToken.length).toBeLessThan(9 * MAX_PAGE_TOKEN_LENGTH)
  })
})

it('loses no owner when the object starts again', async () => {
  store = createOwnerStore(storage.storage)
  expect(await store.use('token:a', { tasks: ['a1'], contexts: [] }, false)).not.toBeNull()
})

describe('responses that arrive at the same time', () => {
  const started = (id: string) => ({ tasks: [id], contexts: [`context of ${id}`] })

  it('are recorded with one statement, before any of them is sent', async () => {
    const exec = vi.spyOn(storage.storage.sql, 'exec')
    const isRecorded = (query: string) => query.startsWith('INSERT')
    const whenSent = ['t1', 't2', 't3'].map(async id => {
      await store.record(`token:${id}`, started(id))
      return exec.mock.calls.filter(([query]) => isRecorded(query)).length
    })
    expect(await Promise.all(whenSent)).toEqual([1, 1, 1])
    store = createOwnerStore(storage.storage)
    for (const id of ['t1', 't2', 't3']) expect(await store.use(`token:${id}`, started(id), false), id).not.toBeNull()
  })

  it('never make one id that of two callers', async () => {
    const callers = ['token:c', 'token:d', 'token:e']
    const shown = await Promise.all(callers.map(caller => store.record(caller, started('t1'))))
    expect(shown).toEqual([true, false, false])
    const claimed = await Promise.all([
      store.record('token:d', { tasks: [], contexts: ['chosen'] }),
      store.use('token:c', { tasks: [], contexts: ['chosen'] }, true),
    ])
    expect(claimed).toEqual([false, expect.any(Map)])
  })

  it('are all withheld if they cannot be recorded, and the next ones are not', async () => {
    const { sql } = storage.storage
    const { exec } = sql
    vi.spyOn(sql, 'exec').mockImplementation((query, ...values) => {
      if (query.startsWith('INSERT')) throw new Error('disk full')
      return exec(query, ...values)
    })
    const failing = ['t1', 't2'].map(id => store.record('token:c', started(id)))
    expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    vi.restoreAllMocks()
    expect(await store.use('token:c', { tasks: ['t1'], contexts: [] }, false)).toBeNull()
    expect(await store.record('token:d', started('t1'))).toBe(true)
  })

  it('are withheld if the alarm cannot be set, and set it with the next ones', async () => {
    storage = openStorage()
    store = createOwnerStore(storage.storage)
    vi.spyOn(storage.storage, 'setAlarm').mockRejectedValueOnce(new Error('down'))
    await expect(store.record('token:c', started('t1'))).rejects.toThrow('down')
    expect(await store.record('token:c', started('t1'))).toBe(true)
    expect(storage.alarms).toEqual([DAY_MS])
  })
})

it('forgets everything about an agent that was removed', async () => {
  const { nextPageToken } = await page(['a1'], 'next')
  await store.clear()
  const ids = { tasks: ['a1'], contexts: [] }
  expect([await store.use('token:a', ids, false), storage.alarm, storage.values.size]).toEqual([null, null, 0])
  expect(await store.openPage('token:a', nextPageToken)).toBeNull()
  expect(await store.record('token:b', ids)).toBe(true)
  expect(storage.alarm).toBe(DAY_MS)
})

describe('the alarm', () => {
  it('is set by the first message in a context, too, and not by a call that only reads', async () => {
    storage = openStorage()
    store = createOwnerStore(storage.storage)
    const ids = { tasks: [], contexts: ['c'] }
    for (const [claim, at] of [
      [false, null],
      [true, DAY_MS],
    ] as const) {
      await store.use('token:a', ids, claim)
      expect(storage.alarm).toBe(at)
    }
  })

  it('is set for the next day by the first record, and while anything is left, which it forgets if unused', async () => {
    expect(storage.alarms).toEqual([DAY_MS])
    for (const [now, next] of [
      [DAY_MS, 2 * DAY_MS],
      [OWNED_ID_LIFETIME_SECONDS * 1000, null],
    ] as const) {
      storage.alarm = null
      vi.setSystemTime(now)
      await store.alarm()
      expect(storage.alarm).toBe(next)
    }
    expect(await store.use('token:a', { tasks: ['a1'], contexts: [] }, false)).toBeNull()
  })
})

describe('the tasks of an agent whose ids begin again', () => {
  const MINUTE_MS = 60_000
  const ids = { tasks: ['a1'], contexts: [] }
  /** Fires the alarm at its time, as the platform does. */
  const fireAlarm = async () => {
    vi.setSystemTime(storage.alarm ?? 0)
    storage.alarm = null
    await store.alarm()
  }
  beforeEach(async () => {
    vi.setSystemTime(DAY_MS / 2)
    await store.release()
  })

  it('are reached by nobody from now on, and by no new caller while isolates may remember the old ones', async () => {
    expect([await store.use('token:a', ids, false), await store.record('token:b', ids)]).toEqual([null, false])
    expect((await page(['a1', 'a2'], '')).own).toEqual([])
    expect(storage.alarm).toBe(DAY_MS / 2 + 2 * MINUTE_MS)
  })

  it('are those of whoever starts them two minutes later', async () => {
    await fireAlarm()
    expect(await store.use('token:a', ids, false)).toBeNull()
    expect(await store.record('token:b', ids)).toBe(true)
    expect([await store.use('token:a', ids, false), await store.use('token:b', ids, false)]).toEqual([
      null,
      new Map([[taskKey('a1'), 'token:b']]),
    ])
  })

  it('are not held back longer by another clearing, which has two minutes for the newer ones', async () => {
    await store.record('token:b', { tasks: ['b2'], contexts: ['c'] })
    vi.setSystemTime(DAY_MS / 2 + MINUTE_MS)
    await store.release()
    await fireAlarm()
    expect(await store.record('token:b', ids)).toBe(true)
    expect(await store.record('token:c', { tasks: ['b2'], contexts: [] })).toBe(false)
    await fireAlarm()
    expect(await store.record('token:c', { tasks: ['b2'], contexts: ['c'] })).toBe(true)
    expect(storage.alarm).toBe(Date.now() + DAY_MS)
  })
})
