import { plural } from '../../text/index.ts'
import { element } from '../elements/index.ts'
import type { Observed } from './answers.ts'
import { agentPath } from './client.ts'
import { type Agent, code, list, message, paragraph, prose, section, time } from './view.ts'
import { describeObserved } from './words.ts'

/** What the calls of an agent have shown, in words, and where its card differs. */
export const observedSection = ({ id, context: { client } }: Agent): HTMLElement =>
  section('Observed calls', async () => {
    const observed = await client.request<Observed>(agentPath(id, 'observed'))
    const { calls, since, lastSeen } = observed
    return [
      ...(since !== undefined && lastSeen !== undefined
        ? [element('p', {}, `${plural(calls, 'call')} since `, time(since), '; the last one at ', time(lastSeen), '.')]
        : []),
      list(describeObserved(observed).map(prose)),
      ...(calls > 0 ? compareWithCard(observed.proposals) : []),
    ]
  })

const compareWithCard = (proposals: Observed['proposals']): HTMLElement[] => {
  if (!proposals)
    return [message('warn', 'The calls cannot be compared, because this host has no valid card of the agent.')]
  if (proposals.length === 0) return [message('good', 'The card fits what the calls have shown.')]
  return [
    message('warn', `The card differs from what the calls have shown in ${plural(proposals.length, 'place')}.`),
    list(
      proposals.map(({ pointer, message, rule, change }) => [
        code(pointer || '(whole card)'),
        ' ',
        ...prose(message),
        ` (${rule})`,
        element('br'),
        change.op === 'remove' ? 'To correct the card, remove ' : 'To correct the card, write ',
        ...(change.op === 'remove' ? [] : [code(JSON.stringify(change.value)), ' at ']),
        code(change.path),
        '.',
      ]),
    ),
    paragraph('Pointers of corrections are into the card in the form of A2A 1.0.', { class: 'muted' }),
  ]
}
