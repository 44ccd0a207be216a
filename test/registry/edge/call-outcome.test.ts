import { describe, expect, it } from 'vitest'
import type { OperationName } from '../../../src/a2a/operations.ts'
import { type CallEnd, countedCallOf, observedCallOf } from '../../../src/registry/edge/call-outcome.ts'

const observe = (operation: OperationName, end: CallEnd, hasPushConfig = false) =>
  observedCallOf({ operation, binding: 'JSONRPC', version: '1.0', hasPushConfig }, end)

const error = (code: number): CallEnd => ({ status: 200, isStream: false, agentError: { code } })
const restError = (status: number, reason?: string): CallEnd => ({
  ...{ status, isStream: false },
  agentError: { code: status, ...(reason !== undefined && { reason }) },
})
const status = (status: number): CallEnd => ({ status, isStream: false })
const stream: CallEnd = { status: 200, isStream: true }

describe('what a call shows of its agent', () => {
  it('is the operation, binding and version that it answered', () => {
    expect(observe('send', status(200))).toEqual({
      operation: 'send',
      protocol: 'JSONRPC 1.0',
      outcome: 'answered',
      protocolOutcome: 'answered',
    })
  })

  it('is its outcome, that of the protocol, and the failure', () => {
    const rows: [OperationName, CallEnd, expected: string][] = [
      ['getTask', error(-32601), 'refused failed -32601'],
      ['send', error(-32601), 'refused refused -32601'],
      ['listTasks', error(-32004), 'refused answered -32004'],
      // The task may have ended.
      ['resubscribe', error(-32004), 'failed answered -32004'],
      ['send', error(-32004), 'failed answered -32004'],
      ['send', error(-32009), 'failed refused -32009'],
      ['getTask', error(-32001), 'failed answered -32001'],
      ['getTask', status(501), 'refused failed http-501'],
      ['send', status(405), 'refused refused http-405'],
      // 404 for an operation, and for a task.
      ['listTasks', status(404), 'refused failed http-404'],
      ['getTask', status(404), 'failed failed http-404'],
      ['send', status(500), 'failed failed http-500'],
      // A page for an unknown path, and no response.
      ['send', { error: 'invalid-response', status: 404 }, 'refused refused invalid-response'],
      ['send', { error: 'timeout' }, 'failed failed timeout'],
      ['extendedCard', error(-32007), 'refused answered -32007'],
      ['getTask', restError(404, 'TASK_NOT_FOUND'), 'failed answered -32001'],
      ['cancel', restError(400, 'UNSUPPORTED_OPERATION'), 'refused answered -32004'],
      ['cancel', restError(409, 'STRANGE'), 'failed answered http-409'],
      ['send', restError(400), 'failed answered http-400'],
      // Errors of its own.
      ['send', error(1234), 'failed answered agent-error'],
      ['send', error(-31999), 'failed answered agent-error'],
      ['send', error(-32000.5), 'failed answered agent-error'],
    ]
    for (const [operation, end, expected] of rows) {
      const { outcome, protocolOutcome, failure } = observe(operation, end)
      expect(`${outcome} ${protocolOutcome} ${failure}`, JSON.stringify([operation, end])).toBe(expected)
    }
  })

  it('is whether it streams', () => {
    const rows: [OperationName, CallEnd, string | undefined][] = [
      ['stream', stream, 'answered'],
      ['resubscribe', stream, 'answered'],
      ['stream', status(200), 'failed'],
      ['stream', error(-32004), 'refused'],
      ['stream', { error: 'unreachable' }, 'failed'],
      ['send', status(200), undefined],
    ]
    for (const [operation, end, streaming] of rows) expect(observe(operation, end).streaming).toBe(streaming)
  })

  it('is whether it sends push notifications', () => {
    const rows: [OperationName, hasConfig: boolean, CallEnd, string | undefined][] = [
      // The agent may ignore a configuration in a message.
      ['send', true, status(200), undefined],
      ['stream', true, stream, undefined],
      ['send', true, error(-32003), 'refused'],
      ['stream', true, error(-32004), undefined],
      ['createPushConfig', false, status(200), 'answered'],
      ['createPushConfig', false, error(-32003), 'refused'],
      ['createPushConfig', false, error(-32601), 'refused'],
      ['getPushConfig', false, error(-32001), 'failed'],
      ['send', false, status(200), undefined],
    ]
    for (const [operation, hasConfig, end, pushNotifications] of rows)
      expect(observe(operation, end, hasConfig).pushNotifications).toBe(pushNotifications)
  })

  it('does not take the refusal of push notifications for that of the main method', () => {
    expect(observe('send', error(-32003), true)).toMatchObject({ outcome: 'refused', protocolOutcome: 'answered' })
  })

  it('is the reason why this host withholds a response', () => {
    const end: CallEnd = { ...status(200), failure: 'foreign-task' }
    const answered = { outcome: 'answered', protocolOutcome: 'answered' }
    expect(observe('getTask', end)).toMatchObject({ ...answered, failure: 'foreign-task' })
  })

  it('is described once for all calls that are answered', () => {
    const count = (operation: OperationName, binding: 'JSONRPC' | 'HTTP+JSON', version: '0.3' | '1.0', end: CallEnd) =>
      countedCallOf({ operation, binding, version, hasPushConfig: true }, end)
    const { observed, fact } = count('send', 'JSONRPC', '1.0', status(200))
    expect(observed).toEqual(observe('send', status(200), true))
    expect(fact).toBe('send JSONRPC 1.0 answered undefined undefined')
    const others = [
      count('stream', 'JSONRPC', '1.0', stream),
      count('stream', 'JSONRPC', '1.0', status(200)),
      count('send', 'HTTP+JSON', '1.0', status(200)),
      count('send', 'JSONRPC', '0.3', status(200)),
      count('createPushConfig', 'JSONRPC', '1.0', status(200)),
      count('send', 'JSONRPC', '1.0', error(-32004)),
      count('send', 'JSONRPC', '1.0', { error: 'timeout' }),
      count('send', 'JSONRPC', '1.0', status(404)),
    ]
    expect(others.map(({ fact }) => fact)).toEqual([
      'stream JSONRPC 1.0 answered answered undefined',
      'stream JSONRPC 1.0 answered failed undefined',
      'send HTTP+JSON 1.0 answered undefined undefined',
      'send JSONRPC 0.3 answered undefined undefined',
      'createPushConfig JSONRPC 1.0 answered undefined answered',
      'send JSONRPC 1.0 failed undefined undefined',
      'send JSONRPC 1.0 failed undefined undefined',
      'send JSONRPC 1.0 refused undefined undefined',
    ])
    expect(count('send', 'JSONRPC', '1.0', { ...status(302), mediaTypes: ['text/plain'] }).observed).toBe(observed)
    expect(count('send', 'JSONRPC', '1.0', { ...status(200), failure: 'foreign-task' }).observed).not.toBe(observed)
  })
})
