import { readdirSync, readFileSync } from 'node:fs'

/** Milliseconds of CPU, user and system, that a process and all its threads have used. Linux only; 0 elsewhere. */
export const cpuMilliseconds = (pid: number): number => {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .map(thread => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6)
      .reduce((sum, spent) => sum + spent, 0)
  } catch {
    return 0
  }
}
