/** The facts of a problem, as `data` says them. */
export type Facts = Record<string, string | number | readonly string[]>

/** How one kind of problem is told on the wire. */
export type ErrorSpec<Tagged> = {
  /** JSON-RPC's. */
  code: number
  /** google.rpc.ErrorInfo's; that of A2A where A2A has the error. */
  reason: string
  /** Of both bindings, where the problem is not in the A2A call itself. */
  status?: number | ((problem: Tagged) => number)
  /** Of HTTP+JSON, where that is not 400; JSON-RPC answers a well-formed call with 200. */
  restStatus?: number
  /** Whether the body was no JSON-RPC request at all: 400 in both bindings. */
  malformed?: true
  /** Whether the call would be sound elsewhere: FAILED_PRECONDITION, where 400 else is INVALID_ARGUMENT. */
  precondition?: true
  say: (problem: Tagged) => string
  facts?: (problem: Tagged) => Facts
}
