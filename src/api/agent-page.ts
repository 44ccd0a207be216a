import { may } from '../auth/permissions.ts'
import type { Bearer } from '../auth/principal.ts'
import type { Listed } from '../registry/store/agents.ts'
import { truth } from '../registry/store/client.ts'
import { type PageQuery, pageOf } from './pagination.ts'

/** A page of agents; there are more after `cursor`. */
export type AgentPage = { agents: Listed[]; cursor?: string }

/**
 * A page for everybody, or for a reader. Where its token is not for all agents (no id is `*`), the internal ones among them are
 * those that the public list has not: then a page may show fewer than were asked for, and there are more while it has a cursor.
 */
export const agentPage = async ({ after, limit }: PageQuery, env: Env, reader?: Bearer): Promise<AgentPage> => {
  const [all, open] = await Promise.all([
    truth(env).list(after, limit + 1, reader !== undefined),
    reader && !may(reader, 'read', '*') ? truth(env).list(after, limit + 1, false) : undefined,
  ])
  const { shown, ...more } = pageOf(all, limit)
  const isPublic = open && new Set(open.map(({ id }) => id))
  return {
    agents: isPublic ? shown.filter(({ id }) => isPublic.has(id) || (reader && may(reader, 'read', id))) : shown,
    ...more,
  }
}
