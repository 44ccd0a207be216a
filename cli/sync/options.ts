/** What a synchronisation may do. `wait` is in seconds. */
export type SyncOptions = {
  dryRun: boolean
  check: boolean
  prune: boolean
  force: boolean
  /** Sends what is unchanged too: a host that was upgraded, or moved, makes of the same manifest another card. */
  refresh: boolean
  retries: number
  wait?: number | undefined
  /** Asked before anything is deleted. */
  confirm: (question: string) => Promise<boolean>
}
