import type { FetchFailure } from '../http/fetch-resource.ts'
import { CLOUDFLARE_ERRORS } from '../http/network-failures.ts'
import type { Json } from '../json/json.ts'
import type { SourceFailure } from '../registry/source-failure.ts'

/** What this host does not call looks like what does not answer: else its owners could map what is around it. */
const unreachable: SourceFailure = {
  status: 502,
  code: 'unreachable',
  message:
    "The card's address cannot be reached. See that it is right, public and https; the log of this host says more.",
}

const timeout: SourceFailure = {
  status: 504,
  code: 'timeout',
  message: "The card's address did not answer in time.",
}

/** What an owner is told of a card that could not be fetched. */
export const fetchFailure = (failure: Exclude<FetchFailure, { failed: 'unchanged' }>): SourceFailure => {
  switch (failure.failed) {
    case 'blocked':
    case 'unreachable':
      return unreachable
    case 'timeout':
      return timeout
    case 'redirect':
      return { ...unreachable, message: `The card's address redirects ${failure.detail}.` }
    case 'status':
      return statusFailure(failure.status)
    case 'type':
      return notACard(typeText(failure.type))
    case 'too-large':
      return notACard(`The card holds ${failure.detail}.`)
    case 'not-text':
      return notACard('The card is not text in UTF-8.')
  }
}

const statusFailure = (status: number): SourceFailure => {
  const network = CLOUDFLARE_ERRORS.get(status)
  if (network !== undefined) return network.failed === 'timeout' ? timeout : unreachable
  return { ...unreachable, message: `The card's address answered HTTP ${status}.` }
}

const typeText = (type: string): string => {
  if (type === '') return "The card's address answered without a Content-Type; a card is application/json."
  if (/\bhtml\b/.test(type)) return "The card's address answered with a page (HTML), not with a card as JSON."
  return `The card's address answered ${type}; a card is application/json.`
}

/** What came is no Agent Card, as `message` says. */
export const notACard = (message: string): SourceFailure => ({ status: 502, code: 'invalid-card', message })

/** What came does not parse, for the reason that the parser tells. */
export const notJson = (why: string): SourceFailure =>
  notACard(`The card's address answered what is no JSON card. ${why.replace(/[^.]$/, '$&.')}`)

/** What came is JSON, but no object. */
export const notAnObject = (value: Json): SourceFailure =>
  notACard(`The card's address answered ${whatItIs(value)}; an Agent Card is a JSON object.`)

const whatItIs = (value: Json): string => {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}

/** What the manifest names is not there. */
export const misconfigured = (message: string): SourceFailure => ({ status: 502, code: 'unreachable', message })

/** A card cannot come from where it goes. */
export const thisHost = misconfigured(
  "The card's address is this host itself. Name the one where the agent publishes its card.",
)
