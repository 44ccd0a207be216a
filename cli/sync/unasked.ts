import type { SyncOptions } from './options.ts'

/** How cards are brought to a host that nobody is asked about: all that is there is sent anew, and nothing is removed. */
export const unasked = {
  dryRun: false,
  check: false,
  prune: false,
  force: false,
  refresh: true,
  retries: 4,
  confirm: async () => false,
} as const satisfies SyncOptions
