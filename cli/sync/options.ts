/** What a synchronisation may do. `wait` is in seconds. */
export type SyncOptions = {
  dryRun: boolean
  check: boolean
  prune: boolean
  force: boolean
  retries: number
  wait?: number | undefined
  /** Asked before anything is deleted. */
  confirm: (question: string) => Promise<boolean>
}
