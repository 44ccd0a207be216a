import { getRegistry } from '../store/client.ts'
import type { NamedAgents } from '../store/names.ts'
import { KvCache } from './kv-cache.ts'

/** The longest name that is looked for, in characters. */
const most = 200

const nobody: NamedAgents = { open: null, internal: [] }

const names = new KvCache<NamedAgents>(1024 * 1024, name => 1000 + 2 * name.length)

/** The agents of a name or an id, whatever its case, as this isolate knows them; undefined: ask `readNamed`. */
export const getCachedByName = (name: string): NamedAgents | undefined => {
  const key = keyOf(name)
  return key.length > most ? nobody : (names.getFresh(key) ?? undefined)
}

/** The same, asked of the Registry where need be, and remembered: calls by name come from Shaman's and SuperX's clients alone. */
export const findByName = async (name: string, env: Env, ctx: ExecutionContext): Promise<NamedAgents> => {
  const key = keyOf(name)
  const read = async () => ({ value: await getRegistry(env).namedAgents(key), seq: 0 })
  return getCachedByName(name) ?? (await names.fetch(key, read, ctx)) ?? nobody
}

/** As SQLite's lower() does it: ASCII alone. */
const keyOf = (name: string): string => name.replace(/[A-Z]/g, letter => letter.toLowerCase())
