import type { Failure } from '../a2a/verdict.ts'
import { limits } from '../limits.ts'
import type { McpError } from '../mcp/errors.ts'
import type { ToolResult } from './result-parts.ts'

/** What came of a tool's call. `detail` is for the log of the owner. */
export type Outcome =
  | { result: ToolResult }
  | { failure: Failure; detail?: string }
  /** The server's own JSON-RPC error, in its words. */
  | { refused: string }
  /** The server is there, but not ready. */
  | { notReady: string }
  /** The answer was large, and so were others, for as long as this host would wait. */
  | { crowded: true }
  /** What the tool answered, no caller could be told. */
  | { unusable: string }

/** A tool's answer, but where readers of JSON, who recurse into it, would not come to its end. */
export const answered = (result: ToolResult): Outcome =>
  nestsTooDeep(result.structuredContent)
    ? { unusable: `The tool answered data that nests deeper than ${limits.depth} levels.` }
    : { result }

const nestsTooDeep = (value: unknown): boolean => {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limits.depth) return true
    level = level.flatMap(each => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  }
  return false
}

/** What this Worker lacks that the manifest names. */
export const misconfigured = (detail: string): Outcome => ({ failure: { failed: 'misconfigured', detail }, detail })

/** What a failure between this host and the server is to the caller: its words are for the owner, but for the server's own. */
export const outcomeOf = (failure: McpError, seconds: number): Outcome => {
  switch (failure.code) {
    case 'refused':
      return { refused: failure.message }
    case 'unreachable':
      return { failure: { failed: 'unreachable' }, ...(failure.why !== '' && { detail: failure.why }) }
    case 'timeout':
      return { failure: { failed: 'timeout', seconds } }
    default:
      return { notReady: failure.message }
  }
}
