import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Source } from '../../src/card/manifest/upstream.ts'
import { fetchSource } from '../../src/sources/fetch.ts'
import { refreshAgent } from '../../src/sources/refresh.ts'

const spent = 'Too many subrequests by single Worker invocation. To configure this limit, refer to the docs'
let told: string[]
let env: Env
const sources: Record<Source['kind'], Source> = {
  card: { kind: 'card', url: 'https://source.example.com/card', ttl: 300, staleIfError: 3600, pin: false },
  mcp: { kind: 'mcp', url: 'https://source.example.com/mcp', ttl: 300, staleIfError: 3600, pin: false },
}

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  told = []
  env = {
    ALLOWED_ORIGINS: '',
    PUBLIC_URL: '',
    REGISTRY: {
      getByName: () => ({
        leaseSource: async (id: keyof typeof sources) => ({
          ...{ outcome: 'leased', lease: 'mine', manifest: '{}', manifestEtag: '"e"', origin: 'https://host.example' },
          ...{ seq: 1, record: { source: sources[id], by: 'manifest' } },
        }),
        sourceChecked: async (...[, , , lease]: string[]) => void told.push(`checked under ${lease}`),
        releaseSource: async (_: string, lease: string) => void told.push(`released ${lease}`),
      }),
    },
  } as unknown as Env
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})
const answers = (message: string) => vi.stubGlobal('fetch', () => Promise.reject(new Error(message)))
const ctx = {} as ExecutionContext

describe.each(Object.entries(sources))('a %s that the platform lets nobody ask any more', (kind, source) => {
  it('is told from one that does not answer', async () => {
    answers(spent)
    const ours = await fetchSource(source, 'a', undefined, env, [])
    answers('connection refused')
    const theirs = await fetchSource(source, 'a', undefined, env, [])
    expect([ours, theirs]).toEqual([{ ...theirs, spent: true }, { failure: expect.any(Object) }])
  })

  it('is not noted as failing', async () => {
    answers(spent)
    expect([await refreshAgent(kind, {}, env, ctx), told]).toEqual([{ outcome: 'spent' }, ['released mine']])
    answers('connection refused')
    const { outcome } = await refreshAgent(kind, {}, env, ctx)
    expect([outcome, told.slice(1)]).toEqual(['failed', ['checked under mine', 'released mine']])
  })
})
