/** How often is looked whether the parent is still there, in milliseconds. */
const interval = 500

/**
 * Calls `end` once the npm that started this process is gone: a killed npm tells nobody, and a host left behind keeps the
 * port. A process that no npm started may outlive its parent, as under nohup.
 */
export const whenOrphaned = (end: () => void, environment: NodeJS.ProcessEnv = process.env): void => {
  if (environment.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    end()
  }, interval)
  timer.unref()
}
