import { type Leg, type Protocol, type Receipt, type ReceiptTest, translatedProtocols } from '../card/model/index.ts'
import { CHECK_SECONDS, CHECK_SEND_SECONDS, MAX_UNANSWERED_REQUESTS } from '../limits.ts'
import { type CallTest, harmlessTests, NOT_APPLICABLE, sendingTests, type TestContext } from './call-tests.ts'
import { checkHostDocuments, checkOwnDocuments } from './documents.ts'
import { type CheckedAgent, createDirectSend, createGateSend, type Send } from './exchange.ts'
import { readOutcome } from './outcome.ts'

/** Runs all tests of an agent: through the gate, and at the agent itself. With `send`, also those that start work. */
export const runChecks = async (agent: CheckedAgent, send: boolean): Promise<ReceiptTest[]> => {
  const deadline = Date.now() + CHECK_SECONDS * 1000
  const [gate, direct] = await Promise.all([checkThroughGate(agent, deadline), checkDirectly(agent, deadline)])
  return [...gate, ...direct, ...(send ? await sendMessages(agent) : [])]
}

/** Counts the tests by their results. */
export const summarize = (tests: readonly ReceiptTest[]): Receipt['summary'] => {
  const summary = { passed: 0, failed: 0, skipped: 0 }
  for (const { result } of tests) summary[result]++
  return summary
}

const checkThroughGate = async (agent: CheckedAgent, deadline: number): Promise<ReceiptTest[]> => {
  const { targets, bridge } = agent.profile
  const own = targets.map(({ binding, version }) => ({ binding, version }))
  const send = createGateSend(agent)
  const lines = [...own, ...translatedProtocols(own, bridge)].map(protocol => ({ protocol, send }))
  return [...(await checkHostDocuments(agent)), ...(await runTests(agent, 'gate', lines, deadline))]
}

const checkDirectly = async (agent: CheckedAgent, deadline: number): Promise<ReceiptTest[]> => {
  const { targets, mcp } = agent.profile
  if (mcp || targets.length === 0) {
    const reason = mcp
      ? 'The agent is an MCP server, which has no endpoint of A2A itself.'
      : 'The card has no endpoint of A2A that this host can call.'
    const test = {
      id: 'direct',
      title: 'Answers calls itself',
      through: 'direct',
      claimed: 'no endpoint of A2A',
    } as const
    return [{ ...test, result: 'skipped', reason }]
  }
  const lines = targets.map(target => {
    const { binding, version } = target
    return { protocol: { binding, version }, send: createDirectSend(agent, target) }
  })
  return [...(await checkOwnDocuments(agent)), ...(await runTests(agent, 'direct', lines, deadline))]
}

/** A protocol in which an agent is called, and what sends its calls. */
type Line = { protocol: Protocol; send: Send }

/** Runs the harmless tests one after the other, those first that the gate answers by itself. */
const runTests = async (
  { profile, seconds }: CheckedAgent,
  leg: Leg,
  lines: readonly Line[],
  deadline: number,
): Promise<ReceiptTest[]> => {
  const tests: ReceiptTest[] = []
  let unanswered = 0
  for (const test of harmlessTests)
    for (const { protocol, send } of lines) {
      const testContext = { profile, protocol, leg }
      const skip =
        test.skip?.(testContext) ??
        (unanswered >= MAX_UNANSWERED_REQUESTS ? 'Not sent, because the agent did not answer before.' : undefined) ??
        (Date.now() > deadline ? 'Not sent, because the time of the check was up.' : undefined)
      if (skip === NOT_APPLICABLE) continue
      const { line, isUnanswered } = await runTest(test, testContext, send, { seconds, skip })
      tests.push(line)
      if (isUnanswered) unanswered++
    }
  return tests
}

const runTest = async (
  test: CallTest,
  context: TestContext,
  send: Send,
  { seconds, skip }: { seconds: number; skip: string | undefined },
): Promise<{ line: ReceiptTest; isUnanswered: boolean }> => {
  const { id: testId, title, operation, authorized = true, gateOnly = false, wholeStream = false } = test
  const { leg: through, protocol } = context
  const { binding, version } = protocol
  const head = { id: testId, title, through, protocol: `${binding} ${version}`, claimed: test.claim(context) }
  if (skip !== undefined) return { line: { ...head, result: 'skipped', reason: skip }, isUnanswered: false }
  const id = crypto.randomUUID()
  const { namedVersion = version } = test
  const streams = operation === 'resubscribe' || operation === 'stream'
  const call = { ...test.write(context, id), protocol, namedVersion, streams }
  const answer = await send(call, { seconds, authorized, gateOnly, wholeStream })
  const outcome = readOutcome(answer, { protocol, operation, id })
  const line = { ...head, happened: outcome.words, ...test.judge(outcome, context) }
  return { line, isUnanswered: outcome.kind === 'unanswered' }
}

/** Sends one message, and another for a stream: through the gate, or to an agent that is closed there. */
const sendMessages = async (agent: CheckedAgent): Promise<ReceiptTest[]> => {
  const { profile } = agent
  const [target] = profile.targets
  if (!target) return []
  const leg = profile.route === 'closed' ? 'direct' : 'gate'
  const send = leg === 'gate' ? createGateSend(agent) : createDirectSend(agent, target)
  const protocol = { binding: target.binding, version: target.version }
  const lines: ReceiptTest[] = []
  for (const test of sendingTests) {
    const context = { profile, protocol, leg } as const
    const skip = test.skip?.(context)
    lines.push((await runTest(test, context, send, { seconds: CHECK_SEND_SECONDS, skip })).line)
  }
  return lines
}
