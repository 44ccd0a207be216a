import pMap from 'p-map'
import type { Host } from '../host/host.ts'

/** One agent as it is shown. `internal`: nobody is served its card without a token. */
export type ShownAgent = { id: string; name: string; internal: boolean }

/**
 * What there is to show of a host: `root` is the agent of its root card, else the first public one; `hasRootCard` says
 * whether that card is served.
 */
export type Shown = { agents: ShownAgent[]; root?: string; hasRootCard: boolean }

/** Asks a host for all of its agents, and each as everyone does, for its card. */
export const shownAgents = async (host: Host): Promise<Shown> => {
  const served = await pMap(
    await host.list(),
    async ({ id, name = id }) => ({ id, name, etag: await host.servedEtag(id) }),
    { concurrency: 6 },
  )
  const rootEtag = await host.servedEtag()
  const open = served.filter(({ etag }) => etag !== undefined)
  const root = (open.find(({ etag }) => etag === rootEtag) ?? open[0])?.id
  return {
    agents: served.map(({ id, name, etag }) => ({ id, name, internal: etag === undefined })),
    ...(root !== undefined && { root }),
    hasRootCard: rootEtag !== undefined,
  }
}
