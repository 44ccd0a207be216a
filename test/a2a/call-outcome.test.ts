import { describe, expect, it } from 'vitest'
import { type CallEnd, observedCallOf } from '../../src/a2a/call-outcome.ts'
import type { OperationName } from '../../src/a2a/operations.ts'

const observe = (operation: OperationName, end: CallEnd, hasPushConfig = false) =>
  observedCallOf({ operation, binding: 'JSONRPC', version: '1.0' }, hasPushConfig, end)

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

  it.each<[string, OperationName, CallEnd, string, string, string | undefined]>([
    ['an unknown method', 'getTask', error(-32601), 'refused', 'failed', '-32601'],
    ['an unknown main method', 'send', error(-32601), 'refused', 'refused', '-32601'],
    ['an unsupported operation', 'listTasks', error(-32004), 'refused', 'answered', '-32004'],
    [
      'an unsupported operation on a task that may have ended',
      'resubscribe',
      error(-32004),
      'failed',
      'answered',
      '-32004',
    ],
    ['a message to a task that may have ended', 'send', error(-32004), 'failed', 'answered', '-32004'],
    ['an unsupported version', 'send', error(-32009), 'failed', 'refused', '-32009'],
    ['a task that does not exist', 'getTask', error(-32001), 'failed', 'answered', '-32001'],
    ['501', 'getTask', status(501), 'refused', 'failed', 'http-501'],
    ['405', 'send', status(405), 'refused', 'refused', 'http-405'],
    ['404 for an operation', 'listTasks', status(404), 'refused', 'failed', 'http-404'],
    ['404 for a task', 'getTask', status(404), 'failed', 'failed', 'http-404'],
    ['500', 'send', status(500), 'failed', 'failed', 'http-500'],
    [
      'a page for an unknown path',
      'send',
      { error: 'invalid-response', status: 404 },
      'refused',
      'refused',
      'invalid-response',
    ],
    ['no response', 'send', { error: 'timeout' }, 'failed', 'failed', 'timeout'],
    ['an extended card that does not exist', 'extendedCard', error(-32007), 'refused', 'answered', '-32007'],
    [
      'a task that HTTP+JSON does not find',
      'getTask',
      restError(404, 'TASK_NOT_FOUND'),
      'failed',
      'answered',
      '-32001',
    ],
    [
      'an operation that HTTP+JSON refuses',
      'cancel',
      restError(400, 'UNSUPPORTED_OPERATION'),
      'refused',
      'answered',
      '-32004',
    ],
    [
      'an error of HTTP+JSON without a known reason',
      'cancel',
      restError(409, 'STRANGE'),
      'failed',
      'answered',
      'http-409',
    ],
    ['an error of HTTP+JSON without a reason', 'send', restError(400), 'failed', 'answered', 'http-400'],
    ['an error of its own', 'send', error(1234), 'failed', 'answered', 'agent-error'],
    ['an error outside the reserved codes', 'send', error(-31999), 'failed', 'answered', 'agent-error'],
    ['an error that is no number of a code', 'send', error(-32000.5), 'failed', 'answered', 'agent-error'],
  ])('classifies %s', (_, operation, end, outcome, protocolOutcome, failure) => {
    expect(observe(operation, end)).toMatchObject({ outcome, protocolOutcome, failure })
  })

  it.each<[string, OperationName, CallEnd, string | undefined]>([
    ['a stream', 'stream', stream, 'answered'],
    ['a stream of a task', 'resubscribe', stream, 'answered'],
    ['a result that is no stream', 'stream', status(200), 'failed'],
    ['the refusal of a stream', 'stream', error(-32004), 'refused'],
    ['an agent that is down', 'stream', { error: 'unreachable' }, 'failed'],
    ['a call without a stream', 'send', status(200), undefined],
  ])('shows whether it streams: %s', (_, operation, end, streaming) => {
    expect(observe(operation, end).streaming).toBe(streaming)
  })

  it.each<[string, OperationName, boolean, CallEnd, string | undefined]>([
    ['a message with a configuration, which the agent may ignore', 'send', true, status(200), undefined],
    ['a stream with a configuration, which the agent may ignore', 'stream', true, stream, undefined],
    ['the refusal of a configuration in a message', 'send', true, error(-32003), 'refused'],
    ['the refusal of a stream with a configuration', 'stream', true, error(-32004), undefined],
    ['a configuration', 'createPushConfig', false, status(200), 'answered'],
    ['the refusal of a configuration', 'createPushConfig', false, error(-32003), 'refused'],
    ['an agent without the method', 'createPushConfig', false, error(-32601), 'refused'],
    ['a configuration that does not exist', 'getPushConfig', false, error(-32001), 'failed'],
    ['a message without a configuration', 'send', false, status(200), undefined],
  ])('shows whether it sends push notifications: %s', (_, operation, hasConfig, end, pushNotifications) => {
    expect(observe(operation, end, hasConfig).pushNotifications).toBe(pushNotifications)
  })

  it('does not take the refusal of push notifications for that of the main method', () => {
    expect(observe('send', error(-32003), true)).toMatchObject({ outcome: 'refused', protocolOutcome: 'answered' })
  })
})
