import { dialectNames, type ReceiptTest } from '../card/model/index.ts'
import { parseUrl } from '../http/index.ts'
import { isJsonObject, type Json } from '../json/index.ts'
import { passIf, type Verdict } from './call-tests.ts'
import { type Answer, type CheckedAgent, type SendOptions, sendToAgent, sendToHost } from './exchange.ts'
import { describeDocument, isUnansweredFailure, readDocument } from './outcome.ts'

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

/** Tests how this host serves the card of an agent. */
export const checkHostDocuments = (agent: CheckedAgent): Promise<ReceiptTest[]> => {
  const options: SendOptions = { seconds: agent.seconds, authorized: agent.profile.visibility === 'internal' }
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
    ...['1.0', '0.3'].map(version => ({
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

/** Requests a document again under the condition that it has changed. */
const getAgain = async (
  first: Promise<Answer> | Answer,
  get: (headers: Record<string, string>) => Promise<Answer>,
): Promise<Answer> => {
  const answer = await first
  const etag = 'failed' in answer ? null : answer.headers.get('ETag')
  return etag === null ? answer : get({ 'If-None-Match': etag })
}

const evaluateNotModified = (answer: Answer): Verdict =>
  !('failed' in answer) && !answer.headers.has('ETag') && answer.status === 200
    ? { result: 'skipped', reason: 'The card has no entity tag.' }
    : passIf(!('failed' in answer) && answer.status === 304, 'The whole card was sent again.')

/** Tests the card that the agent itself serves: where its manifest says, else at the origin of its endpoint. */
export const checkOwnDocuments = async (agent: CheckedAgent): Promise<ReceiptTest[]> => {
  const { source, profile, seconds } = agent
  const { service } = profile
  const url = source?.url ?? `${parseUrl(profile.targets[0]?.url ?? '')?.origin}/.well-known/agent-card.json`
  const address = source ?? { url, ...(service !== undefined && { service }) }
  const get = (headers: Record<string, string> = {}) => {
    const init = { method: 'GET', headers: { Accept: 'application/json', 'A2A-Version': '1.0', ...headers } }
    return sendToAgent(agent, address, { url, init }, { seconds, authorized: source !== undefined })
  }
  const first = await get()
  const test: DocumentTest = {
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
  }
  const result = await evaluateDocument(test)
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
