import Table from 'cli-table3'
import colors from 'picocolors'
import type { Token } from '../host/tokens.ts'

/** Nothing but columns, two spaces apart. */
const bare = {
  chars: Object.fromEntries(
    ['top', 'bottom', 'left', 'right', 'mid']
      .flatMap(side => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
      .concat('mid-mid', 'middle')
      .map(place => [place, place === 'middle' ? '  ' : '']),
  ),
  style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
}

/** The tokens of a host as a table, for people; `now` in ms since 1970 tells which have expired. */
export const tokensText = (tokens: readonly Token[], now: number): string => {
  if (tokens.length === 0) return 'No tokens beside the ADMIN_TOKEN: sync-card token create issues one.'
  const table = new Table({ ...bare, head: ['id', 'scopes', 'agents', 'tiers', 'expires', 'note'].map(colors.dim) })
  for (const token of tokens) table.push([token.id, ...wordsOf(token, now), plain(token.note)])
  return table.toString().replace(/ +$/gm, '')
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
