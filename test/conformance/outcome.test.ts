import { expect, it } from 'vitest'
import { readOutcome } from '../../src/conformance/outcome.ts'

const call = { protocol: { binding: 'JSONRPC', version: '1.0' }, operation: 'getTask', id: 'a' } as const

/** Reads a body with a status as the answer to a call. */
const read = (status: number, body: object) =>
  readOutcome(
    { status, type: 'application/json', headers: new Headers(), isStream: false, texts: [JSON.stringify(body)] },
    call,
  )

it('distinguishes a limit, an agent that does not answer, and an error of the agent', () => {
  const error = (code: number) => ({ jsonrpc: '2.0', id: 'a', error: { code, message: 'An error' } })
  for (const [status, body, kind] of [
    [428, {}, 'invalid'],
    [429, {}, 'rate-limit'],
    [502, error(-32603), 'unanswered'],
    [504, error(-32603), 'unanswered'],
    [503, error(-32603), 'error'],
    [502, error(-32001), 'error'],
  ] as const)
    expect(read(status, body).kind, `${status} ${JSON.stringify(body)}`).toBe(kind)
})
