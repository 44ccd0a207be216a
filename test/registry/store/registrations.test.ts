import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Registration } from '../../../src/registry/prepare.ts'
import { register } from '../../../src/registry/store/registrations.ts'
import type { Registry } from '../../../src/registry/store/registry.ts'
import { createTables } from '../../../src/registry/tables/create.ts'
import { claimHosts } from '../../../src/registry/tables/host-table.ts'
import { registration } from '../../support/registrations.ts'
import { startRegistry } from '../../support/registry.ts'
import { openSql } from '../../support/storage.ts'

let sql: SqlStorage
beforeEach(() => {
  sql = openSql()
  createTables(sql)
})

const claim = (id: string, hosts: string[], mayClaim: boolean) =>
  claimHosts(sql, registration(id, 'text', { hosts }), mayClaim)
const notOwned = (hostname: string) => ({ outcome: 'host-not-owned', hostname })

describe('a writer without the right to claim host names', () => {
  it('cannot claim the root that its agent, or another one, became automatically', () => {
    expect(claim('first', [], true)).toMatchObject({ hosts: ['*'], becameRoot: true })
    for (const id of ['first', 'second']) expect(claim(id, ['*'], false)).toEqual(notOwned('*'))
  })

  it('cannot claim a free host name, and keeps the names that its agent has', () => {
    claim('first', ['a.example.com'], true)
    expect(claim('first', ['a.example.com', 'b.example.com'], false)).toEqual(notOwned('b.example.com'))
    expect(claim('first', ['a.example.com'], false)).toMatchObject({ hosts: ['a.example.com', '*'] })
  })
})

it('a writer who may claim host names takes the root that was assigned automatically, but no claimed one', () => {
  claim('first', [], true)
  expect(claim('second', ['*'], true)).toMatchObject({ hosts: ['*'] })
  expect(claim('third', ['*'], true)).toEqual({ outcome: 'host-taken', hostname: '*', owner: 'second' })
})

it('a registration publishes the keys of the agent and of all its host names, old and new', () => {
  const put = (text: string, hosts: string[]) => register(sql, registration('a', text, { hosts }), true)
  put('One', ['a.example.com'])
  const written = put('Two', ['a.example.com', 'b.example.com'])
  expect('publishKeys' in written && [...new Set(written.publishKeys)].sort()).toEqual([
    ...['card:a', 'host:*', 'host:a.example.com', 'host:b.example.com'],
  ])
})

it('the date of a change is in a later second than that of the one before', async () => {
  vi.spyOn(console, 'error').mockReturnValue()
  vi.spyOn(Date, 'now').mockReturnValue(1_700_000_000_100)
  const registry = await startRegistry({ CARDS: { put: async () => undefined } })
  const dates: unknown[] = []
  for (const text of ['one', 'one', 'two', 'three']) {
    const { modified } = (await registry.register(registration('a', text), true)) as { modified?: number }
    dates.push(modified)
  }
  expect(dates).toEqual([1_700_000_000_100, 1_700_000_000_100, 1_700_000_001_000, 1_700_000_002_000])
})

const clear = vi.fn(async () => undefined)
/** Starts a Registry whose removals have to clear the owners of tasks. */
const startClearing = () => {
  vi.spyOn(console, 'error').mockReturnValue()
  clear.mockReset()
  return startRegistry({ CARDS: { put: async () => undefined }, TASK_OWNERS: { getByName: () => ({ clear }) } })
}

describe('the owners of the tasks of a removed agent', () => {
  let registry: Registry
  beforeEach(async () => {
    registry = await startClearing()
  })
  const put = () => registry.register(registration('a', 'text'), true)

  it('are cleared with its removal, and never those of the next agent with its id', async () => {
    await put()
    expect(await registry.remove('a', {}, 'admin')).toMatchObject({ outcome: 'removed', published: true })
    expect(clear).toHaveBeenCalledTimes(1)
    expect(await put()).toMatchObject({ outcome: 'registered' })
    await registry.alarm()
    expect(clear).toHaveBeenCalledTimes(1)
  })

  it('are cleared before another agent gets its id, which waits while they cannot be', async () => {
    await put()
    clear.mockRejectedValueOnce(new Error('down')).mockRejectedValueOnce(new Error('down'))
    expect(await registry.remove('a', {}, 'admin')).toMatchObject({ outcome: 'removed', published: false })
    expect(await put()).toEqual({ outcome: 'conflict' })
    expect(await registry.manifest('a')).toBeNull()
    expect(await put()).toMatchObject({ outcome: 'registered', published: true })
    await registry.alarm()
    expect(clear).toHaveBeenCalledTimes(3)
  })
})

describe('a batch of registrations', () => {
  const hosts = ['both.example.com']
  const [first, second] = ['a', 'b'].map(id => registration(id, 'text', { hosts }))
  let registry: Registry
  beforeEach(async () => {
    registry = await startClearing()
    for (const id of ['a', 'root']) await registry.register(registration(id, 'text'), true)
  })
  /** Removes `a`, whose next registration has to wait until the owners of its tasks are cleared. */
  const removeUncleared = async () => {
    clear.mockRejectedValueOnce(new Error('down'))
    await registry.remove('a', {}, 'admin')
  }
  const registerBoth = () => registry.registerAll([first, second] as Registration[], true, false)

  it('ends after the first that has to be repeated, so that the next ones get nothing that it claims', async () => {
    await removeUncleared()
    clear.mockRejectedValueOnce(new Error('down'))
    expect(await registerBoth()).toEqual([{ outcome: 'conflict' }])
    expect(await registry.manifest('b')).toBeNull()
  })

  it('ends before the first that fails, so that the results of those before it are known', async () => {
    const failing = { ...second, hosts: undefined } as unknown as Registration
    const register = (...registrations: (Registration | undefined)[]) =>
      registry.registerAll(registrations as Registration[], true, false)
    expect(await register(first, failing)).toMatchObject([{ outcome: 'registered' }])
    await expect(register(failing)).rejects.toThrow(TypeError)
  })
})
