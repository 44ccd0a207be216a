import { operations } from '../a2a/index.ts'
import type { CallTarget, Protocol, Receipt, ReceiptTest, StoredReceipt } from '../card/model/index.ts'
import { dialectNames, RECEIPT_TYPE, translatedProtocols, versions, wireVersions } from '../card/model/index.ts'
import { KEY_SET_PATH } from '../card/signatures/index.ts'
import { parseUrl } from '../http/index.ts'
import { asList, asObject, isJsonObject, type Json } from '../json/index.ts'
import { CHECK_SECONDS, CHECK_SEND_SECONDS, MAX_UNANSWERED_REQUESTS } from '../limits.ts'
import type { StoredManifest } from '../registry/tables/index.ts'
import { findSigningKeys, isOwnOrigin, signDetached } from '../signing/index.ts'
import { harmlessTests, NOT_APPLICABLE, passIf, sendingTests, type Verdict, writeCall } from './call-tests.ts'
import { type Answer, type CheckedAgent, createAgentSend, createGateSend, sendToAgent, sendToHost } from './exchange.ts'
import { describeDocument, isUnansweredFailure, readDocument, readOutcome } from './outcome.ts'

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
  const protocols = [...targets.map(protocolOf), ...translatedProtocols(targets, bridge)]
  const paths = protocols.map(protocol => gatePath(agent, protocol))
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
  const paths = targets.map(target => directPath(agent, target))
  return [...(await checkOwnDocuments(agent)), ...(await runTests(agent, paths, deadline))]
}

type TestPath = Pick<ReceiptTest, 'through'> & { protocol: Protocol; send: ReturnType<typeof createGateSend> }

const gatePath = (agent: CheckedAgent, protocol: Protocol): TestPath => ({
  ...{ protocol, send: createGateSend(agent), through: 'gate' },
})

const directPath = (agent: CheckedAgent, target: CallTarget): TestPath => ({
  ...{ protocol: protocolOf(target), send: createAgentSend(agent, target), through: 'direct' },
})

const protocolOf = ({ binding, version }: CallTarget): Protocol => ({ binding, version })

/** Runs tests one after the other, by default the harmless ones: those first that the gate answers by itself. */
const runTests = async (agent: CheckedAgent, paths: readonly TestPath[], deadline: number, calls = harmlessTests) => {
  const tests: ReceiptTest[] = []
  let unanswered = 0
  for (const test of calls)
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
  test: (typeof harmlessTests)[number],
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
  const { streams = false } = operations[operation]
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
  const path = profile.route === 'closed' ? directPath(agent, target) : gatePath(agent, protocolOf(target))
  return runTests({ ...agent, seconds: CHECK_SEND_SECONDS }, [path], Number.POSITIVE_INFINITY, sendingTests)
}

/** Signs a receipt with the current key of this host. Without one, stores it as it is, with the reason. */
export const signReceipt = async (receipt: Receipt, manifest: StoredManifest, env: Env): Promise<StoredReceipt> => {
  const keys = await findSigningKeys(env)
  if (!keys) return { receipt, unsigned: 'This host has no key to sign with.' }
  // A bare card has no host names.
  const hosts = asList(asObject(JSON.parse(manifest.manifest)).hosts).filter(host => typeof host === 'string')
  if (!isOwnOrigin(receipt.host, { hosts }, env))
    return { receipt, unsigned: 'This host does not know under which name it is public.' }
  const header = { typ: RECEIPT_TYPE, kid: keys.current.kid, jku: `${receipt.host}${KEY_SET_PATH}` }
  return { receipt, signature: await signDetached(receipt, header, keys.current) }
}

/** A document of an agent that was requested, and what it must be. */
type DocumentTest = Pick<ReceiptTest, 'id' | 'title' | 'through' | 'claimed'> & {
  answer: Promise<Answer> | Answer
  evaluate: (answer: Answer) => Verdict
}

const evaluateDocument = async ({ answer, evaluate, ...test }: DocumentTest): Promise<ReceiptTest> => {
  const received = await answer
  return { ...test, happened: describeDocument(received), ...evaluate(received) }
}

const isCard = (document: Json | undefined): boolean =>
  isJsonObject(document) &&
  typeof document.name === 'string' &&
  (typeof document.url === 'string' || Array.isArray(document.supportedInterfaces))

const evaluateCard = (answer: Answer): Verdict => passIf(isCard(readDocument(answer)), NO_CARD)

const NO_CARD = 'The answer is no Agent Card.'

const checkHostDocuments = (agent: CheckedAgent): Promise<ReceiptTest[]> => {
  const options = { seconds: agent.seconds, authorized: agent.profile.visibility === 'internal' }
  const get = (file: 'agent-card.json' | 'agent.json', query = '', headers: Record<string, string> = {}) => {
    const path = `/agents/${agent.id}/.well-known/${file}${query}`
    return sendToHost(agent, agent.serveCard(file), { path, headers }, options)
  }
  const getDialects = async () => {
    const answers = await Promise.all(dialectNames.map(dialect => get('agent-card.json', `?dialect=${dialect}`)))
    return answers.find(answer => !hasMembers(readDocument(answer))) ?? answers[0] ?? { failed: 'unreachable' as const }
  }
  const tests: Omit<DocumentTest, 'through'>[] = [
    ...(['agent-card.json', 'agent.json'] as const).map(file => ({
      id: `card-${file}`,
      title: `Is found at the well-known path ${file}`,
      claimed: 'a card for readers of any version',
      answer: get(file),
      evaluate: evaluateCard,
    })),
    ...[...new Set(wireVersions.map(each => versions[each].card))].toReversed().map(version => ({
      id: `card-${version}`,
      title: `Has a card in A2A ${version}`,
      claimed: `A2A-Version: ${version}`,
      answer: get('agent-card.json', '', { 'A2A-Version': version }),
      evaluate: (answer: Answer) => {
        const isOfVersion = 'headers' in answer && answer.headers.get('A2A-Version') === version
        return passIf(isOfVersion && isCard(readDocument(answer)), `The answer is no card in A2A ${version}.`)
      },
    })),
    {
      id: 'card-dialects',
      title: 'Has a card in every dialect',
      claimed: dialectNames.join(', '),
      answer: getDialects(),
      evaluate: answer => passIf(hasMembers(readDocument(answer)), NO_CARD),
    },
    {
      id: 'card-not-modified',
      title: 'Answers 304 if the client already has the card',
      claimed: 'HTTP 304 for the entity tag of the card',
      answer: getAgain(get('agent-card.json'), headers => get('agent-card.json', '', headers)),
      evaluate: evaluateNotModified,
    },
  ]
  return Promise.all(tests.map(test => evaluateDocument({ ...test, through: 'gate' })))
}

const hasMembers = (document: Json | undefined): boolean => isJsonObject(document) && Object.keys(document).length > 0

const getAgain = async (first: Promise<Answer> | Answer, get: (headers: Record<string, string>) => Promise<Answer>) => {
  const answer = await first
  const etag = 'failed' in answer ? null : answer.headers.get('ETag')
  return etag === null ? answer : get({ 'If-None-Match': etag })
}

const evaluateNotModified = (answer: Answer): Verdict =>
  !('failed' in answer) && !answer.headers.has('ETag') && answer.status === 200
    ? { result: 'skipped', reason: 'The card has no entity tag.' }
    : passIf(!('failed' in answer) && answer.status === 304, 'The whole card was sent again.')

/** Tests the card that the agent itself serves: where its manifest says, else at the origin of its endpoint. */
const checkOwnDocuments = async (agent: CheckedAgent): Promise<ReceiptTest[]> => {
  const { source, profile, seconds } = agent
  const url = source?.url ?? `${parseUrl(profile.targets[0]?.url ?? '')?.origin}/.well-known/agent-card.json`
  const address = source ?? { url, service: profile.service }
  const get = (headers: Record<string, string> = {}) => {
    const init = { method: 'GET', headers: { Accept: 'application/json', 'A2A-Version': '1.0', ...headers } }
    return sendToAgent(agent, address, { url, init }, { seconds, authorized: source !== undefined })
  }
  const first = await get()
  const result = await evaluateDocument({
    id: 'own-card',
    title: 'Serves a card itself',
    through: 'direct',
    claimed: source ? 'the card that this host fetches' : 'none: this host serves the card',
    answer: first,
    evaluate: answer => {
      if ('failed' in answer)
        return source === undefined && isUnansweredFailure(answer.failed)
          ? { result: 'skipped', reason: 'No card is expected there, and the agent does not answer.' }
          : passIf(false, 'The agent does not answer.')
      return source === undefined && answer.status >= 400 && answer.status < 500
        ? { result: 'skipped', reason: 'The agent serves no card at the origin of its endpoint.' }
        : evaluateCard(answer)
    },
  })
  if (result.result !== 'passed') return [result]
  const again = await evaluateDocument({
    id: 'own-card-not-modified',
    title: 'Answers 304 if the client already has its own card',
    through: 'direct',
    claimed: 'HTTP 304 for the entity tag of the card',
    answer: getAgain(first, get),
    evaluate: evaluateNotModified,
  })
  return [result, again]
}
