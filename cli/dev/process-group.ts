import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

/** How long processes may take to end by themselves, in milliseconds. */
const patience = 5000

/**
 * Ends a child that was spawned `detached`, and whatever it started: wrangler runs workerd, and a runtime left behind would
 * keep the port. Waits until the child is gone.
 */
export const endGroup = async (child: ChildProcess): Promise<void> => {
  if (child.pid === undefined) return
  const ended = child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : once(child, 'exit')
  signalGroup(child.pid, 'SIGTERM')
  await Promise.race([ended, sleep(patience, undefined, { ref: false })])
  signalGroup(child.pid, 'SIGKILL')
  await ended
}

/** Ends a group at once; for the moment when this process itself ends, and can wait for nothing. */
export const killGroup = (child: ChildProcess): void => {
  if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL')
}

const signalGroup = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-pid, signal)
  } catch {
    // The whole group is gone already.
  }
}
