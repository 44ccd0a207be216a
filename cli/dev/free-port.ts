import { once } from 'node:events'
import { createServer } from 'node:net'

/** Whether nobody listens on a port of this machine yet. */
export const isPortFree = async (port: number): Promise<boolean> => {
  const server = createServer()
  server.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
