import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { gzipBytes, joinModules, startModules, workerBundle } from '../bundle.ts'
import type { Setting } from '../compare.ts'
import { cardPath, idOf, quickCard } from '../requests.ts'
import {
  cores,
  cpuMilliseconds,
  hostWorker,
  portOf,
  prepareWorkerd,
  register,
  type Server,
  startHost,
  startKv,
  startReporting,
} from '../servers.ts'
import { exact, type Figure, interval, median } from '../stats.ts'

/** Sizes of the host, and its start beside an empty Worker's. */
export const starts = async (setting: Setting): Promise<Figure[]> => {
  const { bundle } = setting
  const whole = await joinModules(bundle)
  return [
    {
      name: 'modules that every start evaluates, gzip',
      unit: 'bytes',
      value: exact(gzipBytes(startModules(bundle))),
      better: 'lower',
    },
    { name: 'modules as uploaded, gzip', unit: 'bytes', value: exact(gzipBytes(bundle.modules)), better: 'lower' },
    ...(await boots(setting, [
      { name: 'start of the host', modules: bundle.modules, better: 'lower' },
      { name: 'start of the host as one module', modules: whole },
    ])),
  ]
}

type Contestant = { name: string; modules: Record<string, string> } & Pick<Figure, 'better'>

/**
 * Measures the time from starting the runtime to the first response, in turn with an empty Worker that has the same flags,
 * bindings and services. The first response is a card, read from KV.
 */
const boots = async ({ bundle, directory, effort }: Setting, contestants: readonly Contestant[]): Promise<Figure[]> => {
  const kv = await startKv(1)
  const storage = directory()
  const registering = await startHost(bundle, kv, storage)
  await register(portOf(registering), idOf(0), quickCard(idOf(0)))
  await registering.stop()
  const empty = { name: 'empty', modules: { 'index.js': await workerBundle('empty') } }
  const runtimes = [empty, ...contestants].map(({ modules }) =>
    prepareWorkerd({
      services: { host: hostWorker({ ...bundle, modules }), kv: { port: portOf(kv) }, disk: { directory: storage } },
      sockets: ['host'],
    }),
  )
  const measured: Boot[][] = runtimes.map(() => [])
  for (const { command } of runtimes) await boot(command)
  for (let round = 0; round < effort.rounds; round++)
    for (const index of round % 2 === 0 ? measured.keys() : [...measured.keys()].reverse())
      measured[index]?.push(await boot(runtimes[index]?.command ?? []))
  for (const { remove } of runtimes) remove()
  await kv.stop()
  const [base = [], ...others] = measured
  return contestants.map(({ name, better }, index) => {
    const own = others[index] ?? []
    const ratios = (kind: keyof Boot) => interval(own.map((boot, round) => boot[kind] / (base[round] ?? boot)[kind]))
    const more = (kind: keyof Boot) =>
      median(own.map((boot, round) => boot[kind] - (base[round] ?? boot)[kind])).toFixed(1)
    return {
      name: `${name}, beside an empty Worker`,
      unit: 'ratio',
      value: ratios('wall'),
      cpu: ratios('cpu'),
      note: `${more('wall')} ms more to the first response than an empty Worker, ${more('cpu')} ms more of CPU time`,
      ...(better && { better }),
    }
  })
}

/** Milliseconds from starting a runtime to its first response, and its CPU time until then. */
type Boot = { wall: number; cpu: number }

const boot = async (command: string[]): Promise<Boot> => {
  const begin = performance.now()
  const server = await startReporting(command, cores.server, 1)
  await firstResponse(server)
  const measured = { wall: performance.now() - begin, cpu: cpuMilliseconds(server.pid) }
  await server.stop()
  return measured
}

const firstResponse = async (server: Server): Promise<void> => {
  const request = get({ host: '127.0.0.1', port: portOf(server), path: cardPath(idOf(0)), agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`first response: ${response.statusCode}`)
  response.resume()
  await once(response, 'end')
}
