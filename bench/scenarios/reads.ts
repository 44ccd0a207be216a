import { compare, type Setting, warmUp } from '../compare.ts'
import { Load } from '../load.ts'
import { cardPath, everyCard, idOf, quickCard, sameCard, zipfCards } from '../requests.ts'
import {
  type Answer,
  answerBindings,
  buildsOf,
  fetchAnswer,
  type Host,
  originOf,
  portOf,
  registerAt,
  type Server,
  startConstants,
  startExpress,
  startHost,
  startWorker,
} from '../servers.ts'
import type { Figure } from '../stats.ts'

/** One agent in memory: the host's 200 and 304 beside the constant Worker, with a second constant Worker as control. */
export const oneAgent = (setting: Setting): Promise<Figure[]> =>
  withHost(setting, 1, async (host, answer) => {
    const constant = await startWorker('constant', answerBindings(answer))
    const control = await startWorker('constant', answerBindings(answer))
    const requests = sameCard(idOf(0))
    const other = host.other ? await fetchCard(host.other) : answer
    const conditional = {
      requests: sameCard(idOf(0), answer.headers.etag),
      otherRequests: sameCard(idOf(0), other.headers.etag),
    }
    const figures = await compare(
      { name: 'constant Worker', server: constant, requests },
      [
        { name: 'A/A control: constant Worker again', server: control, requests },
        { name: 'host, 1 id', server: host, requests, better: 'higher' },
        { name: 'host, 304', server: host, ...conditional, better: 'higher' },
      ],
      setting.effort,
    )
    await Promise.all([constant.stop(), control.stop()])
    return figures
  })

/** One agent: the servers that could be written instead of a host. */
export const alternatives = (setting: Setting): Promise<Figure[]> =>
  withHost(setting, 1, async (_, answer) => {
    const constant = await startWorker('constant', answerBindings(answer))
    const itty = await startWorker('itty', answerBindings(answer))
    const express = await startExpress(answer)
    const requests = sameCard(idOf(0))
    const [, ...figures] = await compare(
      { name: 'constant Worker', server: constant, requests },
      [
        { name: 'itty AutoRouter + cors() Worker', server: itty, requests },
        { name: "SDK's agentCardHandler, Express on Node", server: express, requests },
      ],
      setting.effort,
    )
    await Promise.all([constant, itty, express].map(server => server.stop()))
    return figures
  })

/** The memory that an isolate of the host spends on cards. */
const MEMORY_BYTES = 32 * 1024 * 1024

/** How many agents there are, how many of them are requested once before measuring, and the milliseconds of load after that. */
export type Population = { agents: number; sweep: number; settle: number }

/**
 * Many agents, drawn by Zipf's law. The baseline has all cards in memory. The bounded Worker has the host's memory, filled with
 * the most popular cards only, and reads the others from KV as the host must.
 */
export const manyAgents = (setting: Setting, { agents, sweep, settle }: Population): Promise<Figure[]> =>
  withHost(setting, agents, async (host, answer) => {
    const { kv } = host
    const bounded = await startConstants(answer, agents, kv, MEMORY_BYTES)
    const all = await startConstants(answer, agents, kv)
    await fillCaches(host, { agents, sweep, settle })
    const ids = `${agents.toLocaleString('en')} ids`
    const before = await readCount(kv)
    const [, ofBounded, ofHost, ...besideOther] = await compare(
      { name: 'constant Worker of all cards', server: all, requests: zipfCards(agents, 2) },
      [
        { name: `constant Worker, 32 MB of cards, ${ids}`, server: bounded, requests: zipfCards(agents, 4) },
        { name: `host, ${ids}`, server: host, requests: zipfCards(agents, 3), better: 'higher' },
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
          better: 'higher',
        },
      ],
      { ...setting.effort, rounds: Math.ceil(setting.effort.rounds / 2) },
    )
    await Promise.all([bounded.stop(), all.stop()])
    const note = `${(await readCount(kv)) - before} reads of KV by the host and the constant Worker of 32 MB`
    return [ofBounded, ofHost && { ...ofHost, note }, ...besideBounded, ...besideOther].filter(
      figure => figure !== undefined,
    )
  })

const fillCaches = async (host: Host, { agents, sweep, settle }: Population): Promise<void> => {
  for (const build of buildsOf(host)) {
    const every = await Load.open(portOf(build), everyCard(sweep))
    await every.requests(sweep)
    every.close()
  }
  await warmUp(host, zipfCards(agents, 1), settle)
}

const readCount = async (kv: Server): Promise<number> => {
  const counts = (await (await fetch(`${originOf(kv)}/counts`)).json()) as { get: number }
  return counts.get
}

const withHost = async (
  setting: Setting,
  agents: number,
  measure: (host: Host, answer: Answer) => Promise<Figure[]>,
): Promise<Figure[]> => {
  const host = await startHost(setting, { agents })
  await registerAt(host, idOf(0), quickCard(idOf(0)))
  const figures = await measure(host, await fetchCard(host))
  await host.stop()
  return figures
}

const fetchCard = (host: Server): Promise<Answer> => fetchAnswer(originOf(host) + cardPath(idOf(0)))
