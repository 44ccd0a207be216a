import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createStore } from '../../../src/registry/store/store.ts'
import { registration } from '../../support/registrations.ts'
import { openStorage, type TestStorage } from '../../support/storage.ts'

const start = Date.parse('2026-11-26T12:00:00Z')

let state: TestStorage
let registry: Awaited<ReturnType<typeof createStore>>
/** The keys that were written to KV. */
let written: string[]
/** Awaited by each write to KV. */
let beforeWrite: (key: string) => Promise<void>
/** The numbers of the changes in each request to `Events`. */
let sent: number[][]
const release = vi.fn(async () => undefined)

/** Starts a Registry on the storage, as after a crash: it knows nothing else. */
const restart = () => {
  const put = async (key: string) => {
    await beforeWrite(key)
    written.push(key)
  }
  const append = async (changes: { number: number }[]) => {
    sent.push(changes.map(({ number }) => number))
    return Math.max(0, ...sent.flat())
  }
  const env = {
    ...{ CARDS: { put }, EVENTS: { getByName: () => ({ append }) } },
    TASK_OWNERS: { getByName: () => ({ release, clear: async () => undefined }) },
  }
  // An object of its own, because a store remembers by it what `Events` has.
  return createStore({ storage: { ...state.storage } } as DurableObjectState, env as unknown as Env)
}
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: start })
  vi.spyOn(console, 'error').mockReturnValue()
  release.mockReset()
  ;[written, sent, beforeWrite] = [[], [], async () => undefined]
  state = openStorage()
  registry = await restart()
})

const outbox = () =>
  state.storage.sql
    .exec<{ key: string }>('SELECT key FROM outbox ORDER BY key')
    .toArray()
    .map(({ key }) => key)
const put = (text: string, id = 'a') => registry.register(registration(id, text), true)
const ringAlarm = () => {
  state.alarm = null
  return registry.alarm()
}
/** Lets statements that match fail as those of a full database do. */
const failOn = (pattern: RegExp) => {
  const { sql } = state.storage
  const exec = sql.exec.bind(sql)
  return vi.spyOn(sql, 'exec').mockImplementation((query: string, ...values: SqlStorageValue[]) => {
    if (pattern.test(query)) throw new Error('database or disk is full')
    return exec(query, ...values) as never
  })
}

describe('a key that is published', () => {
  it('stays in the outbox until the alarm, which deletes it and does not publish it again', async () => {
    expect(await put('one')).toMatchObject({ published: true })
    await vi.waitFor(() => expect(sent).toEqual([[], [1]]))
    expect([outbox(), state.alarm]).toEqual([['card:a', 'events:', 'host:*'], start + 1000])
    await ringAlarm()
    expect([outbox(), written.toSorted(), sent]).toEqual([[], ['card:a', 'host:*'], [[], [1]]])
    // Nothing is left to do.
    expect(state.alarm).toBeNull()
  })

  it('is not published again by a write that changes nothing', async () => {
    await put('one')
    expect(await put('one')).toMatchObject({ revised: false, published: true })
    expect(written.toSorted()).toEqual(['card:a', 'host:*'])
  })

  it('is published again after a crash before the alarm, which leaves an empty outbox', async () => {
    await put('one')
    registry = await restart()
    await ringAlarm()
    expect(outbox()).toEqual([])
    expect(written.toSorted()).toEqual(['card:a', 'card:a', 'host:*', 'host:*'])
  })

  it('does not count as a card that waits for its signatures, which one that KV did not take does', async () => {
    await put('one')
    expect(outbox()).toContain('card:a')
    expect((await registry.signingState('')).unsigned).toBe(0)
    beforeWrite = async () => {
      throw new Error('KV failed')
    }
    await put('two')
    expect((await registry.signingState('')).unsigned).toBe(1)
  })

  it('is published again if it changed while it was being published', async () => {
    let finish = (): void => undefined
    beforeWrite = async key => {
      if (key === 'card:a' && !written.includes(key)) await new Promise<void>(resolve => (finish = resolve))
    }
    const first = put('one')
    await vi.waitFor(() => expect(written).toEqual(['host:*']))
    const second = put('two')
    await new Promise(setImmediate)
    finish()
    expect([await first, await second]).toMatchObject([{ published: true }, { published: true }])
    expect(written.filter(key => key === 'card:a')).toHaveLength(2)
    await ringAlarm()
    expect(outbox()).toEqual([])
  })

  it('stays there with a change after its publication, which a settled outbox must not forget', async () => {
    await put('one')
    beforeWrite = async () => {
      throw new Error('KV failed')
    }
    expect(await put('two')).toMatchObject({ published: false })
    await registry.signingState('')
    expect(outbox()).toContain('card:a')
    beforeWrite = async () => undefined
    vi.setSystemTime(start + 2000)
    await ringAlarm()
    expect([outbox(), written.filter(key => key === 'card:a')]).toEqual([[], ['card:a', 'card:a']])
  })
})

describe('the alarm of a full outbox', () => {
  it('waits a second after a deletion that failed, and publishes nothing twice', async () => {
    await put('one')
    const full = failOn(/^DELETE FROM outbox/)
    for (let alarms = 1; alarms <= 3; alarms++) {
      vi.setSystemTime(start + alarms * 1000)
      await ringAlarm()
      expect(state.alarm).toBe(start + (alarms + 1) * 1000)
    }
    expect(written.toSorted()).toEqual(['card:a', 'host:*'])
    full.mockRestore()
    await ringAlarm()
    expect([outbox(), state.alarm]).toEqual([[], null])
  })

  it('waits a second after a failure that the outbox does not take', async () => {
    beforeWrite = async () => {
      throw new Error('KV failed')
    }
    failOn(/^UPDATE outbox/)
    await put('one')
    vi.setSystemTime(start + 1000)
    await ringAlarm()
    expect(state.alarm).toBe(start + 2000)
  })
})

describe('the tasks of an agent', () => {
  it('are taken from their owners once, even if the object crashes afterwards: new tasks keep theirs', async () => {
    await put('one')
    expect(await registry.clearTasks('a', 'admin')).toMatchObject({ outcome: 'cleared', published: true })
    expect(outbox()).not.toContain('tasks:a')
    registry = await restart()
    await ringAlarm()
    expect([release.mock.calls.length, outbox()]).toEqual([1, []])
  })

  it('lose their owners with the alarm if the first attempt failed', async () => {
    await put('one')
    release.mockRejectedValueOnce(new Error('down'))
    expect(await registry.clearTasks('a', 'admin')).toMatchObject({ published: false })
    expect(outbox()).toContain('tasks:a')
    vi.setSystemTime(start + 2000)
    await ringAlarm()
    expect([release.mock.calls.length, outbox()]).toEqual([2, []])
  })
})

describe('Events', () => {
  /** Waits until it has as many requests, and no more. */
  const untilSent = async (requests: number[][]) => {
    await vi.waitFor(() => expect(sent).toHaveLength(requests.length))
    await ringAlarm()
    expect(sent).toEqual(requests)
  }

  it('is asked which changes it has with the first write, and gets one request for each later one', async () => {
    await put('one')
    await untilSent([[], [1]])
    await put('two')
    await untilSent([[], [1], [2]])
    await put('three', 'b')
    await untilSent([[], [1], [2], [3]])
  })

  it('is asked again after a restart of the Registry, and gets what it does not have', async () => {
    await put('one')
    await untilSent([[], [1]])
    registry = await restart()
    await put('two')
    await untilSent([[], [1], [], [2]])
  })
})
