import { log } from '../http/start.ts'
import { ClockCache, cacheHealth } from '../registry/edge/start.ts'
import { lazyObject, type RpcClient, type SourceHealth } from '../registry/start.ts'
import type { RefreshOptions, RefreshReport } from './refresh-card.ts'

/** Refreshes the remote card of one agent; its name is the agent's id. Its alarm fires when the card is due. */
export class RemoteCard extends lazyObject(
  (ctx: DurableObjectState, env: Env) =>
    import('./refresh-card.ts').then(({ createRefreshQueue }) => createRefreshQueue(ctx, env)),
  ['schedule', 'refresh', 'alarm'],
) {}

/** The pause of an isolate before it requests another refresh of the same card. */
const RETRY_MS = 30_000
const CACHE_BYTES = 256 * 1024

const nextTimes = new ClockCache<{ at: number; size: number }>(CACHE_BYTES)

/** Requests a refresh from the RemoteCard object of an agent, and makes the result visible in this isolate at once. */
export const requestRefresh = async (id: string, options: RefreshOptions, env: Env): Promise<RefreshReport> => {
  const object = env.REMOTE_CARDS.getByName(id) as unknown as RpcClient<RemoteCard>
  const report = await object.refresh(id, options)
  const { written, state } = report
  if (written) {
    // Loaded on first use, because most isolates serve no card that is due.
    const { cacheRegistered } = await import('../registry/edge/write-through.ts')
    cacheRegistered(written.registration, written.registered)
  } else if (state) cacheHealth(id, state.seq, state.publishedHealth)
  return report
}

/** Requests a refresh of a card that is older than its `ttl`, in the background. The object decides if it is due. */
export const revalidate = (
  id: string,
  { checked, ttl }: Pick<SourceHealth, 'checked' | 'ttl'>,
  env: Env,
  ctx: ExecutionContext,
): void => {
  const now = Date.now()
  if (now < checked + ttl * 1000 || now < (nextTimes.get(id)?.at ?? 0)) return
  setNextTime(id, now + Math.min(RETRY_MS, ttl * 1000))
  ctx.waitUntil(
    requestRefresh(id, {}, env).then(
      ({ result }) => setNextTime(id, result.outcome === 'not-due' ? result.due : Date.now() + RETRY_MS),
      (error: unknown) => log('error', 'refresh-failed', { 'gen_ai.agent.id': id, 'exception.message': String(error) }),
    ),
  )
}

const setNextTime = (id: string, at: number): void => nextTimes.set(id, { at, size: 100 + 2 * id.length })
