import { expect, it } from 'vitest'
import { RestCall } from '../../src/gateway/rest-binding.ts'

/** Returns the parameters of a call of `tasks/p:cancel`. */
const readParams = async (query: string, body: string) => {
  const url = `https://host.example/agents/a/a2a/tasks/p:cancel?${query}`
  const headers = { 'Content-Type': 'application/json' }
  const call = new RestCall(new Request(url, { method: 'POST', headers, body }), 'a')
  expect(await call.read()).toBeUndefined()
  const parsed = call.parse({ targets: [] } as never)
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
