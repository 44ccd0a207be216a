import { describe, expect, it } from 'vitest'
import { readRestBody, restParams } from '../../src/a2a/rest-params.ts'

describe('the body of an HTTP+JSON call', () => {
  it.each([
    ['', {}],
    [' \n', {}],
    ['{}', {}],
    ['{"message":{"parts":[]}}', { message: { parts: [] } }],
  ])('%j is read', (text, body) => {
    expect(readRestBody(text)).toStrictEqual({ body })
  })

  it.each(['[]', 'null', '1', '"x"', '1e400', 'true'])('%s is no object, and refused', text => {
    expect(readRestBody(text)).toStrictEqual({
      refused: 'not-a-request',
      detail: 'The body of a call is a JSON object.',
      id: null,
    })
  })

  it('that is not JSON is refused', () => {
    expect(readRestBody('message=hello')).toMatchObject({ refused: 'not-json' })
  })
})

describe('the parameters of an HTTP+JSON call', () => {
  it('are those of the path, else of the body, else the first in the query', () => {
    const query = new URLSearchParams('id=q&tenant=q&historyLength=1&historyLength=2&A2A-Version=1.0&a2a-version=0.3')
    expect(restParams({ id: 'p' }, query, { id: 'b', tenant: 'b', configuration: {} })).toStrictEqual({
      id: 'p',
      tenant: 'b',
      configuration: {},
      historyLength: '1',
    })
  })

  it('keep names that mean something to JavaScript as names', () => {
    const params = restParams({}, new URLSearchParams('__proto__=x'), JSON.parse('{"constructor":1}'))
    expect([Object.getPrototypeOf(params), JSON.stringify(params)]).toStrictEqual([
      Object.prototype,
      '{"__proto__":"x","constructor":1}',
    ])
  })
})
