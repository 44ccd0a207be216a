import { dialectNames, type ReceiptTest } from '../card/model/index.ts'
import { parseUrl } from '../http/index.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/index.ts'
import type { Verdict } from './call-tests.ts'
import { type Answer, type CheckedAgent, type SendOptions, sendToAgent, sendToHost } from './exchange.ts'
import { describeDocument, isUnansweredFailure, readDocument } from './outcome.ts'

/** A document of an agent that is requested, and what it must be. */
type DocumentTest = {
  id: string
  title: string
  claimed: string
  /** Requests the document, or several. */
  fetch: () => Promise<Answer>
  judge: (answer: Answer) => Verdict
}

const passIf = (holds: boolean, reason: string): Verdict =>
  holds ? { result: 'passed' } : { result: 'failed', reason }

const run = async (through: ReceiptTest['through'], { fetch, judge, ...test }: DocumentTest): Promise<ReceiptTest> => {
  const answer = await fetch()
  const { id, title, claimed } = test
  return { id, title, through, claimed, happened: describeDocument(answer), ...judge(answer) }
}

const isCard = (document: Json | undefined): document is JsonObject =>
  isJsonObject(document) &&
  typeof document.name === 'string' &&
  (typeof document.url === 'string' || Array.isArray(document.supportedInterfaces))

const NO_CARD = 'The answer is no Agent Card.'

/** Tests how this host serves the card of an agent. */
export const checkHostDocuments = async (agent: CheckedAgent): Promise<ReceiptTest[]> => {
  const { id, profile } = agent
  const folder = `/agents/${id}/.well-known`
  const options: SendOptions = { seconds: agent.seconds, authorized: profile.visibility === 'internal' }
  const get = (file: 'agent-card.json' | 'agent.json', query = '', headers: Record<string, string> = {}) =>
    sendToHost(agent, agent.serveCard(file), { path: `${folder}/${file}${query}`, headers }, options)
  const tests: DocumentTest[] = [
    ...(['agent-card.json', 'agent.json'] as const).map(
      (file): DocumentTest => ({
        id: `card-${file}`,
        title: `Is found at the well-known path ${file}`,
        claimed: 'a card for readers of any version',
        fetch: () => get(file),
        judge: answer => passIf(isCard(readDocument(answer)), NO_CARD),
      }),
    ),
    ...(['1.0', '0.3'] as const).map(
      (version): DocumentTest => ({
        id: `card-${version}`,
        title: `Has a card in A2A ${version}`,
        claimed: `A2A-Version: ${version}`,
        fetch: () => get('agent-card.json', '', { 'A2A-Version': version }),
        judge: answer =>
          passIf(
            isCard(readDocument(answer)) && 'headers' in answer && answer.headers.get('A2A-Version') === version,
            `The answer is no card in A2A ${version}.`,
          ),
      }),
    ),
    {
      id: 'card-dialects',
      title: 'Has a card in every dialect',
      claimed: dialectNames.join(', '),
      fetch: async () => {
        const answers = await Promise.all(dialectNames.map(dialect => get('agent-card.json', `?dialect=${dialect}`)))
        return answers.find(answer => !hasName(readDocument(answer))) ?? answers[0] ?? { failed: 'unreachable' }
      },
      judge: answer => passIf(hasName(readDocument(answer)), NO_CARD),
    },
    {
      id: 'card-not-modified',
      title: 'Answers 304 if the client already has the card',
      claimed: 'HTTP 304 for the entity tag of the card',
      fetch: async () => getAgain(await get('agent-card.json'), headers => get('agent-card.json', '', headers)),
      judge: judgeNotModified,
    },
  ]
  return Promise.all(tests.map(test => run('gate', test)))
}

const hasName = (document: Json | undefined): boolean => isJsonObject(document) && Object.keys(document).length > 0

/** Requests a document again under the condition that it has changed. */
const getAgain = (
  first: Answer,
  get: (headers: Record<string, string>) => Promise<Answer>,
): Promise<Answer> | Answer => {
  const etag = 'failed' in first ? null : first.headers.get('ETag')
  return etag === null ? first : get({ 'If-None-Match': etag })
}

const judgeNotModified = (answer: Answer): Verdict => {
  if (!('failed' in answer) && !answer.headers.has('ETag') && answer.status === 200)
    return { result: 'skipped', reason: 'The card has no entity tag.' }
  return passIf(!('failed' in answer) && answer.status === 304, 'The whole card was sent again.')
}

/** Tests the card that the agent itself serves: where its manifest says, else at the origin of its endpoint. */
export const checkOwnDocuments = async (agent: CheckedAgent): Promise<ReceiptTest[]> => {
  const { source, profile } = agent
  const origin = parseUrl(profile.targets[0]?.url ?? '')?.origin
  const url = source?.url ?? `${origin}/.well-known/agent-card.json`
  const { service } = profile
  const address = source ?? { url, ...(service !== undefined && { service }) }
  const get = (headers: Record<string, string> = {}) =>
    sendToAgent(
      agent,
      address,
      { url, init: { method: 'GET', headers: { Accept: 'application/json', 'A2A-Version': '1.0', ...headers } } },
      { seconds: agent.seconds, authorized: source !== undefined },
    )
  const first = await get()
  const isUnanswered = 'failed' in first && isUnansweredFailure(first.failed)
  const isAbsent = source === undefined && !('failed' in first) && first.status >= 400 && first.status < 500
  const isServed = isCard(readDocument(first))
  const test = {
    id: 'own-card',
    title: 'Serves a card itself',
    claimed: source ? 'the card that this host fetches' : 'none: this host serves the card',
    fetch: async () => first,
    judge: (answer: Answer): Verdict => {
      if (isAbsent) return { result: 'skipped', reason: 'The agent serves no card at the origin of its endpoint.' }
      if (source === undefined && isUnanswered)
        return { result: 'skipped', reason: 'No card is expected there, and the agent does not answer.' }
      return passIf(isServed, 'failed' in answer ? 'The agent does not answer.' : NO_CARD)
    },
  }
  const again = {
    id: 'own-card-not-modified',
    title: 'Answers 304 if the client already has its own card',
    claimed: 'HTTP 304 for the entity tag of the card',
    fetch: async () => getAgain(first, get),
    judge: judgeNotModified,
  }
  return [await run('direct', test), ...(isServed ? [await run('direct', again)] : [])]
}
