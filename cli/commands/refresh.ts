import type { Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import { type Refreshed, refreshOn } from '../host/sources.ts'
import { refreshedText } from '../report/refreshed-text.ts'
import { UsageError } from '../usage-error.ts'
import { fail, type HostFlags, print, withConnection, withHost } from './with-host.ts'

type RefreshFlags = HostFlags & { accept?: string }

/** Adds `refresh`, which has the host read cards from their sources again. */
export const addRefresh = (command: Command): Command => {
  withHost(command.command('refresh'), 'write')
    .description('have the host read cards that come from elsewhere (upstream.card, upstream.mcp) again, now')
    .argument('<ids...>', 'the agents')
    .option('--accept <etag>', 'take the card that is held back, as `refresh` has shown it')
    .action((ids: string[], flags: RefreshFlags) => refresh(ids, flags))
  return command
}

const refresh = (ids: readonly string[], flags: RefreshFlags): Promise<void> => {
  const { accept, json } = flags
  if (accept !== undefined && ids.length !== 1) throw new UsageError('--accept is for one agent: name that one.')
  return withConnection(flags, async connection => {
    const agents: ({ id: string } & (Refreshed | { error: string }))[] = []
    for (const id of ids) {
      const refreshed = await refreshOn(connection, id, accept)
      if ('declined' in refreshed) {
        agents.push({ id, error: refreshed.declined })
        fail(`${id}: ${refreshed.declined}`, exitCodes.refused)
        continue
      }
      agents.push({ id, ...refreshed })
      if (!json) print(refreshedText(id, refreshed, flags.url))
    }
    if (json) print(JSON.stringify({ agents }))
  })
}
