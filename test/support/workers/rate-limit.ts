import { WorkerEntrypoint } from 'cloudflare:workers'

const counts = new Map<string, number>()

/** A rate limit whose minute never ends: a test does not fail because it ran when a minute turned. */
export class RateLimit extends WorkerEntrypoint<unknown, { name: string; limit: number }> {
  limit({ key }: { key: string }): { success: boolean } {
    const { name, limit } = this.ctx.props
    const count = (counts.get(`${name} ${key}`) ?? 0) + 1
    counts.set(`${name} ${key}`, count)
    return { success: count <= limit }
  }
}
