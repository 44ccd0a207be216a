/** A call that the gateway has authorized and checked, as it sends it to the agent's Durable Object. */
export type BridgeCall = {
  /** The agent's id. */
  agent: string
  /** The subject of an authenticated caller, else empty. */
  caller: string
  /** The network address of an anonymous caller, else empty. */
  address: string
  /** The MCP server: its URL, the bindings of the Worker that the manifest names, and whether all callers share one session. */
  upstream: { url: string; service?: string; secret?: string; session?: 'shared' }
  /**
   * The tool that a message calls, and the JSON text of its arguments, so that numbers stay as the caller wrote them.
   * Absent for every other operation, and for a message that continues a task.
   */
  tool?: { name: string; arguments: string }
  /** The resource that a message reads instead, and whether the card lists it. */
  resource?: { uri: string; isListed: boolean }
  /** How long a tool may take without reporting progress. */
  timeoutSeconds: number
  /** Whether the response is a stream. */
  streams: boolean
  /** JSON text of the JSON-RPC request, in A2A 1.0. */
  request: string
  /** JSON text of its id. */
  id: string
}
