import { WorkerEntrypoint } from 'cloudflare:workers'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import * as worker from '../src/index.ts'

it('tests the runtime that wrangler runs', () => {
  const read = (file: string) => JSON.parse(readFileSync(join(import.meta.dirname, '..', file), 'utf8'))
  const carried = read('node_modules/wrangler/package.json').dependencies.miniflare
  expect(read('package.json').devDependencies.miniflare).toBe(carried)
})

const isEntrypoint = (value: unknown): boolean =>
  typeof value === 'function' && value.prototype instanceof WorkerEntrypoint

// Workers Cache leaves the host and Authorization out of its key: an entrypoint that depends on either must not be behind it.
describe('Workers Cache', () => {
  it('is behind the entrypoint Catalog, and no other that the Worker exports', () => {
    const { cacheEnabled, cachedByEntrypoint } = inject('hostConfig')
    const entrypoints = Object.entries(worker).flatMap(([name, value]) =>
      name === 'default' || isEntrypoint(value) ? [name] : [],
    )
    expect(entrypoints.filter(name => cachedByEntrypoint[name] ?? cacheEnabled)).toEqual(['Catalog'])
  })

  it('keeps responses that depend on the URL alone', async () => {
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
    // A list with the internal agents would be asked for with `true`.
    expect([anonymous[0], lists]).toEqual([200, Array(2).fill(['', 6, false])])
  })
})
