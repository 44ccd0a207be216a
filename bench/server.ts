import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { cores, pinned } from './pinning.ts'
import { type Runtime, workerdConfig } from './workerd-config.ts'

/** A server that runs, and the ports that its sockets got. */
export type Server = { pid: number; ports: Record<string, number>; stop: () => Promise<void> }

/** The binary itself, as its package names it: what npm links as `workerd` may be a Node script that starts it. */
const { default: workerd } = createRequire(import.meta.url)('workerd') as { default: string }

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a bare workerd and waits until all its sockets listen. */
export const startWorkerd = async (runtime: Runtime, core: number = cores.server): Promise<Server> => {
  const directory = mkdtempSync(join(tmpdir(), 'calling-card-bench-'))
  const config = join(directory, 'config.capnp')
  writeFileSync(config, workerdConfig(runtime))
  const command = [workerd, 'serve', '--experimental', '--control-fd=3', config]
  const server = await start(command, core, runtime.sockets.length)
  return {
    ...server,
    stop: async () => {
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Starts a Node server that tells its port as workerd does, as a line of JSON on descriptor 3. */
export const startNode = (file: string, args: string[], core: number = cores.server): Promise<Server> =>
  start([process.execPath, file, ...args], core, 1)

const start = async (command: string[], core: number, sockets: number): Promise<Server> => {
  // A host's log of calls is written, and goes nowhere: the platform takes it in, not the machine's terminal.
  const child = spawn(...pinned(command, core), { stdio: ['ignore', 'ignore', 'inherit', 'pipe'] })
  running.add(child)
  const gone = once(child, 'exit').then(() => running.delete(child))
  const ports = await listening(child.stdio[3] as Readable, sockets)
  return {
    pid: child.pid ?? 0,
    ports,
    stop: async () => {
      child.kill()
      await gone
    },
  }
}

const listening = async (messages: Readable, sockets: number): Promise<Record<string, number>> => {
  const ports: Record<string, number> = {}
  for await (const line of createInterface(messages)) {
    const message = JSON.parse(line) as { event: string; socket: string; port: number }
    if (message.event === 'listen') ports[message.socket] = message.port
    if (Object.keys(ports).length === sockets) return ports
  }
  throw new Error('a server ended before it listened')
}
