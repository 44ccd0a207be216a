import type { Environment } from '../environment.ts'
import { localToken } from '../settings.ts'

/** The id of the sample that there is an agent behind. */
export const callable = 'echo'

/**
 * Commands that call the sample agent through the gate: a message, a stream, a call that its card does not allow, and its
 * extended card. Each can be pasted as it is.
 */
export const callLines = (url: string, authorization: string): string[] => [
  `curl ${url}/agents/${callable} ${json} -d '${call('SendMessage', 'hello')}'`,
  `curl -N ${url}/agents/${callable} ${json} -d '${call('SendStreamingMessage', 'stream one two three')}'`,
  `curl ${url}/agents/${callable} ${json} -d '${call('SendMessage', 'hello', { acceptedOutputModes: ['image/png'] })}'`,
  `curl -H ${authorization} ${url}/agents/${callable}/a2a/extendedAgentCard`,
]

/** The id of the sample that is an MCP server. */
export const toolBox = 'tool-box'

/** Commands that show an MCP server as an agent: the card that was made of it, and a message that calls one of its tools. */
export const toolLines = (url: string): string[] => [
  `curl '${url}/agents/${toolBox}?dialect=superx'`,
  `curl ${url}/agents/${toolBox} ${json} -d '${sent('SendMessage', { data: { tool: 'count_words', arguments: { text: 'one two three' } } })}'`,
]

const json = "-H 'Content-Type: application/json'"

const call = (method: string, text: string, configuration?: object): string => sent(method, { text }, configuration)

const sent = (method: string, part: object, configuration?: object): string => {
  const message = { messageId: '1', role: 'ROLE_USER', parts: [part] }
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { message, configuration } })
}

/** The admin token's header for a shell, quoted. The token itself is shown only where it is nobody's secret. */
export const quotedAuthorization = ({ ADMIN_TOKEN: own }: Environment, shell: Environment): string =>
  own === undefined
    ? `'Authorization: Bearer ${localToken}'`
    : `"Authorization: Bearer ${shell.ADMIN_TOKEN ? '$ADMIN_TOKEN' : '$(node --env-file=.env -p process.env.ADMIN_TOKEN)'}"`
