import { afterAll, expect, it, vi } from 'vitest'
import type { Protocol, WireVersion } from '../../src/card/model/versions.ts'

// A version that only adds members: its row, and theirs, before anything is derived from the tables.
vi.resetModules()
afterAll(() => vi.resetModules())
const { versions, wireVersions } = await import('../../src/card/model/versions.ts')
const { objects } = await import('../../src/a2a/objects/table.ts')
const next = '1.1' as string as WireVersion
const forms = { JSONRPC: 'proto-1.1', 'HTTP+JSON': 'proto-1.1' }
Object.assign(versions, { [next]: { ...versions['1.0'], follows: '1.0', forms } })
wireVersions.push(next)
const rows = objects as unknown as Record<string, object[]>
rows.message?.push({ name: 'replyTo', is: 'text', since: next })
rows.part?.push({ name: 'language', since: next })
rows.task?.push({ name: 'lastCursor', is: 'text', required: true, since: next })
rows.configuration?.push({ name: 'sendKey', since: next })
rows.pushConfig?.push({ name: 'redacted', since: next })

const { callWith } = await import('../support/calls.ts')
const { bridgeCall } = await import('../../src/a2a/bridge/index.ts')
const { readResult } = await import('../../src/a2a/read-result.ts')
const { checkMessage } = await import('../../src/a2a/sent-message.ts')

const v11: Protocol = { binding: 'JSONRPC', version: next }
const v10: Protocol = { binding: 'JSONRPC', version: '1.0' }

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'a', language: 'en' }], replyTo: 'n' }
const pushConfig = { url: 'https://a.example/', tenant: 't', redacted: true }
const configuration = { taskPushNotificationConfig: pushConfig, returnImmediately: true, sendKey: 'k' }
const call = callWith({ operation: 'send', ...v11, params: { message, configuration } })

/** Returns the parameters that an agent gets, and what was lost. */
const bridge = (to: Protocol) => {
  const bridged = bridgeCall(call, to)
  return 'kind' in bridged ? bridged : { params: bridged.call.params, losses: bridged.losses }
}

it('checks the members that a version adds, in it alone', () => {
  const task = { id: 't', status: { state: 'TASK_STATE_WORKING' } }
  const read = (protocol: Protocol, result: object) =>
    readResult({ operation: 'getTask', ...protocol }, { jsonrpc: '2.0', id: 1, result })
  expect(read(v10, task)).toMatchObject({ kind: 'task', tasks: [{ id: 't' }] })
  expect(read(v11, { ...task, lastCursor: 'c' })).toEqual(read(v10, task))
  expect(read(v11, task)).toEqual({ fault: 'result.lastCursor must be a string' })
  expect(checkMessage(call)).toBeUndefined()
  const refused = { ...message, replyTo: 1, role: 'ROLE_AGENT' }
  expect(checkMessage({ ...call, params: { message: refused } })).toMatchObject({
    violations: [{ field: 'message.replyTo', description: 'must be a string, not 1' }],
  })
  expect(checkMessage({ ...call, params: { message: { ...message, role: 'user' } } })).toMatchObject({
    violations: [{ field: 'message.role', description: 'must be ROLE_USER in A2A 1.1, not "user"' }],
  })
})

it('translates the members that a version adds for agents of it', () => {
  expect(bridge({ binding: 'HTTP+JSON', version: next })).toEqual({ params: call.params, losses: [] })
})

it('leaves them out for agents of the versions before, and reports them', () => {
  expect(bridge(v10)).toEqual({
    params: {
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'a' }] },
      configuration: {
        taskPushNotificationConfig: { url: 'https://a.example/', tenant: 't' },
        returnImmediately: true,
      },
    },
    losses: [
      'message.parts[0].language',
      'message.replyTo',
      'configuration.taskPushNotificationConfig.redacted',
      'configuration.sendKey',
    ],
  })
  expect(bridge({ binding: 'JSONRPC', version: '0.3' })).toMatchObject({
    params: {
      message: { kind: 'message', role: 'user', parts: [{ kind: 'text', text: 'a' }] },
      configuration: { pushNotificationConfig: { url: 'https://a.example/' }, blocking: false },
    },
  })
})

it('leaves out what the answer of an agent of the version before cannot mean', () => {
  const bridged = bridgeCall({ ...call, ...v11 }, v10)
  if ('kind' in bridged) throw new Error(bridged.kind)
  const answer = { jsonrpc: '2.0', id: 1, result: { message: { ...message, role: 'ROLE_AGENT' } } }
  const { text, losses } = { text: '{}', losses: [], ...bridged.translate(JSON.stringify(answer), 'response', 200) }
  expect(JSON.parse(text).result.message).toEqual({ messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'a' }] })
  expect(losses).toEqual(['parts[0].*', '*'])
})
