import { formatPointer } from '../../json/index.ts'
import type { Manifest } from '../manifest/index.ts'
import {
  type AgentCard,
  callBindings,
  collectModes,
  findBridgedTarget,
  type Note,
  toTarget,
  translatedProtocols,
  type WireVersion,
  wireVersionOf,
} from '../model/index.ts'

/**
 * Returns what the translation of calls cannot carry, and what is not forwarded, as far as the card of an agent shows
 * it. `card` has the agent's own interfaces. What one call or answer loses is reported with it.
 */
export const bridgeLosses = ({ route, bridge }: Pick<Manifest, 'route' | 'bridge'>, card: AgentCard): Note[] => {
  const own = route === 'gateway' ? card.supportedInterfaces.flatMap(each => toTarget(each) ?? []) : []
  const pairs = translatedProtocols(own, bridge).map(from => ({ from, to: findBridgedTarget(from, own, bridge) }))
  const isTranslated = (client: WireVersion, agent: WireVersion): boolean =>
    pairs.some(({ from, to }) => from.version === client && to?.version === agent)
  return [
    ...notForwarded(route, card),
    ...(isTranslated('1.0', '0.3') ? lossesOfNewClients(card) : []),
    ...(isTranslated('0.3', '1.0') ? lossesOfOldClients(card) : []),
  ]
}

/** What this host can forward, for messages. */
export const forwardable = `${callBindings.join(' or ')} of A2A ${new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(wireVersionOf.keys())}`

/** Returns notes on the interfaces that a gateway leaves out, or on those of an agent that has only gRPC. */
const notForwarded = (route: Manifest['route'], { supportedInterfaces: interfaces }: AgentCard): Note[] =>
  interfaces.flatMap((each, index) => {
    const { protocolBinding: binding, protocolVersion: version } = each
    const isLeftOut = route === 'gateway' && !toTarget(each)
    const isDirect = route === 'direct' && binding === 'GRPC' && !interfaces.some(toTarget)
    if (!isLeftOut && !isDirect) return []
    const message = isLeftOut
      ? `${binding} ${version} is left out of the card: this host forwards calls over ${forwardable} only`
      : 'this host forwards and checks no calls over gRPC: clients call the agent itself'
    return [{ pointer: formatPointer('supportedInterfaces', index), message }]
  })

const lossesOfNewClients = (card: AgentCard): Note[] => {
  const { capabilities } = card
  return [
    {
      pointer: '/supportedInterfaces',
      message: 'A2A 0.3 has no list of tasks: ListTasks of clients of 1.0 is refused',
    },
    ...(capabilities.pushNotifications === true
      ? [{ pointer: '/capabilities/pushNotifications', message: 'clients of 1.0 get notifications in the form of 0.3' }]
      : []),
    ...(capabilities.stateTransitionHistory === true
      ? [{ pointer: '/capabilities/stateTransitionHistory', message: 'A2A 1.0 has no such capability' }]
      : []),
    ...textLosses('/defaultInputModes', collectModes(card).union.input, 'messages of clients of 1.0'),
  ]
}

const lossesOfOldClients = (card: AgentCard): Note[] => [
  ...(card.capabilities.pushNotifications === true
    ? [
        {
          pointer: '/capabilities/pushNotifications',
          message:
            'clients of 0.3 get notifications in the form of 1.0; of several authentication schemes in a configuration, only the first reaches the agent',
        },
      ]
    : []),
  ...textLosses('/defaultOutputModes', collectModes(card).union.output, 'answers to clients of 0.3'),
]

/** A part with text has a media type in 1.0 only. */
const textLosses = (pointer: string, modes: readonly string[], where: string): Note[] => {
  const types = modes.filter(mode => /^text\/(?!plain\b|\*)/i.test(mode))
  return types.length === 0
    ? []
    : [{ pointer, message: `text has no media type in A2A 0.3: ${types.join(', ')} is lost in ${where}` }]
}
