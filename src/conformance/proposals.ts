import type { AgentCard, CallTarget, Counts, Observations, Outcomes, PatchOperation } from '../card/model/index.ts'
import { collectModes, OTHER, toTarget } from '../card/model/index.ts'
import { formatPointer, intersects, type Pointer, parseMediaRange } from '../json/index.ts'

/** A difference between a card and what calls have shown, and the change that would make the card true. */
export type Proposal = {
  /** The name is stable. */
  rule: ObservedRule['id']
  pointer: Pointer
  /** Continues a sentence that begins with the name of the field. */
  message: string
  /** The counts that show the difference. */
  seen: Counts
  /** An operation of JSON Patch (RFC 6902) on the canonical card. */
  change: PatchOperation
}

/** A kind of proposal. Its id is stable, because CI configurations refer to it. */
type ObservedRule = { id: keyof typeof summaries; severity: 'warning'; summary: string }

const summaries = {
  /** True if the agent answered with a stream; false if it streamed none and refused at least three calls for it. */
  'observed-streaming': 'capabilities.streaming is what the calls of the agent have shown.',
  /** The same, for calls that configure push notifications. */
  'observed-push-notifications': 'capabilities.pushNotifications is what the calls of the agent have shown.',
  /** The same, for calls for the extended card that the agent itself returns. */
  'observed-extended-card': 'capabilities.extendedAgentCard is what the calls of the agent have shown.',
  /** `defaultOutputModes` with the others added. */
  'observed-output-modes': 'The output modes include every media type that the agent produced.',
  /** An interface to add; or to remove, if the agent answered no call in its protocol and refused at least three. */
  'observed-interface': 'The interfaces have the bindings and versions in which the agent answered, and no others.',
} as const

/** Every kind of proposal, in the order of a document. */
export const observedRules: readonly ObservedRule[] = Object.entries(summaries).map(([id, summary]) => ({
  id: id as ObservedRule['id'],
  severity: 'warning',
  summary,
}))

/** Fewer refusals may have another reason, such as a task that has ended. */
const MIN_REFUSALS = 3

/** Media types in one message; `seen` has all of them. */
const MAX_LISTED_TYPES = 10

/**
 * The canonical card of an agent with its own URLs, the endpoints that calls are forwarded to, and the output modes of
 * its extended cards, which only some callers may read.
 */
type Declared = { card: AgentCard; targets: readonly CallTarget[]; extendedOutputModes: readonly string[] }

/** Compares a card with what the calls of its agent have shown. Pointers are into the canonical card. */
export const compareWithObservations = (declared: Declared, observations: Observations): Proposal[] => [
  ...capabilities.flatMap(capability => compareCapability(declared, observations, capability)),
  ...compareOutputModes(declared, observations.mediaTypes),
  ...compareInterfaces(declared, observations.protocols),
]

/** The capabilities that calls show, with their rules, and words for calls that need them and for their success. */
const capabilities = [
  ['streaming', 'observed-streaming', 'asked for a stream', 'answered with a stream'],
  ['pushNotifications', 'observed-push-notifications', 'configured push notifications', 'accepted'],
  ['extendedAgentCard', 'observed-extended-card', 'asked for the extended card', 'answered'],
] as const

const compareCapability = (
  { card }: Declared,
  observations: Observations,
  [name, rule, calls, answered]: (typeof capabilities)[number],
): Proposal[] => {
  const outcomes = name === 'extendedAgentCard' ? observations.operations.extendedCard : observations[name]
  if (outcomes === undefined) return []
  const isDeclared = card.capabilities[name] === true
  const isAlwaysRefused = outcomes.answered === 0 && outcomes.refused >= MIN_REFUSALS
  if (isDeclared ? !isAlwaysRefused : outcomes.answered === 0) return []
  const pointer = formatPointer('capabilities', name)
  const made = `but of ${countCalls(outcomes)} that ${calls}`
  const message = isDeclared
    ? `is true, ${made} none was ${answered}, and ${outcomes.refused} were refused as not supported`
    : `is not true, ${made} ${outcomes.answered} ${outcomes.answered === 1 ? 'was' : 'were'} ${answered}`
  return [{ rule, pointer, message, seen: outcomes, change: { op: 'add', path: pointer, value: !isDeclared } }]
}

const compareOutputModes = ({ card, extendedOutputModes }: Declared, mediaTypes: Counts): Proposal[] => {
  const ranges = [...new Set([...collectModes(card).union.output, ...extendedOutputModes])].map(parseMediaRange)
  const isDeclared = (type: string) => ranges.some(range => intersects(parseMediaRange(type), range))
  const missing = Object.entries(mediaTypes).filter(([type]) => type !== OTHER && !isDeclared(type))
  if (missing.length === 0) return []
  const listed = missing.slice(0, MAX_LISTED_TYPES).map(([type, times]) => `${type} (in ${count(times, 'result')})`)
  const more = missing.length - listed.length
  const pointer = '/defaultOutputModes'
  const value = [...card.defaultOutputModes, ...missing.map(([type]) => type)]
  const message = `do not include what the agent produced: ${listed.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  const seen = Object.fromEntries(missing)
  return [{ rule: 'observed-output-modes', pointer, message, seen, change: { op: 'add', path: pointer, value } }]
}

const compareInterfaces = ({ card, targets }: Declared, protocols: Observations['protocols']): Proposal[] => {
  const declared = card.supportedInterfaces.map(each => protocolOf(toTarget(each)))
  return Object.entries(protocols).flatMap(([protocol, seen]): Proposal[] => {
    const { answered, refused } = seen
    const index = declared.indexOf(protocol)
    const rule = 'observed-interface'
    if (targets.some(target => protocolOf(target) === protocol)) {
      if (answered > 0 || refused < MIN_REFUSALS || index < 0) return []
      const pointer = formatPointer('supportedInterfaces', index)
      const made = `but of ${countCalls(seen)} in it the agent refused ${refused} and answered none`
      return [
        { rule, pointer, message: `declares ${protocol}, ${made}`, seen, change: { op: 'remove', path: pointer } },
      ]
    }
    const [binding, version] = protocol.split(' ')
    const sibling = targets.find(target => target.binding === binding)
    if (answered === 0 || !sibling) return []
    const value = { url: sibling.url, protocolBinding: binding, protocolVersion: version }
    const message = `lacks ${protocol}, in which the agent answered ${answered} of ${countCalls(seen)}`
    const change = { op: 'add', path: '/supportedInterfaces/-', value } as const
    return [{ rule, pointer: '/supportedInterfaces', message, seen, change }]
  })
}

const protocolOf = (target: Pick<CallTarget, 'binding' | 'version'> | undefined): string | undefined =>
  target && `${target.binding} ${target.version}`

const countCalls = ({ answered, refused, failed }: Outcomes): string => count(answered + refused + failed, 'call')

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
