import { log } from '../http/log.ts'
import { ClockCache } from '../registry/edge/clock-cache.ts'
import type { SourceHealth } from '../registry/kv-format.ts'

/** When this isolate asks again whether an agent's card is to be refreshed, in ms since 1970. */
const next = new ClockCache<{ at: number; size: number }>(256 * 1024)

/** How soon an isolate asks again that was told that somebody else is at it. In ms. */
const soon = 30_000

/**
 * Has a card that was read from its source too long ago read again, behind the back of who is being answered. Each isolate asks
 * once for each time to live: which of all may do it, the Registry says.
 */
export const revalidate = (
  id: string,
  { checked, ttl }: Pick<SourceHealth, 'checked' | 'ttl'>,
  env: Env,
  ctx: ExecutionContext,
): void => {
  const now = Date.now()
  if (now < checked + ttl * 1000 || now < (next.get(id)?.at ?? 0)) return
  ask(id, now + Math.min(soon, ttl * 1000))
  ctx.waitUntil(
    refresh(id, env, ctx).then(
      refreshed => ask(id, refreshed.outcome === 'fresh' ? refreshed.due : Date.now() + soon),
      (error: unknown) => log('error', 'refresh-failed', { agent: id, error: String(error) }),
    ),
  )
}

const refresh = async (id: string, env: Env, ctx: ExecutionContext) =>
  (await import('./refresh.ts')).refreshAgent(id, {}, env, ctx)

const ask = (id: string, at: number): void => next.set(id, { at, size: 100 + 2 * id.length })
