import colors from 'picocolors'
import { bareTable } from '../report/bare-table.ts'
import { callable, callLines, toolBox, toolLines } from './call-lines.ts'
import type { Shown, ShownAgent } from './shown-agents.ts'

/** The agents of a host that runs here, and what to try first; `authorization` is the admin's header, quoted. */
export const agentsText = (url: string, { agents, root, hasRootCard }: Shown, authorization: string): string => {
  const isCalled = (sample: string) => agents.some(({ id, shown }) => id === sample && shown === 'public')
  const rows = agents.map(agent => [agent.name, `${url}/agents/${agent.id}/`, colors.dim(marksOf(agent, root))])
  return [
    ...(agents.length > 0 ? [bareTable(rows)] : ['No agents yet: npx sync-card sends those of cards/.']),
    ...group('Try:', cardLines(url, root, hasRootCard)),
    ...group(
      'Call an agent through the gate (a message, a stream, a call that its card does not allow; its extended card):',
      isCalled(callable) ? callLines(url, authorization) : [],
    ),
    ...group(
      'An MCP server as an agent: the card that is made of it, and a message that calls a tool:',
      isCalled(toolBox) ? toolLines(url) : [],
    ),
    'Ctrl-C stops. What is registered stays in .wrangler/state.',
  ].join('\n')
}

const marks: Record<ShownAgent['shown'], string> = {
  public: '',
  internal: 'internal',
  awaited: 'its card has not come yet',
}

const marksOf = ({ id, shown }: ShownAgent, root: string | undefined): string => (id === root ? 'root' : marks[shown])

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
