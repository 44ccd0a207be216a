import type { Source } from '../card/manifest/source.ts'
import type { Validators } from '../registry/validators.ts'
import { fetchMcpCard } from './fetch.ts'
import type { FetchResult } from './fetched.ts'
import { fetchUpstreamCard } from './upstream-card.ts'

/**
 * Asks the source of an agent's card for it; `known` stands for the card that was had last, `ownOrigins` for this host. Never
 * rejects.
 */
export const fetchSource = (
  source: Source,
  id: string,
  known: Validators | undefined,
  env: Env,
  ownOrigins: readonly string[],
): Promise<FetchResult> =>
  source.kind === 'mcp' ? fetchMcpCard(source, id, env) : fetchUpstreamCard(source, known, env, ownOrigins)
