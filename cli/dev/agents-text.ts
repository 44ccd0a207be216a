import Table from 'cli-table3'
import colors from 'picocolors'

/** One agent as the host lists it. */
export type ListedAgent = { id: string; name: string }

/** The agents of a host that runs here, and what to try first. */
export const agentsText = (url: string, agents: readonly ListedAgent[]): string => {
  const table = new Table({ head: ['id', 'name', 'card'], style: { head: [], border: [] } })
  for (const { id, name } of agents) table.push([id, name, `${url}/agents/${id}/.well-known/agent-card.json`])
  const first = agents[0]?.id
  return [
    table.toString(),
    'Try:',
    colors.cyan(`  curl ${url}/.well-known/agent-card.json`),
    ...(first ? [colors.cyan(`  curl '${url}/agents/${first}/.well-known/agent-card.json?dialect=1.0'`)] : []),
    'Ctrl-C stops. What is registered stays in .wrangler/state.',
  ].join('\n')
}
