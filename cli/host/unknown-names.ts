import { readManifest } from '../../src/card/manifest/manifest.ts'
import { agentIdPattern, baseTier } from '../../src/card/model/constants.ts'

import type { Host } from './host.ts'

/** The most agents that are asked for; a host takes no more in one token. */
const most = 20

/** What a token is to be for that the host does not have, in words: most likely mistyped. Tiers, where all its agents are known. */
export const unknownNames = async (
  host: Pick<Host, 'registered'>,
  { agents = [], tiers = [] }: { agents?: readonly string[] | undefined; tiers?: readonly string[] | undefined },
): Promise<string[]> => {
  const ids = agents.filter(id => agentIdPattern.test(id)).slice(0, most)
  const found = await Promise.all(ids.map(id => host.registered(id)))
  const unknown = ids.filter((_, index) => found[index] === undefined)
  const tiersThere = found.flatMap(agent => {
    const read = agent && 'manifest' in agent ? readManifest(agent.manifest) : { errors: [] }
    return 'manifest' in read ? [Object.keys(read.manifest.tiers ?? {})] : []
  })
  const isWhole = agents.length > 0 && tiersThere.length === agents.length
  const names = ['*', baseTier, ...tiersThere.flat()]
  return [
    ...unknown.map(id => `There is no agent "${id}" on this host yet`),
    ...(isWhole
      ? tiers.filter(tier => !names.includes(tier)).map(tier => `None of its agents has a tier "${tier}" yet`)
      : []),
  ]
}
