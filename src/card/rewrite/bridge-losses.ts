import type { Manifest } from '../manifest/manifest.ts'
import type { AgentCard } from '../model/agent-card.ts'
import { collectModes, findBridgedTarget, toTarget, translatedProtocols, type WireVersion } from '../model/calls.ts'
import type { Note } from '../model/report.ts'

/**
 * Returns what the translation of calls cannot carry, as far as the card of a gateway's agent shows it. `card` has the agent's own
 * interfaces. What one call or answer loses is reported with it.
 */
export const bridgeLosses = ({ route, bridge }: Pick<Manifest, 'route' | 'bridge'>, card: AgentCard): Note[] => {
  const own = route === 'gateway' ? card.supportedInterfaces.flatMap(each => toTarget(each) ?? []) : []
  const pairs = translatedProtocols(own, bridge).map(from => ({ from, to: findBridgedTarget(from, own, bridge) }))
  const isTranslated = (client: WireVersion, agent: WireVersion): boolean =>
    pairs.some(({ from, to }) => from.version === client && to?.version === agent)
  return [
    ...(isTranslated('1.0', '0.3') ? lossesOfNewClients(card) : []),
    ...(isTranslated('0.3', '1.0') ? lossesOfOldClients(card) : []),
  ]
}

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
