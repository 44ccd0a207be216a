import Table from 'cli-table3'
import colors from 'picocolors'
import { callable, callLines } from './call-lines.ts'
import type { Shown, ShownAgent } from './shown-agents.ts'

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

/** The agents of a host that runs here, and what to try first; `authorization` is the admin's header, quoted. */
export const agentsText = (url: string, { agents, root, hasRootCard }: Shown, authorization: string): string => {
  const called = agents.some(({ id, internal }) => id === callable && !internal)
  const table = new Table(bare)
  for (const agent of agents) table.push([agent.name, `${url}/agents/${agent.id}/`, colors.dim(marksOf(agent, root))])
  return [
    ...(agents.length > 0
      ? [table.toString().replace(/ +$/gm, '')]
      : ['No agents yet: npx sync-card sends those of cards/.']),
    ...group('Try:', cardLines(url, root, hasRootCard)),
    ...group(
      'Call an agent through the gate (a message, a stream, a call that its card does not allow; its extended card):',
      called ? callLines(url, authorization) : [],
    ),
    'Ctrl-C stops. What is registered stays in .wrangler/state.',
  ].join('\n')
}

const marksOf = ({ id, internal }: ShownAgent, root: string | undefined): string =>
  internal ? 'internal' : id === root ? 'root' : ''

const cardLines = (url: string, root: string | undefined, hasRootCard: boolean): string[] => [
  ...(hasRootCard ? [`curl ${url}/.well-known/agent-card.json`] : []),
  ...(root === undefined
    ? []
    : [
        `curl '${url}/agents/${root}?dialect=gopherhole'`,
        `curl -H 'A2A-Version: 1.0' ${url}/agents/${root}/.well-known/agent-card.json`,
      ]),
]

const group = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [title, ...lines.map(line => colors.cyan(`  ${line}`))]
