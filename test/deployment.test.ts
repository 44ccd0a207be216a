import { WorkerEntrypoint } from 'cloudflare:workers'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import * as worker from '../src/index.ts'

it('tests run the version of miniflare that wrangler depends on', () => {
  const read = (file: string) => JSON.parse(readFileSync(join(import.meta.dirname, '..', file), 'utf8'))
  const expected = read('node_modules/wrangler/package.json').dependencies.miniflare
  expect(read('package.json').devDependencies.miniflare).toBe(expected)
})

const isEntrypoint = (value: unknown): boolean =>
  typeof value === 'function' && value.prototype instanceof WorkerEntrypoint

// The cache key of Workers Cache contains neither the host nor Authorization: no entrypoint that depends on either may use it.
describe('Workers Cache', () => {
  it('is enabled for the entrypoint Catalog only', () => {
    const { cacheEnabled, cachedByEntrypoint } = inject('hostConfig')
    const entrypoints = Object.entries(worker).flatMap(([name, value]) =>
      name === 'default' || isEntrypoint(value) ? [name] : [],
    )
    expect(entrypoints.filter(name => cachedByEntrypoint[name] ?? cacheEnabled)).toEqual(['Catalog'])
  })

  it('stores responses that depend only on the URL', async () => {
    const lists: unknown[][] = []
    const agents = [{ id: 'weather', summary: { name: 'Weather', description: '', version: '1', url: '' } }]
    const REGISTRY = {
      getByName: () => ({
        list: async (...query: unknown[]) => {
          lists.push(query)
          return agents
        },
      }),
    }
    const catalog = new worker.Catalog({} as never, { REGISTRY, CACHE_MAX_AGE: '60', PUBLIC_URL: '' } as never)
    const read = async (host: string, headers: Record<string, string>) => {
      const response = await catalog.fetch(new Request(`https://${host}/agents?limit=5`, { headers }))
      return [response.status, [...response.headers], await response.text()]
    }
    const anonymous = await read('one.example', {})
    expect(await read('two.example', { Authorization: 'Bearer the-admin-token', Cookie: 'a=1' })).toEqual(anonymous)
    // `covered` would name the agents whose internal cards the caller may see.
    expect([anonymous[0], lists]).toEqual([200, Array(2).fill([{ after: '', limit: 6, covered: [] }])])
  })
})
