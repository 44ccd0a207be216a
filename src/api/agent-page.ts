import { hasPermission } from '../auth/permissions.ts'
import type { Principal } from '../auth/principal.ts'
import type { Listed } from '../registry/store/agents.ts'
import { getRegistry } from '../registry/store/client.ts'
import { type PageQuery, paginate } from './pagination.ts'

/** A page of agents; there are more after `cursor`. */
export type AgentPage = { agents: Listed[]; cursor?: string }

/**
 * A page for everybody, or for a reader. Where its token is not for all agents (no id is `*`), the internal ones among them are
 * those that the public list has not: then a page may show fewer than were asked for, and there are more while it has a cursor.
 */
export const listVisibleAgents = async (
  { after, limit }: PageQuery,
  env: Env,
  reader?: Principal,
): Promise<AgentPage> => {
  const [all, open] = await Promise.all([
    getRegistry(env).list(after, limit + 1, reader !== undefined),
    reader && !hasPermission(reader, 'read', '*') ? getRegistry(env).list(after, limit + 1, false) : undefined,
  ])
  const { shown, ...more } = paginate(all, limit)
  const isPublic = open && new Set(open.map(({ id }) => id))
  return {
    agents: isPublic
      ? shown.filter(({ id }) => isPublic.has(id) || (reader && hasPermission(reader, 'read', id)))
      : shown,
    ...more,
  }
}
