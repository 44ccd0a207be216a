import { AgentCard } from '@a2a-js/sdk'
import { JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client'
import { JsonRpcTransport as V0JsonRpcTransport, RestTransport as V0RestTransport } from 'a2a-sdk-v0.3/client'
import { describe, expect, it } from 'vitest'
import { errorResponse } from '../../src/a2a/error-response.ts'
import type { CallError } from '../../src/a2a/errors.ts'
import { resolveMethod } from '../../src/a2a/operations.ts'
import { matchRestPath } from '../../src/a2a/rest-paths.ts'

/** A fetch whose host refuses every call for the same reason. */
const refusing = (problem: CallError) =>
  (async (input: string | URL, init: RequestInit = {}) => {
    const { pathname } = new URL(input)
    const { method = 'GET', body } = init
    return pathname === '/a2a'
      ? rpcAnswer(problem, String(body))
      : restAnswer(problem, method, pathname.slice('/a2a/'.length))
  }) as typeof fetch

const rpcAnswer = (problem: CallError, body: string): Response => {
  const { id, method } = JSON.parse(body)
  const read = resolveMethod(method, undefined, [])
  if ('kind' in read) throw new Error(`the client asked for ${method}`)
  return errorResponse(problem, { binding: 'JSONRPC', id, ...read })
}

const restAnswer = (problem: CallError, method: string, path: string): Response => {
  const match = matchRestPath(method, path)
  if (!('operation' in match)) throw new Error(`the client asked for ${method} ${path}`)
  return errorResponse(problem, { binding: 'HTTP+JSON', id: null, ...match })
}

const endpoint = 'https://host.example/a2a'
const card = AgentCard.fromJSON({})
const current = {
  JSONRPC: (problem: CallError) => new JsonRpcTransportFactory({ fetchImpl: refusing(problem) }).create(endpoint, card),
  'HTTP+JSON': (problem: CallError) =>
    new RestTransportFactory({ fetchImpl: refusing(problem) }).create(endpoint, card),
}
const old = {
  JSONRPC: (problem: CallError) => new V0JsonRpcTransport({ endpoint, fetchImpl: refusing(problem) }),
  'HTTP+JSON': (problem: CallError) => new V0RestTransport({ endpoint, fetchImpl: refusing(problem) }),
}

const message = {
  messageId: 'm',
  role: 1,
  parts: [],
  contextId: '',
  taskId: '',
  extensions: [],
  referenceTaskIds: [],
  metadata: undefined,
}
const send = { tenant: '', message, configuration: undefined, metadata: undefined }
const oldSend = { message: { kind: 'message' as const, messageId: 'm', role: 'user' as const, parts: [] } }

/** What was thrown: by its kind, and by that of its cause. */
const thrownBy = async (call: () => Promise<unknown>): Promise<string[]> => {
  try {
    await call()
  } catch (error) {
    const kinds = [error, error instanceof Error ? error.cause : undefined]
    return kinds
      .filter(each => each instanceof Error)
      .map(each => each.constructor.name.replace(/^(JsonRpc|Rest)|JSONRPC/, ''))
  }
  return []
}

const refusals: [CallError, string][] = [
  [{ kind: 'streaming' }, 'UnsupportedOperationError'],
  [{ kind: 'closed' }, 'UnsupportedOperationError'],
  [{ kind: 'push-notifications' }, 'PushNotificationNotSupportedError'],
  [{ kind: 'input-modes', offered: ['image/png'], accepted: ['text/plain'] }, 'ContentTypeNotSupportedError'],
  [{ kind: 'output-modes', offered: ['image/png'], accepted: ['text/plain'] }, 'ContentTypeNotSupportedError'],
  [{ kind: 'extended-card-not-configured' }, 'ExtendedAgentCardNotConfiguredError'],
]
const refusalsOfV1: [CallError, string][] = [
  ...refusals,
  [{ kind: 'extensions', required: ['urn:a'], missing: ['urn:a'] }, 'ExtensionSupportRequiredError'],
  [{ kind: 'version', offered: '1.0', accepted: ['0.3'] }, 'VersionNotSupportedError'],
  [{ kind: 'invalid-params', detail: 'D.', violations: [] }, 'RequestMalformedError'],
]

describe.each(['JSONRPC', 'HTTP+JSON'] as const)('the official client of v1.0 over %s', binding => {
  it.each(refusalsOfV1)('reads %j as %s', async (problem, kind) => {
    const client = await current[binding](problem)
    expect([
      await thrownBy(() => client.sendMessage(send)),
      await thrownBy(() => client.sendMessageStream(send).next()),
      await thrownBy(() => client.resubscribeTask({ id: 't', tenant: '' }).next()),
      await thrownBy(() => client.getExtendedAgentCard({ tenant: '' })),
    ]).toStrictEqual(Array(4).fill([kind]))
  })
})

describe.each(['JSONRPC', 'HTTP+JSON'] as const)('the official client of v0.3 over %s', binding => {
  it.each(refusals)('reads %j as %s', async (problem, kind) => {
    const ofOld = kind.replace('ExtendedAgentCard', 'AuthenticatedExtendedCard')
    const client = old[binding](problem)
    const streamed = binding === 'JSONRPC' ? ['Error', ofOld] : [ofOld]
    expect([
      await thrownBy(() => client.sendMessage(oldSend)),
      await thrownBy(() => client.getExtendedAgentCard()),
      await thrownBy(() => client.sendMessageStream(oldSend).next()),
      await thrownBy(() => client.resubscribeTask({ id: 't' }).next()),
    ]).toStrictEqual([[ofOld], [ofOld], streamed, streamed])
  })
})

describe('the paths that official clients ask for', () => {
  const push = { taskId: 't', id: 'c', tenant: '', url: '', token: '', authentication: undefined }

  it('are those of v1.0', async () => {
    const client = await current['HTTP+JSON']({ kind: 'closed' })
    const list = { tenant: '', contextId: '', status: 0, pageToken: '', statusTimestampAfter: undefined }
    for (const call of [
      () => client.sendMessage(send),
      () => client.getTask({ id: 't', tenant: '', historyLength: 2 }),
      () => client.listTasks({ ...list, pageSize: 5, historyLength: 1, includeArtifacts: true }),
      () => client.cancelTask({ id: 't', tenant: '', metadata: undefined }),
      () => client.createTaskPushNotificationConfig(push),
      () => client.listTaskPushNotificationConfig({ taskId: 't', tenant: '', pageSize: 0, pageToken: '' }),
      () => client.getTaskPushNotificationConfig({ taskId: 't', id: 'c', tenant: '' }),
      () => client.deleteTaskPushNotificationConfig({ taskId: 't', id: 'c', tenant: '' }),
    ])
      expect(await thrownBy(call)).toStrictEqual(['UnsupportedOperationError'])
  })

  it('are those of v0.3', async () => {
    const client = old['HTTP+JSON']({ kind: 'closed' })
    for (const call of [
      () => client.getTask({ id: 't', historyLength: 2 }),
      () => client.cancelTask({ id: 't' }),
      () => client.setTaskPushNotificationConfig({ taskId: 't', pushNotificationConfig: { url: 'https://a.example' } }),
      () => client.listTaskPushNotificationConfig({ id: 't' }),
      () => client.getTaskPushNotificationConfig({ id: 't', pushNotificationConfigId: 'c' }),
      () => client.deleteTaskPushNotificationConfig({ id: 't', pushNotificationConfigId: 'c' }),
    ])
      expect(await thrownBy(call)).toStrictEqual(['UnsupportedOperationError'])
  })
})
