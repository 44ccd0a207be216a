import { createTestHarness } from 'wrangler'
import type { Json } from '../src/card/json.ts'

/** The admin token of every host under test. */
export const token = 'a-test-token'

/** A host under test: the production build in the real runtime, spoken to over HTTP only. */
export type Host = {
  url: URL
  /** Sends a request as anybody would; an absolute URL sets the host name. */
  fetch: (path: string, init?: RequestInit) => Promise<Response>
  /** Registers a card or manifest with the admin token. */
  put: (id: string, document: Json, headers?: Record<string, string>) => Promise<Response>
  /** The bindings of the Worker, to look at what it stored. */
  env: () => Promise<Env>
  close: () => Promise<void>
}

/** Starts a host. `configPath` names another Worker around the same code; `vars` override those of wrangler.toml. */
export const startHost = async (
  vars: Record<string, string> = {},
  worker: { configPath: string; prebuiltWorkerDir?: string } = {
    configPath: 'wrangler.toml',
    prebuiltWorkerDir: 'out',
  },
): Promise<Host> => {
  const harness = createTestHarness({ workers: [{ ...worker, vars, secrets: { ADMIN_TOKEN: token } }] })
  const { url } = await harness.listen()
  const fetch: Host['fetch'] = (path, init = {}) => {
    const headers = new Headers(init.headers)
    // Otherwise the harness compresses on the way, which the platform's edge does after the Worker.
    headers.set('Accept-Encoding', 'identity')
    return harness.fetch(path, { redirect: 'manual', ...init, headers: Object.fromEntries(headers) } as never) as never
  }
  return {
    url,
    fetch,
    put: (id, document, headers = {}) =>
      fetch(`/agents/${id}`, {
        method: 'PUT',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(document),
      }),
    env: () => harness.getWorker<Env>().getEnv() as Promise<Env>,
    close: () => harness.close(),
  }
}
