import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startUpstream } from '../../test/support/upstream.ts'
import { type Comparison, compareEdge, countLostRevisions } from './compare.ts'
import { SoakHost } from './host.ts'
import { createRandom, Workload } from './workload.ts'

const USAGE = `Usage: npm run soak -- [--seconds 60] [--kills 20] [--seed 1]

Kills the host at random times while clients write agents, tokens and remote cards. Then compares what the host acknowledged with
the Registry, and the Registry with KV. Exits with 1 if an acknowledged write is lost, or if KV still differs after a minute.`

const WRITERS = 6
const SETTLE_SECONDS = 60

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    kills: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    help: { type: 'boolean', default: false },
  },
})
const [seconds, kills, seed] = [options.seconds, options.kills, options.seed].map(Number) as [number, number, number]
if (options.help || ![seconds, kills, seed].every(value => Number.isInteger(value) && value >= 0)) {
  console.error(USAGE)
  process.exit(options.help ? 0 : 2)
}

const directory = mkdtempSync(join(tmpdir(), 'calling-card-soak-'))
// The exit handler kills the servers; it does not run where a signal ends the process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
process.once('exit', () => rmSync(directory, { recursive: true, force: true }))

const upstream = await startUpstream()
const host = await SoakHost.start(directory, upstream.origin)
const workload = new Workload(host, upstream)
await workload.prepare()
console.error(`Seed ${seed}: ${kills} kills in ${seconds} s, ${WRITERS} clients`)

const end = performance.now() + seconds * 1000
const write = async (writer: number): Promise<void> => {
  const random = createRandom(seed + writer)
  while (performance.now() < end) await workload.write(random)
}
const kill = async (): Promise<void> => {
  const random = createRandom(seed - 1)
  const milliseconds = seconds * 1000
  const times = Array.from({ length: Math.max(0, kills - 1) }, () => random.below(milliseconds))
  // The last one cuts off the last writes, so that nothing but the outbox can publish what they left.
  if (kills > 0) times.push(milliseconds - 20)
  times.sort((left, right) => left - right)
  const start = performance.now()
  for (const time of times) {
    await sleep(Math.max(0, start + time - performance.now()))
    await host.kill()
  }
}
await Promise.all([kill(), ...Array.from({ length: WRITERS }, (_, writer) => write(writer))])

const { comparison, settled } = await settle()
const lost = await countLost(comparison)
const { acknowledged, unanswered, published, stale } = workload
const { keys, differences } = comparison
console.log(`writes     ${acknowledged} acknowledged, ${lost} lost, ${unanswered} without an answer
published  ${published} reported, ${stale} of them not in KV
edge       ${keys} keys, ${differences.length} that differ from the Registry, after ${settled.toFixed(1)} s`)
for (const key of differences) console.log(`differs    ${key}`)
await Promise.all([host.stop(), upstream.close()])
process.exit(lost > 0 || stale > 0 || differences.length > 0 ? 1 : 0)

/** Refreshes every remote card, and compares until KV has what the Registry has. */
async function settle(): Promise<{ comparison: Comparison; settled: number }> {
  for (const id of workload.remoteIds) await host.send('POST', `/agents/${id}/refresh`)
  const start = performance.now()
  for (;;) {
    const comparison = await compareEdge(host, workload)
    const settled = (performance.now() - start) / 1000
    if (comparison.differences.length === 0 || settled > SETTLE_SECONDS) return { comparison, settled }
    await sleep(250)
  }
}

/** Counts the acknowledged writes that the Registry does not have. */
async function countLost({ versions, tokens }: Comparison): Promise<number> {
  let lost = 0
  for (const id of [...workload.agents.keys(), ...workload.remoteIds]) {
    const revisions = workload.revisions.get(id) ?? []
    const inRevisions = await countLostRevisions(host, id, revisions, workload.remoteIds.includes(id))
    // Both may see the same write; only the history sees a removal.
    lost += Math.max(inRevisions, workload.agents.get(id)?.countLost(versions.get(id)) ?? 0)
  }
  for (const [id, { history }] of workload.tokens) lost += history.countLost(tokens.has(id) ? 'issued' : undefined)
  return lost
}
