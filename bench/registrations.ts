import type { Setting } from './card-reads.ts'
import { cardOfSize } from './cards.ts'
import { cpuMilliseconds } from './cpu-time.ts'
import { type Figure, judged } from './figure.ts'
import { adminToken, startHost, startKv } from './host.ts'
import { interval } from './interval.ts'
import { startRival } from './rivals.ts'
import type { Server } from './server.ts'

const sizes = [
  { name: 'PUT of a 2 KB card', bytes: 2_000, most: 5 },
  { name: 'PUT of a 200 KB card', bytes: 200_000, most: 30 },
]
const batch = 10

/** The CPU time of a registration, all threads of the host's process together; beside it, that of taking in its body. */
export const registrations = async ({ bundle, directory, effort }: Setting): Promise<Figure[]> => {
  const kv = await startKv(0)
  const host = await startHost(bundle, kv.ports.kv ?? 0, directory())
  const sink = await startRival('sink')
  const figures: Figure[] = []
  for (const { name, bytes, most } of sizes) {
    const batches = Math.max(5, Math.round(effort.rounds / 4))
    const spent = interval(await batchesOfPuts(host, bytes, batches))
    const taken = interval(await batchesOfPuts(sink, bytes, batches)).median
    const note = `of it ${taken.toFixed(2)} ms are what a Worker pays that reads the body and does nothing`
    figures.push(judged({ name, unit: 'ms', value: spent, bound: { most }, note }))
  }
  await Promise.all([host.stop(), kv.stop(), sink.stop()])
  return figures
}

/** Milliseconds a PUT, for each batch; the first two warm up. No two bodies are the same, so that each is a new revision. */
const batchesOfPuts = async (server: Server, bytes: number, batches: number): Promise<number[]> => {
  const spent: number[] = []
  for (let index = 0; index < batches + 2; index++) {
    const bodies = Array.from({ length: batch }, (_, each) => JSON.stringify(cardOfSize(bytes, `1.${index}.${each}`)))
    const before = cpuMilliseconds(server.pid)
    for (const body of bodies) await put(Object.values(server.ports)[0] ?? 0, body)
    spent.push((cpuMilliseconds(server.pid) - before) / batch)
  }
  return spent.slice(2)
}

const put = async (port: number, body: string): Promise<void> => {
  const response = await fetch(`http://127.0.0.1:${port}/agents/weather`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/json' },
    body,
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`PUT: ${response.status} ${text}`)
}
