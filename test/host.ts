import { createTestHarness, unstable_readConfig } from 'wrangler'
import type { Json } from '../src/json/json.ts'

/** The admin token of every host under test that is not given another. */
export const token = 'the-admin-token-of-tests'

/** A host under test: the production build in the real runtime, spoken to over HTTP only. */
export type Host = {
  url: URL
  /** Sends a request as anybody would; an absolute URL sets the host name. */
  fetch: (path: string, init?: RequestInit) => Promise<Response>
  /** Registers a card or manifest with the admin token. */
  put: (id: string, document: Json, headers?: Record<string, string>) => Promise<Response>
  /** The bindings of the Worker, to look at what it stored. */
  env: () => Promise<Env>
  /** Runs the scheduled job, to its end. */
  scheduled: () => Promise<void>
  /** The lines that the Worker has logged so far. */
  logged: () => string[]
  close: () => Promise<void>
}

/** What matters here of a configuration of wrangler. */
type Bindings = { name: string; services?: { binding: string; service: string }[] }

/** The example agents by the names of their Workers, for the hosts that are to reach them. */
const examples = {
  'echo-agent': 'examples/echo-agent/wrangler.toml',
  'mcp-server': 'examples/mcp-server/wrangler.toml',
}

/**
 * Starts a host. `configPath` names another Worker around the same code; `vars` override those of wrangler.toml. An
 * example that is not started along has its service bound to the host itself: the runtime wants somebody there.
 */
export const startHost = async (
  vars: Record<string, string> = {},
  worker: { configPath: string; prebuiltWorkerDir?: string } = {
    configPath: 'wrangler.toml',
    prebuiltWorkerDir: 'out',
  },
  along: readonly (keyof typeof examples)[] = [],
): Promise<Host> => {
  const config: Bindings = unstable_readConfig({ config: worker.configPath }, { hideWarnings: true })
  const absent = (config.services ?? []).filter(({ service }) => !along.some(example => example === service))
  const bindingOverrides = Object.fromEntries(absent.map(({ binding }) => [binding, config.name]))
  const { ADMIN_TOKEN = token, ...others } = vars
  const harness = createTestHarness({
    workers: [
      { ...worker, vars: others, secrets: { ADMIN_TOKEN }, bindingOverrides },
      ...along.map(example => ({ configPath: examples[example] })),
    ],
  })
  const { url } = await harness.listen()
  const host = harness.getWorker<Env>()
  const fetch: Host['fetch'] = (path, init = {}) => {
    const headers = new Headers(init.headers)
    // Otherwise the harness compresses on the way, which the platform's edge does after the Worker.
    headers.set('Accept-Encoding', 'identity')
    // Of the Worker itself: the harness's own door is a Worker more to pass, which takes as long again.
    return host.fetch(path, { redirect: 'manual', ...init, headers: Object.fromEntries(headers) } as never) as never
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
    env: () => host.getEnv() as Promise<Env>,
    scheduled: async () => {
      await host.scheduled({ cron: '* * * * *', scheduledTime: new Date() })
    },
    logged: () => harness.getLogs().map(({ message }) => message),
    close: () => harness.close(),
  }
}
