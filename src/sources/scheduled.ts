import { log } from '../http/log.ts'
import { isSubrequestLimitError } from '../http/safe-fetch.ts'
import { getRegistry } from '../registry/store/client.ts'
import { refreshAgent } from './refresh.ts'

/** How many cards are read at a time: of more, the platform would keep some waiting while their time runs out. */
const atOnce = 6

/** How long one run goes on to begin with others, in ms: the next run begins after a minute. */
const longEnough = 50_000

/** How many of those that are due are asked for at a time. */
const page = 100

/** Reads the cards again that are due, each once, those first that were longest not read. One that fails keeps nobody from the rest. */
export const refreshDue = async (env: Env, ctx: ExecutionContext): Promise<void> => {
  const ids = dueIds(env, Date.now())
  const work = async (): Promise<void> => {
    for await (const id of ids) if (await isLast(id, env, ctx)) return
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}

/** Those that were due when the run began: who is due again since has had its turn. */
async function* dueIds(env: Env, begun: number): AsyncGenerator<string> {
  const told = new Set<string>()
  for (let ids = await nextPage(env, begun, told); ids.length > 0; ids = await nextPage(env, begun, told))
    for (const id of ids) {
      if (Date.now() - begun >= longEnough) return
      told.add(id)
      yield id
    }
}

const nextPage = async (env: Env, begun: number, told: ReadonlySet<string>): Promise<string[]> => {
  try {
    const due = await getRegistry(env).dueSources(begun, page)
    return due.filter(id => !told.has(id))
  } catch (error) {
    log('error', 'refresh-failed', { error: String(error) })
    return []
  }
}

/** Reads one card again; whether no more can be read in this run. */
const isLast = async (id: string, env: Env, ctx: ExecutionContext): Promise<boolean> => {
  try {
    return (await refreshAgent(id, {}, env, ctx)).outcome === 'spent'
  } catch (error) {
    log('error', 'refresh-failed', { agent: id, error: String(error) })
    return isSubrequestLimitError(String(error))
  }
}
