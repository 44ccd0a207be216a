import { WorkerEntrypoint } from 'cloudflare:workers'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { EXAMPLE_WORKERS } from '../cli/dev/dev-server.ts'
import packageJson from '../package.json' with { type: 'json' }
import * as worker from '../src/index.ts'

const read = (file: string): string => readFileSync(join(import.meta.dirname, '..', file), 'utf8')

it('tests run the version of miniflare that wrangler depends on', () => {
  const { miniflare } = JSON.parse(read('node_modules/wrangler/package.json')).dependencies
  expect(packageJson.devDependencies.miniflare).toBe(miniflare)
})

describe('wrangler.toml', () => {
  const config = read('wrangler.toml')

  it('names nothing that a fresh account lacks: no services, no required secrets', () => {
    expect(config.match(/^\[+(?:services|secrets).*$/gm)).toBeNull()
    expect(config).not.toMatch(/^\s*(?:services|required)\s*=/m)
  })

  it('has ids of rate limits that other Workers of the account are unlikely to have', () => {
    const ids = [...config.matchAll(/^namespace_id = "(\d+)"$/gm)].map(([, id]) => Number(id))
    expect(ids).toHaveLength(Object.keys(inject('hostConfig').rateLimits).length)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter(id => id < 1_000_000_000 || id > 2 ** 31 - 1)).toEqual([])
  })

  it('has a text for each variable and secret on the page of the Deploy to Cloudflare button', () => {
    const { kvNamespaces, vars } = inject('hostConfig')
    const secrets = [...read('.dev.vars.example').matchAll(/^(\w+)=$/gm)].map(([, name]) => name)
    expect(secrets).toEqual(['ADMIN_TOKEN'])
    const names = [...secrets, ...kvNamespaces, ...Object.keys(vars).filter(name => name !== 'ADMIN_TOKEN')]
    expect(Object.keys(packageJson.cloudflare.bindings).sort()).toEqual(names.sort())
  })

  it('has the names of the example Workers that npm start binds', () => {
    for (const { service, config: example } of EXAMPLE_WORKERS)
      expect(read(example)).toMatch(new RegExp(`^name = "${service}"$`, 'm'))
  })
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
