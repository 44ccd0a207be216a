import type { JsonObject } from '../../src/json/json.ts'
import type { Registry } from '../../src/registry/store/registry.ts'
import { token } from './runtime.ts'
import { openStorage, type TestStorage } from './storage.ts'

/** The whole host in this process, with its Registry and KV in memory: it starts at once, and its CPU time can be measured. */
export type NodeHost = {
  /** Sends a request; an absolute URL sets the host name. */
  fetch: (request: Request | string, init?: RequestInit) => Promise<Response>
  /** Registers a card or manifest with the admin token. */
  put: (id: string, document: JsonObject) => Promise<JsonObject>
  /** The environment of the Worker, whose bindings a test may replace. Its configuration is parsed once. */
  env: Env
  registry: Registry
  /** The storage of the Registry. */
  storage: DurableObjectStorage
  /** Makes these the secrets of the host, in place of others of the same names, and starts its objects again as a deployment does. */
  deploy: (secrets: Readonly<Record<string, string | undefined>>) => Promise<void>
  /** Runs the alarm of the Registry as long as its time has come. */
  ringAlarm: () => Promise<void>
}

type NodeHostOptions = {
  vars?: Record<string, string>
  /** The response of the service binding `AGENT`. */
  answer?: JsonObject
  /** Of requests that have a path only. */
  origin?: string
}

/** Starts a host in this process. */
export const startNodeHost = async (options: NodeHostOptions = {}): Promise<NodeHost> => {
  const { vars = {}, answer = {}, origin = 'https://host.example' } = options
  const { handleRequest } = await import('../../src/app.ts')
  const { Catalog } = await import('../../src/api/catalogs/start.ts')
  const { Registry } = await import('../../src/registry/store/registry.ts')
  const { TaskOwners } = await import('../../src/gateway/tasks/index.ts')
  const limit = { limit: async () => ({ success: true }) }
  let env = {
    ADMIN_TOKEN: token,
    CARDS: memoryKv(),
    REMOTE_CARDS: {
      getByName: () => ({
        schedule: async () => undefined,
        refresh: async () => ({ result: { outcome: 'unchanged' } }),
      }),
    },
    EVENTS: {
      getByName: () => ({
        append: async () => Number.POSITIVE_INFINITY,
        fetch: async () => Response.json({ refused: 'unknown-event' }, { status: 409 }),
      }),
    },
    AGENT: { fetch: async () => Response.json(answer) },
    ...{ LINT_LIMIT: limit, CALL_LIMIT: limit, AUTH_LIMIT: limit },
    ...{ PAGE_LIMIT: limit, FETCH_LIMIT: limit, WRITE_LIMIT: limit },
    ...{
      CACHE_MAX_AGE: '60',
      CACHE_STALE_WHILE_REVALIDATE: '86400',
      PUBLIC_URL: '',
      ROOT_AGENT: '',
      ROLE: '',
      ALLOWED_ORIGINS: '',
    },
    ...{ UPSTREAM_TIMEOUT: '5', STREAM_IDLE_TIMEOUT: '5' },
    ...vars,
  } as unknown as Env
  const ctx: unknown = { waitUntil: () => undefined, exports: { Catalog: () => new Catalog(ctx as never, env) } }
  const registry = namespaceOf(Registry, () => env)
  Object.assign(env, { REGISTRY: registry, TASK_OWNERS: namespaceOf(TaskOwners, () => env) })
  await registry.start('default')
  const send: NodeHost['fetch'] = async (request, init) =>
    handleRequest(
      typeof request === 'string' ? new Request(new URL(request, origin), init) : request,
      env,
      ctx as ExecutionContext,
    )
  return {
    fetch: send,
    get env() {
      return env
    },
    registry: registry.getByName('default'),
    storage: registry.storageOf('default'),
    put: async (id, document) => {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
      const response = await send(`/agents/${id}`, { method: 'PUT', headers, body: JSON.stringify(document) })
      if (!response.ok) throw new Error(`PUT ${id}: ${response.status} ${await response.text()}`)
      return (await response.json()) as JsonObject
    },
    deploy: async secrets => {
      env = { ...env, ...secrets } as Env
      await registry.restart('default')
    },
    ringAlarm: () => registry.ringAlarm('default'),
  }
}

/** Returns a namespace of Durable Objects, each with a storage of its own. */
const namespaceOf = <Instance extends { alarm?: () => void | Promise<void> }>(
  Class: new (ctx: DurableObjectState, env: Env) => Instance,
  getEnv: () => Env,
) => {
  const instances = new Map<string, Instance>()
  const storages = new Map<string, TestStorage>()
  const starting: Promise<unknown>[] = []
  const storageOf = (name: string): DurableObjectStorage => {
    const opened = storages.get(name) ?? openStorage()
    storages.set(name, opened)
    return opened.storage
  }
  const create = (name: string): Instance => {
    const blockConcurrencyWhile = (work: () => Promise<unknown>) => {
      const done = work()
      starting.push(done)
      return done
    }
    const state: unknown = { storage: storageOf(name), waitUntil: () => undefined, blockConcurrencyWhile }
    return new Class(state as DurableObjectState, getEnv())
  }
  const getByName = (name: string): Instance => {
    const instance = instances.get(name) ?? create(name)
    instances.set(name, instance)
    return instance
  }
  /** Creates an instance and waits until it is ready, as the runtime would have each of its requests wait. */
  const start = async (name: string): Promise<void> => {
    getByName(name)
    await Promise.all(starting)
  }
  const restart = async (name: string): Promise<void> => {
    instances.delete(name)
    await start(name)
  }
  const ringAlarm = async (name: string): Promise<void> => {
    const state = storages.get(name)
    while (state && state.alarm !== null && state.alarm <= Date.now()) {
      state.alarm = null
      await getByName(name).alarm?.()
    }
  }
  return { getByName, start, restart, ringAlarm, storageOf }
}

const memoryKv = () => {
  const values = new Map<string, { value: string | Uint8Array<ArrayBuffer>; metadata: unknown }>()
  return {
    getWithMetadata: async (key: string, { type = 'text' } = {}) => {
      const { value, metadata } = values.get(key) ?? { value: '', metadata: null }
      return { value: type === 'text' ? value : new Response(value).body, metadata }
    },
    put: async (key: string, value: string | Uint8Array<ArrayBuffer>, { metadata }: { metadata: unknown }) =>
      void values.set(key, { value, metadata }),
    delete: async (key: string) => void values.delete(key),
  }
}
