import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Source } from '../../src/card/manifest/upstream.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { prepareRegistration } from '../../src/registry/prepare.ts'
import type { Registered } from '../../src/registry/store/registrations.ts'
import type { Registry } from '../../src/registry/store/registry.ts'
import { reconcile } from '../../src/sources/reconcile.ts'
import type { RefreshOptions } from '../../src/sources/refresh-card.ts'
import { RemoteCard } from '../../src/sources/start.ts'
import { parseDocument } from '../support/cards/compile.ts'
import { registration, withoutKeys } from '../support/registrations.ts'
import { startRegistry } from '../support/registry.ts'
import { openStorage, type TestStorage } from '../support/storage.ts'

const start = Date.parse('2026-11-22T00:00:00Z')
/** A ttl of 300 seconds, and half of the random delay of up to a tenth. */
const DUE_AFTER_MS = 315_000
const card = (version = '1.0.0', host = 'a.example.com'): JsonObject => ({
  name: 'Agent',
  description: 'Does things',
  version,
  url: `https://${host}/a2a`,
  protocolVersion: '0.3.0',
  skills: [{ id: 's', name: 'S', description: 'D', tags: ['t'] }],
})
const manifest = (upstream: JsonObject = {}): JsonObject => ({
  upstream: { card: 'https://a.example.com/card.json', service: 'AGENT', pin: false, ...upstream },
})

let upstream: ReturnType<typeof vi.fn<() => Promise<Response>>>
let registry: Registry
let state: TestStorage
let remoteCard: RemoteCard
let env: Env

beforeEach(async () => {
  vi.useFakeTimers({ now: start })
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  vi.spyOn(console, 'error').mockReturnValue()
  upstream = vi.fn(async () => Response.json(card()))
  const bindings: Record<string, unknown> = {
    ...{ ALLOWED_ORIGINS: '', PUBLIC_URL: '', AGENT: { fetch: () => upstream() } },
    CARDS: { put: async () => undefined },
    REGISTRY: { getByName: () => registry },
    REMOTE_CARDS: { getByName: () => remoteCard },
    EVENTS: { getByName: () => ({ append: async () => 1000 }) },
  }
  env = bindings as unknown as Env
  const ctx = { waitUntil: () => undefined, exports: { Catalog: () => ({ purge: async () => undefined }) } }
  registry = await startRegistry(env, ctx)
  state = openStorage()
  remoteCard = new RemoteCard({ ...ctx, storage: state.storage } as never, env)
})

/** Registers agent `a` as `PUT` does, with a card that was fetched just now, and lets the Registry publish. */
const put = async (document: JsonObject = manifest(), fetched: JsonObject = card()): Promise<Registered> => {
  const parsed = parseDocument(document, { id: 'a', requestOrigin: 'https://host.example' })
  const known = (await registry.sourceRecord('a')) ?? undefined
  const agent = { parsed, source: parsed.source as Source, known, by: 'manifest' } as const
  const reconciled = await reconcile(agent, { card: fetched, validators: {} })
  if ('errors' in reconciled) throw new Error(JSON.stringify(reconciled.errors))
  const registered = await registry.register(
    await prepareRegistration(parsed, { ...reconciled, signing: withoutKeys }, { actor: 'admin', expected: {} }),
    true,
  )
  if (registered.outcome !== 'registered') throw new Error(registered.outcome)
  await registry.alarm()
  return registered
}
const refresh = async (options: RefreshOptions = {}) => (await remoteCard.refresh('a', options)).result
/** Fires the alarm at its time, as the platform does. */
const fireAlarm = async () => {
  vi.setSystemTime(state.alarm ?? 0)
  state.alarm = null
  await remoteCard.alarm()
}
const servedVersion = async () => JSON.parse(String((await registry.sourceRecord('a'))?.card)).version
/** Delays the next response of the upstream, and returns the function that sends a card of some version. */
const delayResponse = () => {
  const { promise, resolve } = Promise.withResolvers<Response>()
  upstream.mockReturnValueOnce(promise)
  return (version: string) => resolve(Response.json(card(version)))
}
/** Waits until the upstream has received so many requests. */
const untilFetched = (fetches: number) => vi.waitFor(() => expect(upstream).toHaveBeenCalledTimes(fetches))

describe('the alarm of a remote card', () => {
  it('is set by the Registry for when the card is due', async () => {
    await put()
    expect([state.alarm, state.values.get('id')]).toEqual([start + DUE_AFTER_MS, 'a'])
  })

  it('is set later when the object is unavailable, and the registration counts as published', async () => {
    vi.spyOn(remoteCard, 'schedule').mockRejectedValueOnce(new Error('unavailable'))
    const { published } = await put()
    const before = state.alarm
    vi.setSystemTime(start + 1000)
    await registry.alarm()
    expect([published, before, state.alarm]).toEqual([true, null, start + DUE_AFTER_MS])
  })

  it('fetches and registers the card, and is set again', async () => {
    await put()
    upstream.mockImplementation(async () => Response.json(card('2.0.0')))
    await fireAlarm()
    expect([await servedVersion(), state.alarm]).toEqual(['2.0.0', start + 2 * DUE_AFTER_MS])
    expect((await registry.revisions('a', 99, 9)).map(({ by }) => by)).toEqual(['fetch', 'manifest'])
  })

  it('fetches nothing before the card is due, and is set for that time', async () => {
    await put()
    state.alarm = start + 1
    await fireAlarm()
    expect([upstream.mock.calls.length, state.alarm]).toEqual([0, start + DUE_AFTER_MS])
  })

  it('is set to a minute from now while the card is fetched, in case the object is evicted', async () => {
    await put()
    const respond = delayResponse()
    const running = fireAlarm()
    await untilFetched(1)
    const retryAfter = (state.alarm ?? 0) - start - DUE_AFTER_MS
    respond('2.0.0')
    await running
    expect([Math.round(retryAfter / 1050), (state.alarm ?? 0) - Date.now()]).toEqual([60, DUE_AFTER_MS])
  })

  it('is set later after each attempt while the Registry is unavailable, at most an hour, and as usual afterwards', async () => {
    await put()
    const failing = vi.spyOn(registry, 'refreshBase').mockRejectedValue(new Error('unavailable'))
    const waits: number[] = []
    for (let attempts = 0; attempts < 8; attempts++) {
      await fireAlarm()
      waits.push(((state.alarm ?? 0) - Date.now()) / 1050)
    }
    expect(waits).toEqual([60, 120, 240, 480, 960, 1920, 3600, 3600])
    expect(vi.mocked(console.error).mock.calls[0]).toEqual([
      '{"event":"refresh-failed","gen_ai.agent.id":"a","exception.message":"Error: unavailable"}',
    ])
    failing.mockRestore()
    await fireAlarm()
    expect([upstream.mock.calls.length, (state.alarm ?? 0) - Date.now()]).toEqual([1, DUE_AFTER_MS])
    vi.spyOn(registry, 'refreshBase').mockRejectedValueOnce(new Error('unavailable'))
    await fireAlarm()
    expect(((state.alarm ?? 0) - Date.now()) / 1050).toBe(60)
  })

  it('is repeated by the platform where the storage fails', async () => {
    await put()
    vi.spyOn(state.storage, 'setAlarm').mockRejectedValueOnce(new Error('unavailable'))
    await expect(fireAlarm()).rejects.toThrow('unavailable')
    expect(state.alarm).toBeNull()
  })

  it('is deleted with the storage of the object when the agent is removed, or its manifest contains the card', async () => {
    const own = registration('a', 'Own', { manifestEtag: '"own"' })
    for (const change of [() => registry.register(own, true), () => registry.remove('a', {}, 'admin')]) {
      await put()
      expect(state.values.size).toBeGreaterThan(0)
      await change()
      await registry.alarm()
      expect([state.alarm, state.values.size]).toEqual([null, 0])
    }
  })
})

describe('a refresh', () => {
  it('reports that a card is not due without a call of the Registry', async () => {
    await put()
    const refreshBase = vi.spyOn(registry, 'refreshBase')
    expect([await refresh(), refreshBase.mock.calls]).toEqual([{ outcome: 'not-due', due: start + DUE_AFTER_MS }, []])
  })

  it('of an unknown agent stores nothing', async () => {
    expect(await refresh({ force: true })).toEqual({ outcome: 'no-source' })
    expect([state.alarm, state.values.size]).toEqual([null, 0])
  })

  it('is shared by all requests that force one before it starts, but not by later ones', async () => {
    await put()
    const [first, second] = [delayResponse(), delayResponse()]
    const refreshes = [refresh({ force: true })]
    await untilFetched(1)
    refreshes.push(refresh({ force: true }), refresh({ force: true }), refresh())
    first('2.0.0')
    second('3.0.0')
    const outcomes = await Promise.all(refreshes)
    expect([outcomes.map(outcome => 'seq' in outcome && outcome.seq), upstream.mock.calls.length]).toEqual([
      [2, 3, 3, 3],
      2,
    ])
  })

  it('starts again when a card is due after the last one, even if the alarm was lost', async () => {
    await put()
    await refresh({ force: true })
    state.alarm = null
    vi.setSystemTime(start + DUE_AFTER_MS)
    expect([await refresh(), upstream.mock.calls.length]).toEqual([{ outcome: 'unchanged' }, 2])
  })

  it('succeeds after a failed one', async () => {
    await put()
    vi.spyOn(registry, 'refreshBase').mockRejectedValueOnce(new Error('unavailable'))
    const refreshes = [refresh({ force: true }), refresh({ force: true })]
    await expect(refreshes[0]).rejects.toThrow('unavailable')
    expect(await refresh({ force: true })).toEqual({ outcome: 'unchanged' })
    await Promise.allSettled(refreshes)
  })

  it('starts again with the new manifest when the agent is registered meanwhile', async () => {
    await put()
    const respond = delayResponse()
    const refreshing = refresh({ force: true })
    await untilFetched(1)
    vi.setSystemTime(start + 1)
    await put({ ...manifest(), card: { description: 'A longer description' } })
    upstream.mockImplementation(async () => Response.json(card('3.0.0')))
    respond('2.0.0')
    expect([await refreshing, await servedVersion()]).toMatchObject([{ outcome: 'refreshed', seq: 3 }, '3.0.0'])
    expect((await registry.manifest('a'))?.manifest).toContain('A longer description')
  })

  it('fails with a conflict when the agent is registered during each of three attempts', async () => {
    await put()
    upstream.mockImplementation(async () => {
      vi.setSystemTime(Date.now() + 1)
      await put()
      return new Response(null, { status: 500 })
    })
    expect([await refresh({ force: true }), upstream.mock.calls.length]).toEqual([{ outcome: 'conflict' }, 3])
    expect(await registry.sourceState('a')).not.toHaveProperty('failing')
  })

  it('ends when the agent is removed meanwhile', async () => {
    await put()
    const respond = delayResponse()
    const refreshing = refresh({ force: true })
    await untilFetched(1)
    await registry.remove('a', {}, 'admin')
    await registry.alarm()
    respond('2.0.0')
    expect(await refreshing).toEqual({ outcome: 'no-source' })
    expect([state.alarm, state.values.size, await registry.manifest('a')]).toEqual([null, 0, null])
  })
})

describe('a pending card', () => {
  const accept = (etag: string, isAdmin = true) => refresh({ force: true, accept: { etag, isAdmin } })
  const pendingEtag = async (): Promise<string> => {
    await put(manifest({ pin: true }))
    upstream.mockImplementation(async () => Response.json(card('2.0.0', 'b.example.com')))
    const result = await refresh({ force: true })
    return result.outcome === 'pending' ? result.pending.etag : ''
  }

  it('is served once it is accepted by its entity tag, without another fetch', async () => {
    const etag = await pendingEtag()
    expect([await accept(etag), await servedVersion(), upstream.mock.calls.length]).toMatchObject([
      { outcome: 'refreshed', seq: 2 },
      '2.0.0',
      1,
    ])
  })

  it('is accepted with its entity tag only, and by an administrator if the agent uses a binding', async () => {
    const etag = await pendingEtag()
    expect(await accept('"other"')).toEqual({ outcome: 'not-pending' })
    expect(await accept(etag, false)).toEqual({ outcome: 'needs-admin' })
    expect(await servedVersion()).toBe('1.0.0')
  })
})
