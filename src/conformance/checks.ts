import {
  type CallTarget,
  type Protocol,
  RECEIPT_TYPE,
  type Receipt,
  type ReceiptTest,
  type StoredReceipt,
  translatedProtocols,
} from '../card/model/index.ts'
import { KEY_SET_PATH } from '../card/signatures/index.ts'
import { config, type Variables } from '../config.ts'
import { isJsonObject } from '../json/index.ts'
import { CHECK_SECONDS, CHECK_SEND_SECONDS, MAX_UNANSWERED_REQUESTS } from '../limits.ts'
import type { StoredManifest } from '../registry/tables/index.ts'
import { findSigningKeys, isOwnOrigin, signDetached } from '../signing/index.ts'
import {
  type CallTest,
  harmlessTests,
  NOT_APPLICABLE,
  sendingTests,
  type TestContext,
  writeCall,
} from './call-tests.ts'
import { checkHostDocuments, checkOwnDocuments } from './document-tests.ts'
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
  const send = createGateSend(agent)
  const protocols = [...targets.map(protocolOf), ...translatedProtocols(targets, bridge)]
  const paths = protocols.map((protocol): TestPath => ({ protocol, send, through: 'gate' }))
  return [...(await checkHostDocuments(agent)), ...(await runTests(agent, paths, deadline))]
}

const checkDirectly = async (agent: CheckedAgent, deadline: number): Promise<ReceiptTest[]> => {
  const { targets, mcp } = agent.profile
  if (mcp || targets.length === 0) {
    const reason = mcp
      ? 'The agent is an MCP server, which has no endpoint of A2A itself.'
      : 'The card has no endpoint of A2A that this host can call.'
    const test = { id: 'direct', title: 'Answers calls itself', claimed: 'no endpoint of A2A', reason }
    return [{ ...test, through: 'direct', result: 'skipped' }]
  }
  const paths = targets.map(target => createDirectPath(agent, target))
  return [...(await checkOwnDocuments(agent)), ...(await runTests(agent, paths, deadline))]
}

/** The protocol of tests, and how they reach the agent. */
type TestPath = Omit<TestContext, 'profile'> & { send: Send }

const createDirectPath = (agent: CheckedAgent, target: CallTarget): TestPath => ({
  protocol: protocolOf(target),
  send: createDirectSend(agent, target),
  through: 'direct',
})

const protocolOf = ({ binding, version }: CallTarget): Protocol => ({ binding, version })

/** Runs the harmless tests one after the other, those first that the gate answers by itself. */
const runTests = async (agent: CheckedAgent, paths: readonly TestPath[], deadline: number): Promise<ReceiptTest[]> => {
  const tests: ReceiptTest[] = []
  let unanswered = 0
  for (const test of harmlessTests)
    for (const path of paths) {
      const skip =
        test.skip?.({ ...path, profile: agent.profile }) ??
        (unanswered >= MAX_UNANSWERED_REQUESTS ? 'Not sent, because the agent did not answer before.' : undefined) ??
        (Date.now() > deadline ? 'Not sent, because the time of the check was up.' : undefined)
      if (skip === NOT_APPLICABLE) continue
      const { result, isUnanswered } = await runTest(test, path, agent, skip)
      tests.push(result)
      if (isUnanswered) unanswered++
    }
  return tests
}

const runTest = async (
  test: CallTest,
  { through, protocol, send }: TestPath,
  { profile, seconds }: Pick<CheckedAgent, 'profile' | 'seconds'>,
  skip: string | undefined,
): Promise<{ result: ReceiptTest; isUnanswered: boolean }> => {
  const { title, claim, operation, authorized = true, gateOnly = false, wholeStream = false } = test
  const { binding, version } = protocol
  const claimed = typeof claim === 'string' ? claim : claim(profile)
  const head = { id: test.id, title, through, protocol: `${binding} ${version}`, claimed }
  if (skip !== undefined) return { result: { ...head, result: 'skipped', reason: skip }, isUnanswered: false }
  const id = crypto.randomUUID()
  const streams = operation === 'resubscribe' || operation === 'stream'
  const call = { ...writeCall(test, protocol, id), protocol, namedVersion: test.namedVersion ?? version, streams }
  const answer = await send(call, { seconds, authorized, gateOnly, wholeStream })
  const outcome = readOutcome(answer, { protocol, operation, id })
  const verdict = test.evaluate(outcome, { profile, protocol, through })
  return { result: { ...head, happened: outcome.summary, ...verdict }, isUnanswered: outcome.kind === 'unanswered' }
}

/** Sends one message, and another for a stream: through the gate, or to an agent that is closed there. */
const sendMessages = async (agent: CheckedAgent): Promise<ReceiptTest[]> => {
  const { profile } = agent
  const [target] = profile.targets
  if (!target) return []
  const path: TestPath =
    profile.route === 'closed'
      ? createDirectPath(agent, target)
      : { protocol: protocolOf(target), send: createGateSend(agent), through: 'gate' }
  const results: ReceiptTest[] = []
  for (const test of sendingTests) {
    const skip = test.skip?.({ ...path, profile })
    results.push((await runTest(test, path, { profile, seconds: CHECK_SEND_SECONDS }, skip)).result)
  }
  return results
}

/** Signs a receipt with the current key of this host. Without one, stores it as it is, with the reason. */
export const signReceipt = async (receipt: Receipt, manifest: StoredManifest, env: Env): Promise<StoredReceipt> => {
  const keys = await findSigningKeys(env)
  if (!keys) return { receipt, unsigned: 'This host has no key to sign with.' }
  if (!isOwnOrigin(receipt.host, { hosts: hostsOf(manifest) }, env))
    return { receipt, unsigned: 'This host does not know under which name it is public.' }
  const header = { typ: RECEIPT_TYPE, kid: keys.current.kid, jku: `${receipt.host}${KEY_SET_PATH}` }
  return { receipt, signature: await signDetached(receipt, header, keys.current) }
}

/** Returns the origin that a receipt names as its host: never that of the request, which is the caller's choice. */
export const receiptHost = ({ origin }: StoredManifest, env: Variables): string => config(env).publicOrigin ?? origin

/** A bare card has no host names. */
const hostsOf = ({ manifest }: StoredManifest): string[] => {
  const document: unknown = JSON.parse(manifest)
  const hosts = isJsonObject(document) && Array.isArray(document.hosts) ? document.hosts : []
  return hosts.filter(host => typeof host === 'string')
}
