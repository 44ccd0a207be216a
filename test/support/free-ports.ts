import { once } from 'node:events'
import { createServer } from 'node:net'

/** The system itself gives out ports from 32768, or higher: one below stays free until the process uses it. */
const FIRST_PORT = 10_000
const PORTS_PER_PROCESS = 4000

/** The next port of this process. Processes of one run have ranges of their own, and two runs begin at random ports. */
let next = FIRST_PORT + Number(process.env.VITEST_POOL_ID ?? 0) * PORTS_PER_PROCESS + Math.floor(Math.random() * 2000)

/** Finds different ports of this machine at which nothing listens, and which no other process of the run finds. */
export const findFreePorts = async (count: number): Promise<number[]> => {
  const ports: number[] = []
  while (ports.length < count) {
    const port = next++
    if (await isFree(port)) ports.push(port)
  }
  return ports
}

export const findFreePort = async (): Promise<number> => (await findFreePorts(1))[0] ?? 0

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    await new Promise(closed => server.close(closed))
  }
}
