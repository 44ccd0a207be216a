import { expect, it } from 'vitest'
import { ANONYMOUS } from '../../src/auth/principal.ts'
import { createCallContext } from '../../src/gateway/gate/call-context.ts'
import { translateCall } from '../../src/gateway/translate-call.ts'
import { callWith } from '../support/calls.ts'
import { executionContext } from '../support/kv.ts'

it('leaves out the parameter that chose the agent, and no other', () => {
  const request = new Request('https://host.example/a2a/v1', { method: 'POST' })
  const context = createCallContext(ANONYMOUS, { request, env: {} as Env, ctx: executionContext })
  const call = callWith({ version: '0.3', operation: 'getTask', params: { id: 't', tenant: 'weather' } })
  const target = { binding: 'JSONRPC', version: '1.0', url: 'https://agent.example/a2a' } as const
  for (const [selector, params] of [
    ['tenant', { id: 't' }],
    [undefined, { id: 't', tenant: 'weather' }],
  ] as const) {
    const translated = translateCall(context, call, target, selector)
    if ('kind' in translated) throw new Error(translated.kind)
    expect(JSON.parse(translated.message.body ?? '')).toMatchObject({ params })
    expect(translated.call.params, selector).toEqual(params)
  }
})
