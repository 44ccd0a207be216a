import { readFileSync } from 'node:fs'
import { callBody } from './call-requests.ts'
import { exact, type Figure, judged } from './figure.ts'
import type { Server } from './server.ts'

const megabyte = 1024 * 1024

/** What the host's process grows by while 100 MB of events go through it to a reader that takes its time. */
export const flood = async (host: Server, url: string): Promise<Figure> => {
  const before = residentBytes(host.pid)
  let most = before
  let bytes = 0
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0', Accept: 'text/event-stream' },
    body: callBody('SendStreamingMessage', 'flood'),
  })
  let chunks = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (++chunks % 64 === 0) most = Math.max(most, residentBytes(host.pid))
  }
  if (bytes < 100 * megabyte) throw new Error(`the stream ended after ${bytes} bytes`)
  return judged({
    name: '100 MB streamed: growth of the host',
    unit: 'bytes',
    value: exact(Math.max(most, residentBytes(host.pid)) - before),
    bound: { most: 64 * megabyte },
  })
}

const residentBytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
