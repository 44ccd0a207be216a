import type { A2ACall } from '../../src/a2a/operations.ts'

/** A message sent in v1.0 over JSON-RPC, but for `changes`. */
export const callWith = (changes: Partial<A2ACall> = {}): A2ACall => ({
  binding: 'JSONRPC',
  operation: 'send',
  version: '1.0',
  id: 1,
  params: { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Hello' }] } },
  extensions: [],
  ...changes,
})
