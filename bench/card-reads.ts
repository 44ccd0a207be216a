import { everyCard, idOf, pathOf, sameCard, zipfCards } from './card-requests.ts'
import { quickCard } from './cards.ts'
import { compare, type Effort } from './comparison.ts'
import type { Figure } from './figure.ts'
import { register, startHost, startKv } from './host.ts'
import { Load } from './load.ts'
import { type Answer, answerOf, startConstants, startExpress, startRival } from './rivals.ts'
import type { Server } from './server.ts'

/** What every comparison of reads needs: the bundle, and a fresh directory for each Registry. */
export type Setting = { bundle: string; directory: () => string; effort: Effort }

const least = 0.9
const leastNotModified = 1.1

/** One warm agent: the host's 200 and 304 beside the constant Worker, with a second constant Worker as control. */
export const oneAgent = (setting: Setting): Promise<Figure[]> =>
  withHost(setting, 1, async (host, answer) => {
    const [constant, control] = [await startRival('constant', answer), await startRival('constant', answer)]
    const requests = sameCard(idOf(0))
    const figures = await compare(
      { name: 'constant Worker', server: constant, requests },
      [
        { name: 'A/A control: constant Worker again', server: control, requests },
        { name: 'host, 1 id', server: host, requests, bound: { least } },
        {
          name: 'host, 304',
          server: host,
          requests: sameCard(idOf(0), answer.headers.etag),
          bound: { least: leastNotModified },
        },
      ],
      setting.effort,
    )
    await Promise.all([constant.stop(), control.stop()])
    return figures
  })

/** What one would write instead of a host. */
export const rivals = (setting: Setting): Promise<Figure[]> =>
  withHost(setting, 1, async (_, answer) => {
    const servers = [
      await startRival('constant', answer),
      await startRival('itty', answer),
      await startExpress(answer),
    ] as const
    const [constant, itty, express] = servers
    const requests = sameCard(idOf(0))
    const [, ...figures] = await compare(
      { name: 'constant Worker', server: constant, requests },
      [
        { name: 'itty AutoRouter + cors() Worker', server: itty, requests },
        { name: "SDK's agentCardHandler, Express on Node", server: express, requests },
      ],
      setting.effort,
    )
    await Promise.all(servers.map(server => server.stop()))
    return figures
  })

/** What an isolate of the host may spend on cards. */
const memoryBytes = 32 * 1024 * 1024

/**
 * Many agents, drawn by Zipf's law: `sweep` of them are asked for once before, the most popular last. The baseline holds all
 * cards; beside the host stands what a Worker of the host's memory makes of it, with nothing to keep in it but bodies: what
 * does not fit, it reads from KV as the host must.
 */
export const manyAgents = (
  setting: Setting,
  { agents, sweep, settle }: { agents: number; sweep: number; settle: number },
): Promise<Figure[]> =>
  withHost(setting, agents, async (host, answer, kv) => {
    const bounded = await startConstants(answer, agents, kv, memoryBytes)
    const all = await startConstants(answer, agents, kv)
    const ids = `${agents.toLocaleString('en')} ids`
    const every = await Load.open(port(host), everyCard(sweep))
    await every.requests(sweep)
    every.close()
    const settling = await Load.open(port(host), zipfCards(agents, 1))
    await settling.run(settle)
    settling.close()
    const reads = await readCount(kv)
    const [, ...figures] = await compare(
      { name: 'constant Worker of all cards', server: all, requests: zipfCards(agents, 2) },
      [
        { name: `constant Worker, 32 MB of cards, ${ids}`, server: bounded, requests: zipfCards(agents, 4) },
        { name: `host, ${ids}`, server: host, requests: zipfCards(agents, 3), bound: { least } },
      ],
      setting.effort,
    )
    const [, ...besideBounded] = await compare(
      { name: 'constant Worker, 32 MB of cards', server: bounded, requests: zipfCards(agents, 5) },
      [
        {
          name: `host, beside 32 MB of cards, ${ids}`,
          server: host,
          requests: zipfCards(agents, 6),
          bound: { least },
        },
      ],
      { ...setting.effort, rounds: Math.ceil(setting.effort.rounds / 2) },
    )
    await Promise.all([bounded.stop(), all.stop()])
    const note = `${(await readCount(kv)) - reads} reads of KV by the host and the constant Worker of 32 MB`
    return [...figures.map((figure, index) => (index === 1 ? { ...figure, note } : figure)), ...besideBounded]
  })

const port = (server: Server): number => Object.values(server.ports)[0] ?? 0

const readCount = async (kv: Server): Promise<number> => {
  const counts = (await (await fetch(`http://127.0.0.1:${port(kv)}/counts`)).json()) as { get: number }
  return counts.get
}

const withHost = async (
  { bundle, directory }: Setting,
  agents: number,
  measure: (host: Server, answer: Answer, kv: Server) => Promise<Figure[]>,
): Promise<Figure[]> => {
  const kv = await startKv(agents)
  const host = await startHost(bundle, port(kv), directory())
  await register(port(host), idOf(0), quickCard(idOf(0)))
  const answer = await answerOf(`http://127.0.0.1:${port(host)}${pathOf(idOf(0))}`)
  const figures = await measure(host, answer, kv)
  await Promise.all([host.stop(), kv.stop()])
  return figures
}
