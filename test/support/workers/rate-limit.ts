import { WorkerEntrypoint } from 'cloudflare:workers'

const counts = new Map<string, number>()

/** Clients of this block (RFC 2544) exceed every limit with their third request. */
const LIMITED_BLOCK = '198.19.'

/** A rate limit whose minute never ends: a test does not fail because it ran when a minute turned. */
export class RateLimit extends WorkerEntrypoint<unknown, { name: string; limit: number }> {
  limit({ key }: { key: string }): { success: boolean } {
    const { name, limit } = this.ctx.props
    const count = (counts.get(`${name} ${key}`) ?? 0) + 1
    counts.set(`${name} ${key}`, count)
    return { success: count <= (key.startsWith(LIMITED_BLOCK) ? 2 : limit) }
  }
}
