import { readFileSync, writeFileSync } from 'node:fs'
import type { HostConfig } from '../../test/support/runtime.ts'
import { type TestedAgent, testedAgents } from './agents.ts'
import { type CallRequest, makeCase } from './cases.ts'
import { type Comparable, compare, type Difference } from './compare.ts'
import { type CaseResult, Comparison, toSequence } from './comparison.ts'
import type { CallSequence } from './hosts.ts'
import { type AgentResponse, isOfSession } from './received-call.ts'
import { makeResponse } from './responses.ts'

/** A case with what the agent responds, and what a host did. */
export type RecordedCase = {
  agent: TestedAgent
  steps: CallRequest[]
  responses: AgentResponse[]
  expected: Comparable
}

const AGENT = '<agent>'
const MAX_CASES = 150
const MAX_BYTES = 250 * 1024
const MAX_CASE_BYTES = 4096

/** The agents whose cases are recorded: one of each kind, because a test registers all of them. */
const recordedAgents = testedAgents.filter(({ id }) => id.endsWith('-x00'))

/** Returns a recorded case as it is run: the agent sends the recorded responses, in their order. */
const toRecordedSequence = ({ agent, steps, responses }: RecordedCase): CallSequence => {
  let next = 0
  return {
    ...{ agent, steps },
    respondTo: (_, agentOrigin) => request => {
      const recorded = isOfSession(request) ? undefined : responses[next++]
      if (recorded === undefined) return makeResponse({ seed: 1, isGood: true, caseNumber: 0 }, request, agentOrigin)
      const fill = (text: string): string => text.replaceAll(AGENT, new URL(agentOrigin).host)
      return {
        ...recorded,
        headers: recorded.headers.map(([name, value]): [string, string] => [name, fill(value)]),
        body: fill(recorded.body),
      }
    },
  }
}

/** Runs recorded cases on one build, and returns the differences of each. */
export const replay = async (
  cases: readonly RecordedCase[],
  config: HostConfig,
): Promise<{ testCase: RecordedCase; differences: Difference[] }[]> => {
  const ids = new Set(cases.map(({ agent }) => agent.id))
  const comparison = await Comparison.start(
    [config],
    testedAgents.filter(({ id }) => ids.has(id)),
  )
  try {
    const found: { testCase: RecordedCase; differences: Difference[] }[] = []
    // A batch has one case of each agent, as its log lines are found by the agent.
    for (let rest = [...cases]; rest.length > 0; ) {
      const batch = rest.filter(({ agent }, index) => rest.findIndex(other => other.agent.id === agent.id) === index)
      rest = rest.filter(each => !batch.includes(each))
      const { results } = await comparison.runBatch(batch.map(each => toRecordedSequence(each)))
      for (const [index, testCase] of batch.entries())
        found.push({
          testCase,
          differences: compare(testCase.expected, results[index]?.results[0] ?? testCase.expected),
        })
    }
    return found
  } finally {
    await comparison.close()
  }
}

/** Reads recorded cases. */
export const readRecorded = (path: string): RecordedCase[] => JSON.parse(readFileSync(path, 'utf8'))

/** Runs cases on a build, and writes a few of them that differ most from each other, in the order of their numbers. */
export const record = async (
  path: string,
  config: HostConfig,
  options: { seed: number; count: number },
): Promise<number> => {
  const comparison = await Comparison.start([config], recordedAgents)
  const candidates: (RecordedCase & { features: Set<string>; size: number })[] = []
  const ids = new Set(recordedAgents.map(({ id }) => id))
  for (let number = 0; candidates.length < options.count; ) {
    const cases = Array.from({ length: testedAgents.length }, () => makeCase(options.seed, number++))
    const batch = cases.filter(({ agent }) => ids.has(agent.id))
    const { results } = await comparison.runBatch(batch.map(toSequence))
    const { origin } = comparison.hosts[0]?.agent ?? { origin: '' }
    for (const [index, { agent, steps }] of batch.entries()) {
      const result = results[index] as CaseResult
      const requests = steps.map(({ script: _, ...request }) => request)
      const hide = (text: string): string => text.replaceAll(new URL(origin).host, AGENT)
      const responses = result.exchanges
        .filter(({ request }) => !isOfSession(request))
        .map(({ response }) => JSON.parse(hide(JSON.stringify(response))) as AgentResponse)
      const recorded = { agent, steps: requests, responses, expected: result.results[0] as Comparable }
      candidates.push({ ...recorded, features: featuresOf(recorded), size: JSON.stringify(recorded).length })
    }
  }
  await comparison.close()
  const chosen = choose(candidates)
  const texts = chosen.map(({ features: _, size: __, ...recorded }): RecordedCase => recorded)
  const replayed = await replay(texts, config)
  const stable = replayed.flatMap(({ testCase, differences }) => (differences.length === 0 ? [testCase] : []))
  writeFileSync(path, `[\n${stable.map(each => JSON.stringify(each)).join(',\n')}\n]\n`)
  return stable.length
}

/** Chooses cases until none adds a feature: always the one that adds most. */
const choose = <Candidate extends { features: Set<string>; size: number }>(all: readonly Candidate[]): Candidate[] => {
  const seen = new Set<string>()
  const rest = new Set(all.filter(({ size }) => size <= MAX_CASE_BYTES))
  const chosen: Candidate[] = []
  for (let bytes = 0; chosen.length < MAX_CASES; ) {
    let best: { candidate: Candidate; value: number } | undefined
    for (const candidate of rest) {
      let added = 0
      for (const feature of candidate.features) if (!seen.has(feature)) added++
      const value = added / (500 + candidate.size)
      if (added > 0 && value > (best?.value ?? 0)) best = { candidate, value }
    }
    if (!best || bytes + best.candidate.size > MAX_BYTES) break
    rest.delete(best.candidate)
    chosen.push(best.candidate)
    bytes += best.candidate.size + 2
    for (const feature of best.candidate.features) seen.add(feature)
  }
  return all.filter(each => chosen.includes(each))
}

/** Returns what a case shows: fields of its log lines, statuses, header names and how its agent was called. */
const featuresOf = ({ agent, responses, expected }: RecordedCase): Set<string> => {
  const features = new Set<string>([agent.kind])
  for (const line of expected.logs) {
    const fields = JSON.parse(line) as Record<string, unknown>
    const operation = fields['a2a.method.name']
    const protocol = `${fields['a2a.protocol.version']} ${fields['calling_card.binding']}`
    features.add(`${operation} ${protocol} ${fields['error.type'] ?? 'passed'}`)
    features.add(`${agent.kind} ${operation} ${fields['error.type'] ?? 'passed'}`)
    features.add(`${agent.kind} ${fields['calling_card.caller']} ${fields['error.type'] === undefined}`)
    for (const name of ['calling_card.warnings', 'calling_card.detail', 'trace_flags'])
      features.add(`${name} ${fields[name]}`)
  }
  for (const text of expected.responses) {
    const [head = ''] = text.split('\n\n')
    for (const line of head.split('\n')) features.add(line.startsWith('content-length') ? 'length' : line.slice(0, 60))
  }
  for (const text of expected.requests)
    for (const line of text.split('\n\n')[0]?.split('\n') ?? []) features.add(`to agent ${/^[\w-]+:?/.exec(line)?.[0]}`)
  for (const { status, framing, headers } of responses)
    features.add(`from agent ${status} ${framing} ${headers.map(([name]) => name).join(' ')}`)
  return features
}
