import pMap from 'p-map'
import type { Host } from '../host/host.ts'

/** One agent as it is shown. Nobody is served the card of an `internal` one without a token; one that is `awaited` has none yet. */
export type ShownAgent = { id: string; name: string; shown: 'public' | 'internal' | 'awaited' }

/**
 * What there is to show of a host: `root` is the agent of its root card, else the first public one; `hasRootCard` says
 * whether that card is served.
 */
export type Shown = { agents: ShownAgent[]; root?: string; hasRootCard: boolean }

/** Asks a host for all of its agents, and each as everyone does, for its card. */
export const shownAgents = async (host: Host): Promise<Shown> => {
  const served = await pMap(
    await host.list(),
    async ({ id, name = id }) => ({ id, name, ...(await host.served(id)) }),
    { concurrency: 6 },
  )
  const rootEtag = await host.servedEtag()
  const open = served.filter(({ etag }) => etag !== undefined)
  const root = (open.find(({ etag }) => etag === rootEtag) ?? open[0])?.id
  return {
    agents: served.map(({ id, name, etag, isAwaited }) => ({
      id,
      name,
      shown: etag !== undefined ? 'public' : isAwaited ? 'awaited' : 'internal',
    })),
    ...(root !== undefined && { root }),
    hasRootCard: rootEtag !== undefined,
  }
}
