import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readHost, workerBundle } from '../../bench/bundle.ts'
import { hostWorker, startWorkerd } from '../../bench/servers.ts'
import { makeSigningKey } from '../support/signing-key.ts'

/** The work of the host since the last reset. */
export type HostCounts = {
  requests: number
  kv: number
  parses: number
  hashes: number
  registry: number
  owners: number
}
/** The operations of KV since the last reset; `get` counts keys, `bulk` the requests for several. */
export type KvCounts = { get: number; bulk: number; put: number; delete: number }

/**
 * Starts the production build in a bare workerd, with the work of the host and of KV counted. The host signs cards, knows agent-000000 to
 * agent-000099 once the first of them is registered, and may call one private origin.
 */
export const startCountingHost = async (allowedOrigin: string) => {
  const directory = mkdtempSync(join(tmpdir(), 'calling-card-counts-'))
  const bundle = readHost('out')
  const modules = { 'counting.js': await workerBundle('counting'), ...bundle.modules }
  const server = await startWorkerd({
    services: {
      host: hostWorker(
        { ...bundle, modules },
        { ALLOWED_ORIGINS: { text: allowedOrigin }, SIGNING_KEY: { text: JSON.stringify(makeSigningKey()) } },
      ),
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
    resetCounts: async () => {
      await Promise.all([json(`${origin}/counts`, 'DELETE'), json(`${kv}/counts`, 'DELETE')])
    },
    /** Waits until KV has received a number of PUTs: the host publishes a change a second after a registration. */
    untilPuts: async (wanted: number) => {
      for (let puts = 0; puts < wanted; ) puts = ((await json(`${kv}/counts`)) as KvCounts).put
    },
    blockReads: () => json(`${kv}/block`, 'PUT'),
    releaseReads: () => json(`${kv}/block`, 'DELETE'),
    stop: async () => {
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
