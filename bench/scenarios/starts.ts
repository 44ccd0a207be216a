import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { gzipBytes, joinModules, startModules, workerBundle } from '../bundle.ts'
import type { Setting } from '../compare.ts'
import { cardPath, idOf, quickCard } from '../requests.ts'
import {
  cores,
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
  const times: number[][] = runtimes.map(() => [])
  for (const { command } of runtimes) await bootMilliseconds(command)
  for (let round = 0; round < effort.rounds; round++)
    for (const index of round % 2 === 0 ? times.keys() : [...times.keys()].reverse())
      times[index]?.push(await bootMilliseconds(runtimes[index]?.command ?? []))
  for (const { remove } of runtimes) remove()
  await kv.stop()
  const [base = [], ...others] = times
  return contestants.map(({ name, better }, index) => {
    const own = others[index] ?? []
    const more = median(own.map((time, round) => time - (base[round] ?? 0)))
    return {
      name: `${name}, beside an empty Worker`,
      unit: 'ratio',
      value: interval(own.map((time, round) => time / (base[round] ?? time))),
      note: `${median(own).toFixed(1)} ms to the first response, ${more.toFixed(1)} ms more than an empty Worker`,
      ...(better && { better }),
    }
  })
}

const bootMilliseconds = async (command: string[]): Promise<number> => {
  const begin = performance.now()
  const server = await startReporting(command, cores.server, 1)
  await firstResponse(server)
  const taken = performance.now() - begin
  await server.stop()
  return taken
}

const firstResponse = async (server: Server): Promise<void> => {
  const request = get({ host: '127.0.0.1', port: portOf(server), path: cardPath(idOf(0)), agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`first response: ${response.statusCode}`)
  response.resume()
  await once(response, 'end')
}
