import colors from 'picocolors'
import type { Change, Refreshed } from '../host/sources.ts'

const marks: Record<string, string> = { add: '+', remove: '-', replace: '~' }

/** What came of reading an agent's card again, for people; `url` is the host's, where the command was told it. */
export const refreshedText = (id: string, { outcome, drift, notes, held }: Refreshed, url?: string): string => {
  if (!held) return [`${outcome} ${colors.bold(id)}`, ...drift.map(changeLine), ...notes.map(noteLine)].join('\n')
  return [
    `${colors.yellow('held')} ${colors.bold(id)} · its new card would widen access, so the old one is served still:`,
    ...held.widens.map(({ pointer, message }) => `    ${plain(`${pointer} ${message}`)}`),
    '  all that it changes:',
    ...held.drift.map(changeLine),
    `  To take it: ${colors.cyan(`npx sync-card refresh ${id}${url === undefined ? '' : ` --url ${url}`} --accept '${plain(held.etag)}'`)}`,
  ].join('\n')
}

const noteLine = ({ pointer, message }: Refreshed['notes'][number]): string =>
  `    its card: ${plain(`${pointer} ${message}`)}`

const changeLine = ({ op, pointer, before, after, leftOut = [], count }: Change): string => {
  if (op === 'more') return `    … and ${count} more`
  const said = { before, after }
  const values = (['before', 'after'] as const).flatMap(when =>
    leftOut.includes(when) ? ['(too long to show)'] : said[when] === undefined ? [] : [short(said[when])],
  )
  return `    ${marks[op] ?? op} ${plain(pointer)} ${values.join(' → ')}`
}

const short = (value: unknown): string => {
  const text = plain(JSON.stringify(value))
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}

/** What a host says is no command for a terminal. */
const plain = (text: string): string => text.replace(/\p{Cc}/gu, '')
