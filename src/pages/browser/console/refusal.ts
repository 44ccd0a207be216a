import type { AgentCard, CallTarget } from '../../../card/model/index.ts'
import { wireVersions } from '../../../card/model/start.ts'
import { intersects, isJsonObject, type JsonObject, parseJson, parseMediaRange } from '../../../json/index.ts'
import type { Draft } from './agent.ts'
import { type Settings, textOf } from './conversation.ts'
import { CredentialsWithheld, type Exchange } from './recorder.ts'

/** A remedy for a refused call: the label of its button, and what changes before the call is made again. */
export type Fix = {
  label: string
  set?: Partial<Settings>
  /** The extensions to announce. */
  announce?: string[]
  /** The media types of content that is not sent again. */
  leaveOut?: string[]
  /** Set if the person enters a token first. */
  entersToken?: true
}

type Place = { pointer: string; line?: number; lines: string[] }

/** Why a call was refused or failed, and what a person can do about it. */
export type Refusal = {
  title: string
  message: string
  /** The place in the card that refuses the call, with numbered lines. Without lines, the card does not have it. */
  cause?: Place
  fixes: Fix[]
}

type RefusedCall = {
  card: AgentCard
  endpoints: readonly CallTarget[]
  draft: Draft | undefined
  exchange: Exchange | undefined
  error: unknown
  /** Set if this host can forward the call instead. */
  canUseHost: boolean
}

/** Explains why a call has no result. */
export const explainRefusal = (call: RefusedCall): Refusal => {
  const { exchange, error } = call
  if (error instanceof CredentialsWithheld) {
    const fixes: Fix[] = [...throughHost(call), { label: 'Enter another token', entersToken: true }]
    return { title: 'The token was not sent', message: error.message, fixes }
  }
  const wireError = exchange && readWireError(exchange)
  if (wireError) return explainWireError(wireError, call)
  if (exchange && exchange.status === undefined && exchange.failure !== undefined) return explainSilence(call)
  if (exchange && isUnauthorized(exchange))
    return { title: NEEDS_TOKEN, message: `The agent responded with HTTP ${exchange.status}.`, fixes: [enterToken] }
  const title = 'The response cannot be read'
  const message = error instanceof Error ? textOf(error.message).slice(0, 2000) : 'It is not A2A.'
  const maxEventBytes = /size of (\d+) bytes\. Pass maxEventSizeBytes/.exec(message)?.[1]
  if (maxEventBytes === undefined) return { title, message, fixes: [tryAgain] }
  const size = `${Number(maxEventBytes) / 1024 ** 2} MiB`
  const tooLarge = `An event of the stream is larger than ${size}, which is as much as this page reads.`
  return { title, message: tooLarge, fixes: [call.draft ? withoutStreaming : tryAgain] }
}

/** An error of A2A, whatever the version and binding of the call. */
type WireError = { code: number; message: string; reason: string; metadata: JsonObject; violations: string[] }

/** Reads the error from a response: its body, or the last event of its stream. */
const readWireError = ({ head, tail }: Pick<Exchange, 'head' | 'tail'>): WireError | undefined => {
  const text = tail === '' ? head : tail
  const event = text.split('\n').findLast(line => line.startsWith('data:'))
  const parsed = [text, event?.slice('data:'.length) ?? ''].map(each => parseJson(each))
  const document = parsed.map(each => ('value' in each ? each.value : undefined)).find(isJsonObject)
  if (!document) return undefined
  const error = isJsonObject(document.error) ? document.error : document
  const { code, message } = error
  if (typeof message !== 'string' || typeof code !== 'number') return undefined
  const details = [error.data, error.details].flat().filter(isJsonObject)
  const info = details.find(detail => 'reason' in detail) ?? {}
  const violations = details.flatMap(({ fieldViolations }) => fieldViolations).filter(isJsonObject)
  return {
    ...{ code, message, reason: String(info.reason ?? '') },
    // The metadata of 1.0 are members of `data` in 0.3.
    metadata: isJsonObject(info.metadata) ? info.metadata : info,
    violations: violations.map(({ field, description }) => `${textOf(field)}: ${textOf(description)}`),
  }
}

const NEEDS_TOKEN = 'The call needs a token'

const isUnauthorized = ({ status }: Exchange): boolean => /^40[13]/.test(status ?? '')

const enterToken: Fix = { label: 'Enter a token', entersToken: true }
const tryAgain: Fix = { label: 'Try again' }
const withoutStreaming: Fix = { label: 'Send without streaming', set: { delivery: 'whole' } }

const throughHost = ({ canUseHost }: RefusedCall): Fix[] =>
  canUseHost ? [{ label: 'Send it through this host', set: { route: 'host' } }] : []

const explainSilence = (call: RefusedCall): Refusal => {
  const { origin } = new URL(call.exchange?.url ?? location.href)
  if (origin === location.origin)
    return { title: 'No response', message: 'The host could not be reached. Check the connection.', fixes: [tryAgain] }
  const message =
    `This agent is called at its own address, ${origin}. It may be down; more likely it does not let pages of ` +
    'other origins read its responses (CORS), or it responded with a redirect. Programs outside of a browser are not ' +
    'affected.'
  return { title: 'The browser got no response', message, fixes: [...throughHost(call), tryAgain] }
}

const explainWireError = ({ code, message, reason, metadata, violations }: WireError, call: RefusedCall): Refusal => {
  const { card, endpoints } = call
  const accepted = listOf(metadata.accepted)
  const refuse = (pointer: string, ...fixes: Fix[]): Refusal => ({
    ...{ title: 'The call was refused', message, cause: findLines(card, pointer), fixes },
  })
  if (metadata.capability === 'streaming') return refuse('/capabilities/streaming', withoutStreaming)
  if (metadata.capability === 'extendedAgentCard') return refuse('/capabilities/extendedAgentCard')
  if (reason === 'EXTENSION_SUPPORT_REQUIRED') {
    const announce = listOf(metadata.missing)
    const index = card.capabilities?.extensions?.findIndex(({ uri }) => announce.includes(uri)) ?? -1
    const pointer = `/capabilities/extensions${index < 0 ? '' : `/${index}`}`
    return refuse(pointer, { label: 'Announce these extensions and send again', announce })
  }
  if (code === -32005 || reason === 'CONTENT_TYPE_NOT_SUPPORTED')
    return refuse(...explainModes(listOf(metadata.offered), accepted, call))
  if (code === -32009 || reason === 'VERSION_NOT_SUPPORTED') {
    const versions = wireVersions.toReversed().filter(version => accepted.includes(version))
    const fixes = versions.map(version => {
      const index = endpoints.findIndex(each => each.version === version)
      return { label: `Send it as A2A ${version}`, set: { endpoint: String(index) } }
    })
    return refuse('/supportedInterfaces', ...fixes)
  }
  const isDenied = ['UNAUTHENTICATED', 'PERMISSION_DENIED'].includes(reason)
  if (isDenied || (call.exchange && isUnauthorized(call.exchange))) {
    // The host can require a token that the card does not mention.
    const cause = findLines(card, '/securityRequirements')
    return { title: NEEDS_TOKEN, message, ...(cause.line !== undefined && { cause }), fixes: [enterToken] }
  }
  const title = reason.startsWith('AGENT_') ? 'The agent did not respond' : 'The call was refused'
  if (code === -32001 || reason === 'TASK_NOT_FOUND')
    return { title, message, fixes: [{ label: 'Start a new conversation', set: { continuation: 'new' } }] }
  return { title, message: [message, ...violations].join('\n'), fixes: [tryAgain] }
}

/** The gate lists modes as one text in 1.0 and as a list in 0.3. */
const listOf = (value: unknown): string[] => {
  const items = typeof value === 'string' ? value.split(', ') : [value].flat()
  return items.filter(item => typeof item === 'string').filter(item => item !== '')
}

/** Explains refused media types. The error does not tell input from output, but the gate checks the input first. */
const explainModes = (offered: string[], accepted: string[], { card, draft }: RefusedCall): [string, ...Fix[]] => {
  const isAccepted = (type: string) => accepted.some(range => intersects(parseMediaRange(type), parseMediaRange(range)))
  const wanted = draft?.acceptedOutputModes ?? []
  const isOutput = offered.length > 0 && offered.every(type => wanted.includes(type)) && !wanted.some(isAccepted)
  const index = card.skills.findIndex(({ id }) => id === draft?.skillId)
  const own = card.skills[index]?.[isOutput ? 'outputModes' : 'inputModes']
  const direction = isOutput ? 'Output' : 'Input'
  const pointer = own?.length ? `/skills/${index}/${direction.toLowerCase()}Modes` : `/default${direction}Modes`
  if (!isOutput) return [pointer, { label: `Send without the ${offered.join(', ')} part`, leaveOut: offered }]
  return [pointer, ...accepted.slice(0, 5).map(mode => ({ label: `Accept ${mode}`, set: { modes: mode } }))]
}

const MAX_CAUSE_LINES = 8

/** Finds a place in the card as it is printed with an indent of two, as the card page shows it. */
const findLines = (card: object, pointer: string): Place => {
  let value: unknown = card
  let line = 1
  for (const segment of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return { pointer, lines: [] }
    line += 1
    for (const [name, member] of Object.entries(value)) {
      value = member
      if (name === segment) break
      line += countLines(member)
    }
  }
  const lines = JSON.stringify(card, null, 2)
    .split('\n')
    .slice(line - 1, line - 1 + countLines(value))
  const shown = lines.slice(0, MAX_CAUSE_LINES).map((text, index) => `${String(line + index).padStart(4)}  ${text}`)
  return { pointer, line, lines: lines.length > shown.length ? [...shown, '      …'] : shown }
}

const countLines = (value: unknown): number => JSON.stringify(value, null, 2).split('\n').length
