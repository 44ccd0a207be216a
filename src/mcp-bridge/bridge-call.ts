import type { WireVersion } from '../card/model/calls.ts'

/** What the Worker hands to the object of an agent: a call that it has checked, and whose it is. */
export type BridgeCall = {
  /** The agent's id. */
  agent: string
  /** Names the caller, where the host knows it; else empty. */
  caller: string
  /** Where the call comes from, of a caller whom the host does not know; else empty. */
  address: string
  /** The MCP server: its address, and the bindings of the Worker that its manifest names. */
  upstream: { url: string; service?: string; secret?: string }
  /** Of a message: the tool that it calls. The arguments are JSON text, in which numbers are as they were sent. */
  tool?: { name: string; arguments: string }
  /** How long a tool may be silent, in seconds. */
  patience: number
  version: WireVersion
  /** Whether the call is answered with a stream. */
  streams: boolean
  /** JSON text of the JSON-RPC request, and of its id. */
  call: string
  id: string
}

/** The longest that a tool may take, in seconds, however often it says that it gets on. */
export const longestTool = 15 * 60
