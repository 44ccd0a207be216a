import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readManifest } from '../../src/card/manifest/manifest.ts'
import { getSource, type Source } from '../../src/card/manifest/upstream.ts'
import type { JsonObject } from '../../src/json/json.ts'
import type { Registered } from '../../src/registry/records.ts'
import { Registry } from '../../src/registry/store/registry.ts'
import { prepareRemote, reconcile } from '../../src/sources/reconcile.ts'
import type { RefreshOptions } from '../../src/sources/refresh.ts'
import { RemoteCard } from '../../src/sources/remote-card.ts'
import { openSql } from '../support/storage.ts'

const start = Date.parse('2026-11-22T00:00:00Z')
const minute = 60_000
const dueAfter = 315_000
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

/** What the objects are given by the platform: key-value storage, SQL and one alarm. */
const createState = () => {
  const values = new Map<string, unknown>()
  const state = {
    values,
    alarm: null as number | null,
    waitUntil: () => undefined,
    exports: { Catalog: () => ({ purge: async () => undefined }) },
    storage: {
      sql: openSql(),
      transactionSync: (run: () => unknown) => run(),
      get: async (key: string) => values.get(key),
      put: async (key: string, value: unknown) => void values.set(key, value),
      deleteAll: async () => values.clear(),
      getAlarm: async () => state.alarm,
      setAlarm: async (at: number) => {
        state.alarm = at
      },
      deleteAlarm: async () => {
        state.alarm = null
      },
    },
  }
  return state
}

let upstream: ReturnType<typeof vi.fn<() => Promise<Response>>>
let registry: Registry
let objectState: ReturnType<typeof createState>
let object: RemoteCard
let env: Env

beforeEach(() => {
  vi.useFakeTimers({ now: start })
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  vi.spyOn(console, 'error').mockReturnValue()
  upstream = vi.fn(async () => Response.json(card()))
  const bindings: Record<string, unknown> = {
    ...{ ALLOWED_ORIGINS: '', PUBLIC_URL: '', AGENT: { fetch: () => upstream() } },
    CARDS: { put: async () => undefined },
    REGISTRY: { getByName: () => registry },
    REMOTE_CARDS: { getByName: () => object },
  }
  env = bindings as unknown as Env
  registry = new Registry(createState() as never, env)
  objectState = createState()
  object = new RemoteCard(objectState as never, env)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Registers agent `a` as `PUT` does, with a card that was fetched just now, and lets the Registry publish. */
const put = async (document: JsonObject = manifest(), fetched: JsonObject = card()): Promise<Registered> => {
  const read = readManifest(document, 'a')
  if ('errors' in read) throw new Error(JSON.stringify(read.errors))
  const source = getSource(read.manifest.upstream) as Source
  const known = (await registry.sourceRecord('a')) ?? undefined
  const origins = { requestOrigin: 'https://host.example' }
  const agent = { id: 'a', document, manifest: read.manifest, origins, source, known, by: 'manifest' } as const
  const reconciled = await reconcile(agent, { card: fetched, validators: {} })
  if ('errors' in reconciled) throw new Error(JSON.stringify(reconciled.errors))
  const registered = await registry.register(await prepareRemote(agent, reconciled, {}), true)
  if (registered.outcome !== 'registered') throw new Error(registered.outcome)
  await registry.alarm()
  return registered
}
const refresh = async (options: RefreshOptions = {}) => (await object.refresh('a', options)).result
/** Rings the alarm at its time, as the platform does. */
const ring = async () => {
  vi.setSystemTime(objectState.alarm ?? 0)
  objectState.alarm = null
  await object.alarm()
}
const versionOf = async () => JSON.parse(String((await registry.sourceRecord('a'))?.card)).version
const heldResponse = () => {
  const { promise, resolve } = Promise.withResolvers<Response>()
  upstream.mockReturnValueOnce(promise)
  return (version: string) => resolve(Response.json(card(version)))
}
const begun = (fetches: number) => vi.waitFor(() => expect(upstream).toHaveBeenCalledTimes(fetches))

describe('the alarm of a remote card', () => {
  it('is set by the Registry for when the card is due', async () => {
    await put()
    expect([objectState.alarm, objectState.values.get('id')]).toEqual([start + dueAfter, 'a'])
  })

  it('is set later where the object is unavailable, and the registration counts as published', async () => {
    vi.spyOn(object, 'schedule').mockRejectedValueOnce(new Error('away'))
    const { published } = await put()
    const before = objectState.alarm
    await registry.alarm()
    expect([published, before, objectState.alarm]).toEqual([true, null, start + dueAfter])
  })

  it('has the card fetched and registered, and is set for the next time', async () => {
    await put()
    upstream.mockImplementation(async () => Response.json(card('2.0.0')))
    await ring()
    expect([await versionOf(), objectState.alarm]).toEqual(['2.0.0', start + 2 * dueAfter])
    expect((await registry.revisions('a', 99, 9)).map(({ by }) => by)).toEqual(['fetch', 'manifest'])
  })

  it('fetches nothing where the card is not due, but is set for when it is', async () => {
    await put()
    objectState.alarm = start + 1
    await ring()
    expect([upstream.mock.calls.length, objectState.alarm]).toEqual([0, start + dueAfter])
  })

  it('comes later after each failure', async () => {
    await put()
    upstream.mockImplementation(async () => new Response(null, { status: 500 }))
    const waits: number[] = []
    for (let failures = 0; failures < 3; failures++) {
      await ring()
      waits.push(Math.round(((objectState.alarm ?? 0) - Date.now()) / 1050))
    }
    expect(waits).toEqual([60, 120, 240])
  })

  it('stands in a minute while the card is fetched, in case the object does not survive that', async () => {
    await put()
    const respond = heldResponse()
    const ringing = ring()
    await begun(1)
    const standIn = (objectState.alarm ?? 0) - start - dueAfter
    respond('2.0.0')
    await ringing
    expect([Math.round(standIn / 1000), (objectState.alarm ?? 0) - Date.now()]).toEqual([60, dueAfter])
  })

  it('tries again in a minute where the Registry is unavailable', async () => {
    await put()
    vi.spyOn(registry, 'refreshBase').mockRejectedValueOnce(new Error('away'))
    await ring()
    expect([objectState.alarm, vi.mocked(console.error).mock.calls]).toEqual([
      start + dueAfter + minute,
      [['{"event":"refresh-failed","agent":"a","error":"Error: away"}']],
    ])
    await ring()
    expect(upstream).toHaveBeenCalledOnce()
  })

  it.each([
    ['the agent is removed', () => registry.remove('a', {})],
    [
      'its manifest says the card itself',
      async () => {
        const record = await registry.refreshBase('a')
        const own = { id: 'a', manifest: '{}', manifestEtag: '"own"', visibility: 'public', hosts: [] } as const
        const profile = { etag: '"p"', bytes: new Uint8Array() }
        const summary = { name: 'a', description: '', version: '', url: '', protocol: 'a2a' }
        await registry.register(
          {
            ...{ ...own, origin: record?.origin ?? '', profile, representations: {}, extended: [], expected: {} },
            summary: { ...summary, shaman: { url: '', preferredTransport: '' } },
          },
          true,
        )
      },
    ],
  ])('is deleted with all that is stored once %s', async (_, change) => {
    await put()
    await change()
    await registry.alarm()
    expect([objectState.alarm, objectState.values.size]).toEqual([null, 0])
  })
})

describe('a refresh', () => {
  it('says that a card is not due, without asking the Registry', async () => {
    await put()
    const asked = vi.spyOn(registry, 'refreshBase')
    expect([await refresh(), asked.mock.calls]).toEqual([{ outcome: 'not-due', due: start + dueAfter }, []])
  })

  it('of no agent leaves nothing behind', async () => {
    expect(await refresh({ force: true })).toEqual({ outcome: 'no-source' })
    expect([objectState.alarm, objectState.values.size]).toEqual([null, 0])
  })

  it('finds a card unchanged whose members come in another order', async () => {
    await put()
    upstream.mockImplementation(async () => Response.json(Object.fromEntries(Object.entries(card()).toReversed())))
    expect([await refresh({ force: true }), (await registry.sourceState('a'))?.seq]).toEqual([
      { outcome: 'unchanged' },
      1,
    ])
  })

  it('is shared by all who force one before it begins; not by those who come later', async () => {
    await put()
    const [first, second] = [heldResponse(), heldResponse()]
    const refreshes = [refresh({ force: true })]
    await begun(1)
    refreshes.push(refresh({ force: true }), refresh({ force: true }), refresh())
    first('2.0.0')
    second('3.0.0')
    const outcomes = await Promise.all(refreshes)
    expect([outcomes.map(each => 'seq' in each && each.seq), upstream.mock.calls.length]).toEqual([[2, 3, 3, 3], 2])
  })

  it('is shared by whoever does not force one, while it is under way', async () => {
    await put()
    const respond = heldResponse()
    const forced = refresh({ force: true })
    await begun(1)
    const joined = refresh()
    respond('2.0.0')
    expect([await joined, upstream.mock.calls.length]).toEqual([await forced, 1])
  })

  it('begins anew for whoever asks for a due card after it has ended, though the alarm was lost', async () => {
    await put()
    await refresh({ force: true })
    objectState.alarm = null
    vi.setSystemTime(start + dueAfter)
    expect([await refresh(), upstream.mock.calls.length]).toEqual([{ outcome: 'unchanged' }, 2])
  })

  it('does not fail because the one before it did', async () => {
    await put()
    vi.spyOn(registry, 'refreshBase').mockRejectedValueOnce(new Error('away'))
    const refreshes = [refresh({ force: true }), refresh({ force: true })]
    await expect(refreshes[0]).rejects.toThrow('away')
    expect(await refresh({ force: true })).toEqual({ outcome: 'unchanged' })
    await Promise.allSettled(refreshes)
  })

  it('starts over with the new manifest, where the agent is registered meanwhile', async () => {
    await put()
    const respond = heldResponse()
    const refreshing = refresh({ force: true })
    await begun(1)
    vi.setSystemTime(start + 1)
    await put({ ...manifest(), card: { description: 'Says more' } })
    upstream.mockImplementation(async () => Response.json(card('3.0.0')))
    respond('2.0.0')
    expect([await refreshing, await versionOf()]).toMatchObject([{ outcome: 'refreshed', seq: 3 }, '3.0.0'])
    expect((await registry.manifest('a'))?.manifest).toContain('Says more')
  })

  it('gives up where the agent is registered each time', async () => {
    await put()
    upstream.mockImplementation(async () => {
      vi.setSystemTime(Date.now() + 1)
      await put()
      return new Response(null, { status: 500 })
    })
    expect([await refresh({ force: true }), upstream.mock.calls.length]).toEqual([{ outcome: 'conflict' }, 3])
    expect(await registry.sourceState('a')).not.toHaveProperty('failing')
  })

  it('ends where the agent is removed meanwhile', async () => {
    await put()
    const respond = heldResponse()
    const refreshing = refresh({ force: true })
    await begun(1)
    await registry.remove('a', {})
    await registry.alarm()
    respond('2.0.0')
    expect(await refreshing).toEqual({ outcome: 'no-source' })
    expect([objectState.alarm, objectState.values.size, await registry.manifest('a')]).toEqual([null, 0, null])
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

  it('is served once it is accepted by its entity tag, and is not fetched again', async () => {
    const etag = await pendingEtag()
    expect([await accept(etag), await versionOf(), upstream.mock.calls.length]).toMatchObject([
      { outcome: 'refreshed', seq: 2 },
      '2.0.0',
      1,
    ])
  })

  it.each([
    ['another entity tag', '"other"', true, 'not-pending'],
    ['a caller who is no admin, as the agent uses a binding', undefined, false, 'needs-admin'],
  ])('is not served by %s', async (_, other, isAdmin, outcome) => {
    const etag = await pendingEtag()
    expect([await accept(other ?? etag, isAdmin), await versionOf()]).toEqual([{ outcome }, '1.0.0'])
  })
})
