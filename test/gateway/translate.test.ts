import { expect, it } from 'vitest'
import { permit } from '../../src/gateway/gate/admit.ts'
import { JsonRpcExchange } from '../../src/gateway/receive/index.ts'
import { translateCall } from '../../src/gateway/translate.ts'
import { callWith, gateWith } from '../support/calls.ts'
import { executionContext } from '../support/kv.ts'

it('leaves out the parameter that chose the agent, and no other', () => {
  const request = new Request('https://host.example/a2a/v1', { method: 'POST' })
  const call = callWith({ version: '0.3', operation: 'getTask', params: { id: 't', tenant: 'weather' } })
  const target = { binding: 'JSONRPC', version: '1.0', url: 'https://agent.example/a2a' } as const
  for (const [addressing, params] of [
    ['tenant', { id: 't' }],
    ['agentName', { id: 't', tenant: 'weather' }],
    [
      { id: 'weather', named: 'weather' },
      { id: 't', tenant: 'weather' },
    ],
  ] as const) {
    const permitted = { ...permit(gateWith(), call), target }
    const exchange = new JsonRpcExchange(request, {} as Env, executionContext, addressing)
    expect(translateCall(permitted, exchange)).toBeUndefined()
    expect(JSON.parse(permitted.message?.body ?? '')).toMatchObject({ params })
    expect(permitted.call.params).toEqual(params)
  }
})
