import { describe, expect, it } from 'vitest'
import type { CallTarget } from '../../src/card/model/calls.ts'
import { rewriteRoutingParams } from '../../src/gateway/upstream-request.ts'

const target: CallTarget = { binding: 'JSONRPC', version: '1.0', url: 'https://agent.example/a2a' }
const params = { id: 't', tenant: 'weather', agentName: 'Weather' }

describe('the parameters that go to an agent', () => {
  it.each([
    ['as they came', undefined, undefined, params],
    ['without the tenant that chose the agent', undefined, 'tenant', { id: 't', agentName: 'Weather' }],
    ['without the name that chose the agent', undefined, 'agentName', { id: 't', tenant: 'weather' }],
    ["with the endpoint's tenant", 'north', undefined, { ...params, tenant: 'north' }],
    ["with the endpoint's tenant for the one that chose", 'north', 'tenant', { ...params, tenant: 'north' }],
    ["with the endpoint's tenant for the name", 'north', 'agentName', { id: 't', tenant: 'north' }],
  ] as const)('are %s', (_, tenant, chosenBy, sent) => {
    const to = tenant === undefined ? target : { ...target, tenant }
    expect(rewriteRoutingParams(params, to, chosenBy)).toStrictEqual(sent)
    expect(params).toStrictEqual({ id: 't', tenant: 'weather', agentName: 'Weather' })
  })

  it('name the agent as its own host knows it, whatever chose it here', () => {
    const to = { ...target, agentName: 'DataProcessor' }
    expect(rewriteRoutingParams(params, to)).toStrictEqual({ ...params, agentName: 'DataProcessor' })
    expect(rewriteRoutingParams(params, to, 'agentName')).toStrictEqual({ ...params, agentName: 'DataProcessor' })
    expect(rewriteRoutingParams({}, to)).toStrictEqual({ agentName: 'DataProcessor' })
  })

  it('say whose they are where they said nothing', () => {
    expect(rewriteRoutingParams({}, { ...target, tenant: 'north' })).toStrictEqual({ tenant: 'north' })
  })
})
