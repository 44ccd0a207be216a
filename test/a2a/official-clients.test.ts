import { AgentCard } from '@a2a-js/sdk'
import { JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client'
import { JsonRpcTransport as V0JsonRpcTransport, RestTransport as V0RestTransport } from 'a2a-sdk-v0.3/client'
import { describe, expect, it } from 'vitest'
import { errorResponse } from '../../src/a2a/error-response.ts'
import type { CallError } from '../../src/a2a/errors.ts'
import { resolveMethod } from '../../src/a2a/operations.ts'
import { matchRestPath } from '../../src/a2a/rest-paths.ts'

/** Returns a fetch whose host responds to every call with the same error. */
const fetchWith = (callError: CallError) =>
  (async (input: string | URL, init: RequestInit = {}) => {
    const { pathname } = new URL(input)
    const { method = 'GET', body } = init
    return pathname === '/a2a'
      ? rpcResponse(callError, String(body))
      : restResponse(callError, method, pathname.slice('/a2a/'.length))
  }) as typeof fetch

const rpcResponse = (callError: CallError, body: string): Response => {
  const { id, method } = JSON.parse(body)
  const resolved = resolveMethod(method, undefined, [])
  if ('kind' in resolved) throw new Error(`unexpected request of the client: ${method}`)
  return errorResponse(callError, { binding: 'JSONRPC', id, ...resolved })
}

const restResponse = (callError: CallError, method: string, path: string): Response => {
  const match = matchRestPath(method, path)
  if (!('operation' in match)) throw new Error(`unexpected request of the client: ${method} ${path}`)
  return errorResponse(callError, { binding: 'HTTP+JSON', id: null, ...match })
}

const endpoint = 'https://host.example/a2a'
const card = AgentCard.fromJSON({})
const v1Clients = {
  JSONRPC: (callError: CallError) =>
    new JsonRpcTransportFactory({ fetchImpl: fetchWith(callError) }).create(endpoint, card),
  'HTTP+JSON': (callError: CallError) =>
    new RestTransportFactory({ fetchImpl: fetchWith(callError) }).create(endpoint, card),
}
const v03Clients = {
  JSONRPC: (callError: CallError) => new V0JsonRpcTransport({ endpoint, fetchImpl: fetchWith(callError) }),
  'HTTP+JSON': (callError: CallError) => new V0RestTransport({ endpoint, fetchImpl: fetchWith(callError) }),
}

const message = {
  ...{ messageId: 'm', role: 1, parts: [], contextId: '', taskId: '' },
  ...{ extensions: [], referenceTaskIds: [], metadata: undefined },
}
const send = { tenant: '', message, configuration: undefined, metadata: undefined }
const v03Send = { message: { kind: 'message' as const, messageId: 'm', role: 'user' as const, parts: [] } }

/** Returns the names of the error that `call` throws and of its cause. */
const errorNames = async (call: () => Promise<unknown>): Promise<string[]> => {
  try {
    await call()
  } catch (error) {
    const errors = [error, error instanceof Error ? error.cause : undefined]
    return errors
      .filter(each => each instanceof Error)
      .map(each => each.constructor.name.replace(/^(JsonRpc|Rest)|JSONRPC/, ''))
  }
  return []
}

const errorClasses: [CallError, string][] = [
  [{ kind: 'streaming' }, 'UnsupportedOperationError'],
  [{ kind: 'closed' }, 'UnsupportedOperationError'],
  [{ kind: 'push-notifications' }, 'PushNotificationNotSupportedError'],
  [{ kind: 'input-modes', offered: ['image/png'], accepted: ['text/plain'] }, 'ContentTypeNotSupportedError'],
  [{ kind: 'output-modes', offered: ['image/png'], accepted: ['text/plain'] }, 'ContentTypeNotSupportedError'],
  [{ kind: 'extended-card-not-configured' }, 'ExtendedAgentCardNotConfiguredError'],
]
const v1Errors: [CallError, string][] = [
  ...errorClasses,
  [{ kind: 'extensions', required: ['urn:a'], missing: ['urn:a'] }, 'ExtensionSupportRequiredError'],
  [{ kind: 'version', offered: '1.0', accepted: ['0.3'] }, 'VersionNotSupportedError'],
  [{ kind: 'invalid-params', detail: 'D.', violations: [] }, 'RequestMalformedError'],
]

describe.each(['JSONRPC', 'HTTP+JSON'] as const)('official clients over %s read each error', binding => {
  it('in v1.0', async () => {
    for (const [callError, name] of v1Errors) {
      const client = await v1Clients[binding](callError)
      expect([
        await errorNames(() => client.sendMessage(send)),
        await errorNames(() => client.sendMessageStream(send).next()),
        await errorNames(() => client.resubscribeTask({ id: 't', tenant: '' }).next()),
        await errorNames(() => client.getExtendedAgentCard({ tenant: '' })),
      ]).toStrictEqual(Array(4).fill([name]))
    }
  })

  it('in v0.3', async () => {
    for (const [callError, name] of errorClasses) {
      const v03Name = name.replace('ExtendedAgentCard', 'AuthenticatedExtendedCard')
      const client = v03Clients[binding](callError)
      const streamNames = binding === 'JSONRPC' ? ['Error', v03Name] : [v03Name]
      expect([
        await errorNames(() => client.sendMessage(v03Send)),
        await errorNames(() => client.getExtendedAgentCard()),
        await errorNames(() => client.sendMessageStream(v03Send).next()),
        await errorNames(() => client.resubscribeTask({ id: 't' }).next()),
      ]).toStrictEqual([[v03Name], [v03Name], streamNames, streamNames])
    }
  })
})
