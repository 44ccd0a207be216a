import pMap from 'p-map'
import { MAX_REFUSED_CALL_BYTES } from '../../src/limits.ts'
import { type IssuerServer, startIssuer } from '../../test/support/issuer.ts'
import type { HostConfig } from '../../test/support/runtime.ts'
import { rootAgent, type TestedAgent } from './agents.ts'
import type { Case, Step } from './cases.ts'
import { type Comparable, compare, type Difference, Normalizer, toComparable } from './compare.ts'
import { type CallSequence, DiffHost, share } from './hosts.ts'
import { makeResponse } from './responses.ts'
import type { Exchange } from './scripted-agent.ts'

const CONCURRENCY = 48

/**
 * A case on the hosts: what each did, as it is compared; the differences; and the exchanges with the agent on the first
 * host.
 */
export type CaseResult = { results: Comparable[]; differences: Difference[]; exchanges: Exchange[] }

/** Returns a case as it is run: the agent follows the script of each step. */
export const toSequence = ({ agent, steps }: Case): CallSequence => ({
  agent,
  steps,
  respondTo: (step, origin) => {
    const { script } = steps[step] as Step
    return (request, index) => makeResponse({ ...script, seed: script.seed + index }, request, origin)
  },
})

/** One or two builds that run the same cases. */
export class Comparison {
  readonly hosts: readonly DiffHost[]
  readonly #issuer: IssuerServer

  private constructor(hosts: readonly DiffHost[], issuer: IssuerServer) {
    this.hosts = hosts
    this.#issuer = issuer
  }

  /** Starts the builds with the same agents. */
  static async start(configs: readonly HostConfig[], agents: readonly TestedAgent[]): Promise<Comparison> {
    const issuer = await startIssuer()
    const shared = await share(issuer)
    return new Comparison(await Promise.all(configs.map(config => DiffHost.start(config, agents, shared))), issuer)
  }

  /**
   * Runs cases, each with an agent of its own, on all hosts at the same time. `others` has the differences that belong
   * to no case: in log lines without an agent, and in calls of the root agent.
   */
  async runBatch(cases: readonly CallSequence[]): Promise<{ results: CaseResult[]; others: Difference[] }> {
    const perHost = await Promise.all(this.hosts.map(host => runOn(host, cases)))
    const results = cases.map((_, index) => {
      const results = perHost.map(({ results }) => results[index] as Comparable)
      return { results, differences: differencesOf(results), exchanges: perHost[0]?.exchanges[index] ?? [] }
    })
    return { results, others: differencesOf(perHost.map(({ others }) => others)) }
  }

  /** Returns the differences between what the hosts have observed of agents, by their ids. */
  async compareObserved(agents: readonly TestedAgent[]): Promise<[id: string, before: string, after: string][]> {
    const compared = await pMap(
      agents,
      async ({ id }): Promise<[string, string, string]> => {
        const [before = '', after = ''] = await Promise.all(
          this.hosts.map(async host => new Normalizer(host).text(await host.observed(id))),
        )
        return [id, before, after]
      },
      { concurrency: 8 },
    )
    return compared.filter(([, before, after]) => before !== after)
  }

  async close(): Promise<void> {
    await Promise.all(this.hosts.map(host => host.close()))
    await this.#issuer.close()
  }
}

const differencesOf = ([before, after]: readonly Comparable[]): Difference[] =>
  before && after ? compare(before, after) : []

type BatchOnHost = { results: Comparable[]; exchanges: Exchange[][]; others: Comparable }

const runOn = async (host: DiffHost, cases: readonly CallSequence[]): Promise<BatchOnHost> => {
  const responses = await pMap(cases, each => host.run(each), { concurrency: CONCURRENCY })
  const logs = new Map<string | undefined, string[]>()
  for (const line of await host.takeLogs()) {
    const id = /"gen_ai\.agent\.id":"([^"]*)"/.exec(line)?.[1]
    logs.set(id, [...(logs.get(id) ?? []), line])
  }
  const exchanges = cases.map(({ agent }) => host.agent.take(agent.id))
  const results = cases.map(({ agent: { id }, steps }, index) => {
    const own = logs.get(id) ?? []
    logs.delete(id)
    const result = toComparable({ responses: responses[index] ?? [], exchanges: exchanges[index] ?? [] }, own, host)
    // A large body that is refused unread may have to be sent several times, each of which is logged; below, too.
    const isLarge = steps.some(({ body }) => body !== undefined && body.length > MAX_REFUSED_CALL_BYTES)
    return isLarge ? { ...result, logs: [...new Set(result.logs)].sort() } : result
  })
  const { requests } = toComparable({ responses: [], exchanges: host.agent.take(rootAgent.id) }, [], host)
  const normalizer = new Normalizer(host)
  const lines = new Set([...logs.values()].flat().map(line => normalizer.log(line)))
  return { results, exchanges, others: { requests: requests.toSorted(), responses: [], logs: [...lines].sort() } }
}
