import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { workerBundle } from '../../bench/bundle.ts'
import { hostService } from '../../bench/host.ts'
import { startWorkerd } from '../../bench/server.ts'
import { type Host, token } from '../host.ts'

/** What of a host needs no harness. */
export type BareHost = Pick<Host, 'url' | 'fetch' | 'close'>

/** The host, but for its log lines, which a bare runtime writes between the results of the tests. */
const quiet = "export * from './index.js'; export { default } from './index.js'; console.info = () => undefined"

/**
 * Starts the production build in a bare runtime: what the harness puts between a Worker and the network hides how connections
 * end. It limits no rates.
 */
export const startBareHost = async (vars: Record<string, string> = {}): Promise<BareHost> => {
  const directory = mkdtempSync(join(tmpdir(), 'calling-card-host-'))
  const texts = Object.entries({ ADMIN_TOKEN: token, ...vars }).map(([name, text]) => [name, { text }])
  const server = await startWorkerd({
    services: {
      host: hostService(
        { 'quiet.js': quiet, 'index.js': await readFile('out/index.js', 'utf8') },
        'kv',
        Object.fromEntries(texts),
      ),
      kv: { modules: { 'kv.js': await workerBundle('kv') }, bindings: { AGENTS: { text: '0' } } },
      disk: { directory },
    },
    sockets: ['host'],
  })
  const url = new URL(`http://127.0.0.1:${server.ports.host}`)
  return {
    url,
    fetch: (path, init) => fetch(new URL(path, url), { redirect: 'manual', ...init }),
    close: async () => {
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
