import colors from 'picocolors'
import type { Token } from '../host/tokens.ts'
import { bareTable } from './bare-table.ts'

/** The tokens of a host as a table, for people; `now` in ms since 1970 tells which have expired. */
export const tokensText = (tokens: readonly Token[], now: number): string => {
  if (tokens.length === 0) return 'No tokens beside the ADMIN_TOKEN: sync-card token create issues one.'
  const head = ['id', 'scopes', 'agents', 'tiers', 'expires', 'note'].map(colors.dim)
  return bareTable(
    tokens.map(token => [token.id, ...wordsOf(token, now), plain(token.note)]),
    head,
  )
}

/** What a token is good for, in one line. */
export const tokenText = (token: Token, now: number): string => {
  const [scopes, agents, tiers, expires] = wordsOf(token, now)
  return `${token.id}: ${scopes} of ${agents}${token.tiers.length > 0 ? `, tiers ${tiers}` : ''}, expires ${expires}`
}

const wordsOf = ({ scopes, agents, tiers, expires }: Token, now: number): [string, string, string, string] => [
  listed(scopes),
  listed(agents),
  listed(tiers) || '-',
  expires === null ? 'never' : Date.parse(expires) > now ? expires : colors.yellow(`expired ${expires}`),
]

const listed = (words: readonly string[]): string => plain(words.join(', '))

/** What a host says is no command for a terminal. */
const plain = (text: string): string => text.replace(/\p{Cc}/gu, '')
