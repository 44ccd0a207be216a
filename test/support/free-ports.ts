import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** Finds different ports of this machine at which nothing listens. */
export const findFreePorts = async (count: number): Promise<number[]> => {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map(server => once(server, 'listening')))
  const ports = servers.map(server => (server.address() as AddressInfo).port)
  await Promise.all(servers.map(server => new Promise(closed => server.close(closed))))
  return ports
}

export const findFreePort = async (): Promise<number> => (await findFreePorts(1))[0] ?? 0
