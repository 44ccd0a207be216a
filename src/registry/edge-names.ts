import { EdgeMemory } from './edge-memory.ts'
import { truth } from './truth.ts'

/** The longest name that is looked for, in characters. */
const most = 200

const names = new EdgeMemory<string>(1024 * 1024, (name, id) => 200 + 2 * name.length + (id?.length ?? 0))

/**
 * The id of the agent that has a name or an id, whatever its case; an empty text where there is none. Asked of the Registry,
 * and remembered: calls by name come from Shaman's clients alone.
 */
export const agentNamed = async (name: string, env: Env, ctx: ExecutionContext): Promise<string> => {
  // As SQLite's lower() does it: ASCII alone.
  const key = name.replace(/[A-Z]/g, letter => letter.toLowerCase())
  if (key.length > most) return ''
  const held = names.held(key)
  const read = async () => ({ value: await truth(env).agentNamed(key), seq: 0 })
  return (held === undefined ? await names.get(key, read, ctx) : held) ?? ''
}
