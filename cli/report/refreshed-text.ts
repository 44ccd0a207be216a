import colors from 'picocolors'
import type { Change, Refreshed } from '../host/sources.ts'

const marks: Record<string, string> = { add: '+', remove: '-', replace: '~' }

/** What came of reading an agent's card again, for people. */
export const refreshedText = (id: string, { outcome, drift, notes, held }: Refreshed): string => {
  if (!held) return [`${outcome} ${colors.bold(id)}`, ...drift.map(changeLine), ...notes.map(noteLine)].join('\n')
  return [
    `${colors.yellow('held')} ${colors.bold(id)} · its new card would widen access, so the old one is served still:`,
    ...held.widens.map(({ pointer, message }) => `    ${plain(`${pointer} ${message}`)}`),
    '  all that it changes:',
    ...held.drift.map(changeLine),
    `  To take it: ${colors.cyan(`npx sync-card refresh ${id} --accept '${plain(held.etag)}'`)}`,
  ].join('\n')
}

const noteLine = ({ pointer, message }: Refreshed['notes'][number]): string =>
  `    its card: ${plain(`${pointer} ${message}`)}`

const changeLine = ({ op, pointer, before, after }: Change): string => {
  const values = [before, after].filter(value => value !== undefined).map(short)
  return `    ${marks[op] ?? op} ${plain(pointer)} ${values.join(' → ')}`
}

const short = (value: unknown): string => {
  const text = plain(JSON.stringify(value))
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}

/** What a host says is no command for a terminal. */
const plain = (text: string): string => text.replace(/\p{Cc}/gu, '')
