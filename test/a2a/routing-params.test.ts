import { describe, expect, it } from 'vitest'
import { dropRoutingParams } from '../../src/a2a/routing-params.ts'
import type { Json } from '../../src/json/json.ts'
import { callWith } from '../support/calls.ts'

describe('dropRoutingParams', () => {
  it('removes the tenant at every depth and in every spelling, but leaves what has a free form as it is', () => {
    const free = { tenant: 'a', agentName: 'b', count: JSON.rawJSON('1e400') as unknown as Json }
    const configuration = { taskPushNotificationConfig: { id: 'c', tenant: 'victim' }, count: free.count }
    const message = { parts: [{ data: free }], content: [free], metadata: free, list: [{ Tenant: 'victim', id: 'm' }] }
    const sent = dropRoutingParams(
      callWith({ params: { message, configuration, metadata: free, agent_name: 'Other', tenant: 'victim' } }),
    )
    expect(sent.params).toEqual({
      message: { ...message, list: [{ id: 'm' }] },
      configuration: { ...configuration, taskPushNotificationConfig: { id: 'c' } },
      metadata: free,
    })
    expect(JSON.stringify(sent.params.configuration)).toContain('1e400')
  })
})
