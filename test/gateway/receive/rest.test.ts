import { expect, it } from 'vitest'
import { RestExchange } from '../../../src/gateway/receive/index.ts'
import { gateWith } from '../../support/calls.ts'
import { executionContext } from '../../support/kv.ts'

/** Returns the parameters of a call of `tasks/p:cancel`. */
const readParams = async (query: string, body: string) => {
  const url = `https://host.example/agents/a/a2a/tasks/p:cancel?${query}`
  const headers = { 'Content-Type': 'application/json' }
  const request = new Request(url, { method: 'POST', headers, body })
  const exchange = new RestExchange(request, {} as Env, executionContext, 'a')
  expect(exchange.parseBody(await exchange.readBody())).toBeUndefined()
  const parsed = exchange.parse(gateWith({ targets: [] }))
  if ('kind' in parsed) throw new Error(parsed.kind)
  return parsed.params
}

it('prefers the path to the body, and the body to the first value in the query', async () => {
  const query = 'id=q&tenant=q&historyLength=1&historyLength=2&A2A-Version=1.0&a2a-version=1.0'
  expect(await readParams(query, '{"id":"b","tenant":"b","configuration":{}}')).toStrictEqual({
    id: 'p',
    tenant: 'b',
    configuration: {},
    historyLength: '1',
  })
})

it('keeps names of parameters that are special in JavaScript', async () => {
  const params = await readParams('__proto__=x', '{"constructor":1}')
  expect([Object.getPrototypeOf(params), JSON.stringify(params)]).toStrictEqual([
    Object.prototype,
    '{"__proto__":"x","constructor":1,"id":"p"}',
  ])
})
