import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** Where this machine lets a process be bound to a core, and has one for the server and one for the load. */
export const canPin = ((): boolean => {
  try {
    execFileSync('taskset', ['-p', String(process.pid)], { stdio: 'ignore' })
    return availableParallelism() >= 2
  } catch {
    return false
  }
})()

/** The cores: servers under test share one, everything that loads or feeds them has the other. */
export const cores = { server: 0, load: 1 } as const

/** A command that runs bound to a core, where that can be had. */
export const pinned = (command: string[], core: number): [command: string, args: string[]] => {
  const [first = '', ...rest] = canPin ? ['taskset', '-c', String(core), ...command] : command
  return [first, rest]
}

/** Binds this process, all its threads, to a core. */
export const pinSelf = (core: number): void => {
  if (canPin) execFileSync('taskset', ['-a', '-c', '-p', String(core), String(process.pid)], { stdio: 'ignore' })
}
