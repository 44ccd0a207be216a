import { plural } from '../../text/index.ts'
import { element } from '../elements/index.ts'
import type { Note, Report } from './answers.ts'
import { agentPath } from './client.ts'
import { type Agent, code, list, message, noteList, paragraph, prose, section } from './view.ts'

const SEVERITIES = [
  ['error', 'Errors', 'They break clients.'],
  ['warning', 'Warnings', 'They mislead clients.'],
  ['info', 'Suggestions', 'They would improve the card.'],
] as const

/** The report on an agent: what `POST /lint` finds in its manifest, or in the card that was fetched. */
export const reportSection = ({ id, visibility, context: { client }, readNewest }: Agent): HTMLElement =>
  section('Report', async () => {
    const manifest = await client.request<Record<string, unknown>>(agentPath(id, 'manifest'))
    const isRemote = hasRemoteCard(manifest)
    const card = isRemote ? (await readNewest()).card : undefined
    if (isRemote && card === undefined) return [paragraph('No card was ever fetched, so there is nothing to check.')]
    const report = await client.request<Report>('/lint', {
      method: 'POST',
      body: isRemote ? { card, visibility } : manifest,
    })
    const subject = isRemote
      ? 'This is about the card that was fetched, as this host serves it.'
      : 'This is about the manifest as it was registered.'
    return [message(...summarize(report)), paragraph(subject, { class: 'muted' }), ...renderReport(report)]
  })

const hasRemoteCard = ({ upstream }: Record<string, unknown>): boolean =>
  typeof upstream === 'object' && upstream !== null && ('card' in upstream || 'mcp' in upstream)

const summarize = ({ valid, errors, issues = [] }: Report): ['good' | 'warn' | 'bad', string] => {
  if (!valid) return ['bad', `This host would not register it again as it is: ${plural(errors.length, 'error')}.`]
  if (issues.length === 0) return ['good', 'Nothing to improve.']
  const counts = SEVERITIES.flatMap(([severity, title]) => {
    const count = issues.filter(issue => issue.severity === severity).length
    return count === 0 ? [] : [plural(count, title.toLowerCase().slice(0, -1))]
  })
  return [issues.some(({ severity }) => severity === 'error') ? 'bad' : 'warn', `Found: ${counts.join(', ')}.`]
}

const renderReport = ({
  errors,
  issues = [],
  filled,
  converted,
  lossy,
  signatures,
  dropped = {},
}: Report): HTMLElement[] => [
  ...(errors.length > 0 ? [noteList(errors)] : []),
  ...SEVERITIES.flatMap(([severity, title, meaning]) => {
    const found = issues.filter(issue => issue.severity === severity)
    if (found.length === 0) return []
    const items = found.map(({ pointer, message, rule }) => [
      code(pointer || '(whole card)'),
      ' ',
      ...prose(message),
      ` (${rule})`,
    ])
    return [element('h4', {}, `${title}: `, element('span', { class: 'muted' }, meaning)), list(items)]
  }),
  ...folded('Filled in', 'What the card lacks, and this host adds.', filled),
  ...folded('Read in another form', 'What the card has in another form than that of A2A.', converted),
  ...folded('Lost in translation', 'What clients of other versions or bindings do not get.', lossy),
  ...folded('Signatures', 'What became of those of the author, and what this host signs.', signatures),
  ...folded(
    'Left out of other dialects',
    'Fields for which a dialect has no place.',
    Object.entries(dropped).flatMap(([dialect, pointers]) =>
      pointers.map(pointer => ({ pointer, message: `in ${dialect}` })),
    ),
  ),
]

const folded = (title: string, explanation: string, notes: readonly Note[] = []): HTMLElement[] =>
  notes.length === 0
    ? []
    : [
        element(
          'details',
          {},
          element('summary', {}, `${title} (${notes.length})`),
          paragraph(explanation, { class: 'muted' }),
          noteList(notes),
        ),
      ]
