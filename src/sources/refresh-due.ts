import { log } from '../http/log.ts'
import { truth } from '../registry/truth.ts'
import { refreshAgent } from './refresh.ts'

/** How many cards one run of the scheduled job reads, and how many at a time. */
const most = 40
const atOnce = 4

/** Reads the cards again that have been due longest: one that fails keeps nobody from the rest. */
export const refreshDue = async (env: Env, ctx: ExecutionContext): Promise<void> => {
  const due = await truth(env).dueSources(most)
  const work = async (): Promise<void> => {
    for (let id = due.shift(); id !== undefined; id = due.shift())
      await refreshAgent(id, {}, env, ctx).catch((error: unknown) =>
        log('error', 'refresh-failed', { agent: id, error: String(error) }),
      )
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}
