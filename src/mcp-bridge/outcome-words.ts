import { toJsonRpcError } from '../a2a/error-response.ts'
import type { JsonObject } from '../json/json.ts'
import { partsOf } from './result-parts.ts'
import type { Outcome } from './results.ts'
import type { Full } from './shares.ts'

/** What a task's status says to people, as parts of A2A v1.0, and to programs. */
export type Words = { parts: JsonObject[]; metadata?: JsonObject }

/** Words as the one text of a status. */
export const said = (text: string, reason?: string): Words => ({
  parts: [{ text, mediaType: 'text/plain' }],
  ...(reason !== undefined && { metadata: { reason } }),
})

/** What is said of a task that was not begun, because too many run. */
export const tooMany = (full: Full): Words => said(`${running[full]} Send the message again later.`, exhausted)

const exhausted = 'RESOURCE_EXHAUSTED'

const running: Readonly<Record<Full, string>> = {
  all: 'As many tools of this agent run as may run at once.',
  account: 'As many tools of this agent run for you as one caller may have running at once.',
  unknown: 'As many tools of this agent run as callers without a token may have running at once.',
}

const crowded =
  'The tool has run, but its answer is large, and too many large answers are under way. Send the message again later.'

/** What is said of a tool's call that failed: in the tool's words, in its server's, or in those that calls fail with elsewhere. */
export const failureWords = (outcome: Outcome): Words => {
  if ('result' in outcome) {
    const parts = partsOf(outcome.result)
    return parts.length > 0
      ? { parts, metadata: { reason: 'TOOL_FAILED' } }
      : said('The tool failed, and does not say why.', 'TOOL_FAILED')
  }
  if ('refused' in outcome) return said(outcome.refused, 'MCP_SERVER_REFUSED')
  if ('notReady' in outcome) return said("The tool's server is not ready. Try again later.", 'MCP_SERVER_NOT_READY')
  if ('crowded' in outcome) return said(crowded, exhausted)
  if ('unusable' in outcome) return said(outcome.unusable, 'INVALID_AGENT_RESPONSE')
  const { message, data } = toJsonRpcError(outcome.failure, '0.3')
  return { ...said(message), ...(data && !Array.isArray(data) && { metadata: data }) }
}
