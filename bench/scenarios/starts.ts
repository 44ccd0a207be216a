import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { gzipBytes, type HostBundle, joinModules, startModules, workerBundle } from '../bundle.ts'
import type { Setting } from '../compare.ts'
import { cardPath, idOf, quickCard } from '../requests.ts'
import {
  cores,
  cpuMilliseconds,
  hostRuntime,
  portOf,
  prepareWorkerd,
  register,
  type Server,
  startKv,
  startReporting,
  startWorkerd,
} from '../servers.ts'
import { BESIDE_OTHER, column, exact, type Figure, IN_OTHER, median, ratios } from '../stats.ts'

/** Sizes of the host, and its start beside an empty Worker's. */
export const starts = async (setting: Setting): Promise<Figure[]> => {
  const { bundle, other } = setting
  const whole = { ...bundle, modules: await joinModules(bundle) }
  return [
    {
      name: 'modules that every start evaluates, gzip',
      unit: 'bytes',
      value: exact(gzipBytes(startModules(bundle))),
      better: 'lower',
    },
    { name: 'modules as uploaded, gzip', unit: 'bytes', value: exact(gzipBytes(bundle.modules)), better: 'lower' },
    ...(await boots(setting, [
      { name: 'start of the host', bundle, better: 'lower' },
      { name: 'start of the host as one module', bundle: whole },
      ...(other ? [{ name: `start of the host${IN_OTHER}`, bundle: other }] : []),
    ])),
  ]
}

type Contestant = { name: string; bundle: HostBundle } & Pick<Figure, 'better'>

/**
 * Measures the time from starting the runtime to the first response, in turn with an empty Worker that has the same flags,
 * bindings and services. The first response is a card, read from KV.
 */
const boots = async ({ bundle, directory, effort }: Setting, contestants: readonly Contestant[]): Promise<Figure[]> => {
  const empty = { ...bundle, modules: { 'index.js': await workerBundle('empty') } }
  const runtimes = []
  for (const each of [empty, ...contestants.map(({ bundle }) => bundle)])
    runtimes.push({ ...(await prepareStart(each, directory())), boots: [] as Boot[] })
  for (const { command } of runtimes) await boot(command)
  for (let round = 0; round < effort.rounds; round++)
    for (const { command, boots } of round % 2 === 0 ? runtimes : runtimes.toReversed()) boots.push(await boot(command))
  for (const { remove, kv } of runtimes) {
    remove()
    await kv.stop()
  }
  const [base = [], ...others] = runtimes.map(({ boots }) => boots)
  const figures = contestants.map(({ name, better }, index) => ({
    ...compareBoots(`${name}, beside an empty Worker`, 'an empty Worker', others[index] ?? [], base),
    ...(better && { better }),
  }))
  const [own = [], , other] = others
  return other ? [...figures, compareBoots(`start of the host${BESIDE_OTHER}`, 'the other build', own, other)] : figures
}

/** Registers an agent at a host. Returns how to start this host. */
const prepareStart = async (bundle: HostBundle, storage: string) => {
  const kv = await startKv(1)
  const runtime = hostRuntime(bundle, kv, storage)
  const registering = await startWorkerd(runtime)
  await register(portOf(registering), idOf(0), quickCard(idOf(0)))
  await registering.stop()
  return { ...prepareWorkerd(runtime), kv }
}

const compareBoots = (name: string, baseName: string, own: readonly Boot[], base: readonly Boot[]): Figure => {
  const more = (kind: keyof Boot) =>
    median(own.map((boot, round) => boot[kind] - (base[round] ?? boot)[kind])).toFixed(1)
  return {
    ...{ name, unit: 'ratio' },
    value: ratios(column(own, 'wall'), column(base, 'wall')),
    cpu: ratios(column(own, 'cpu'), column(base, 'cpu')),
    note: `${more('wall')} ms more to the first response than ${baseName}, ${more('cpu')} ms more of CPU time`,
  }
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
