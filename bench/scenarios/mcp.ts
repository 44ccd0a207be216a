import { compare, type Setting, warmUp } from '../compare.ts'
import { callBody, quickCard, rpcCall, samePost, toolCall } from '../requests.ts'
import { cores, originOf, registerAt, startHost, startWorker } from '../servers.ts'
import type { Figure, Interval } from '../stats.ts'
import { checkForwarding, gatewayTo } from './calls.ts'

const id = 'weather'
const text = 'weather in Tokyo'

const TOOL_CALL = 'call of a tool, beside the same over A2A'
/** The CPU time that the call of a tool may take, beside the A2A call that it makes. */
const MAX_FACTOR = 1.5

/** Calls of a tool by an MCP client, beside the same message to the same agent over A2A: both make one call of the agent. */
export const toolCalls = async (setting: Setting): Promise<Figure[]> => {
  const { effort } = setting
  const agent = await startWorker('agent', {}, cores.load)
  const upstream = originOf(agent)
  const host = await startHost(setting, { vars: { ALLOWED_ORIGINS: upstream } })
  const card = quickCard(id)
  // A tool of an agent that streams would ask for a stream.
  const capabilities = { ...card.capabilities, streaming: false }
  await registerAt(host, id, { card: { ...card, capabilities }, ...gatewayTo(upstream) })
  const message = rpcCall(id, callBody('SendMessage', text))
  const tool = toolCall(id, 'forecast', text)
  for (const call of [message, tool]) {
    await checkForwarding(host, call)
    await warmUp(host, samePost(call), 10 * effort.warmUp)
  }
  const figures = await compare(
    { name: 'call over A2A', server: host, requests: samePost(message) },
    [{ name: TOOL_CALL, server: host, requests: samePost(tool), better: 'higher' }],
    effort,
  )
  await Promise.all([agent, host].map(server => server.stop()))
  const cpu = figures.find(({ name }) => name === TOOL_CALL)?.cpu
  const bound = { max: MAX_FACTOR }
  return cpu ? [...figures, { name: `${TOOL_CALL}: CPU time`, unit: 'ratio', value: inverse(cpu), bound }] : figures
}

const inverse = ({ median, low, high }: Interval): Interval => ({ median: 1 / median, low: 1 / high, high: 1 / low })
