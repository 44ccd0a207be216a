import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { workerBundle } from '../../bench/bundle.ts'
import { hostService } from '../../bench/host.ts'
import { startWorkerd } from '../../bench/server.ts'

/** What the host did since the counts were last forgotten. */
export type HostCounts = { requests: number; kv: number; parses: number; hashes: number; registry: number }
/** What KV was asked since then. */
export type KvCounts = { get: number; put: number; delete: number }

/**
 * The production bundle in a bare workerd, its work and its KV's counted. Knows agent-000000 to agent-000099 once the first is
 * registered. Of private addresses it may call the one origin.
 */
export const startCountingHost = async (allowedOrigin: string) => {
  const directory = mkdtempSync(join(tmpdir(), 'calling-card-counts-'))
  const counting = { 'counting.js': await workerBundle('counting'), 'host.js': await readFile('out/index.js', 'utf8') }
  const server = await startWorkerd({
    services: {
      host: hostService(counting, 'kv', { ALLOWED_ORIGINS: { text: allowedOrigin } }),
      kv: { modules: { 'kv.js': await workerBundle('kv') }, bindings: { AGENTS: { text: '100' } } },
      disk: { directory },
    },
    sockets: ['host', 'kv'],
  })
  const origin = `http://127.0.0.1:${server.ports.host}`
  const kv = `http://127.0.0.1:${server.ports.kv}`
  const json = async (url: string, method = 'GET') => (await fetch(url, { method })).json()
  return {
    origin,
    port: server.ports.host ?? 0,
    hostCounts: () => json(`${origin}/counts`) as Promise<HostCounts>,
    kvCounts: () => json(`${kv}/counts`) as Promise<KvCounts>,
    forgetCounts: async () => {
      await Promise.all([json(`${origin}/counts`, 'DELETE'), json(`${kv}/counts`, 'DELETE')])
    },
    /** Waits until KV was asked to put so often: word of a change follows a registration by a second. */
    untilPuts: async (wanted: number) => {
      for (let puts = 0; puts < wanted; ) puts = ((await json(`${kv}/counts`)) as KvCounts).put
    },
    holdReads: () => json(`${kv}/hold`, 'PUT'),
    releaseReads: () => json(`${kv}/hold`, 'DELETE'),
    stop: async () => {
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
