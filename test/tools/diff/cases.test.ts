import { describe, expect, it } from 'vitest'
import { testedAgents } from '../../../tools/diff/agents.ts'
import { makeCase } from '../../../tools/diff/cases.ts'
import { makeResponse } from '../../../tools/diff/responses.ts'

const range = (count: number) => Array.from({ length: count }, (_, number) => number)

describe('a case', () => {
  it('is the same for the same seed and number, and differs from others', () => {
    expect(makeCase(3, 17)).toStrictEqual(makeCase(3, 17))
    const texts = new Set(range(300).map(number => JSON.stringify({ ...makeCase(3, number), number: 0 })))
    expect(texts.size).toBe(300)
    expect(makeCase(4, 17)).not.toEqual(makeCase(3, 17))
  })

  it('has an agent of its own among as many cases as there are agents', () => {
    const ids = new Set(range(testedAgents.length).map(number => makeCase(1, number).agent.id))
    expect(ids.size).toBe(testedAgents.length)
  })

  it('has only what an HTTP client can send', () => {
    for (const { steps } of range(500).map(number => makeCase(2, number)))
      for (const { path, headers, body = '' } of steps) {
        expect(path).toMatch(/^\/[!-~]*$/)
        for (const [name, value] of headers) expect(`${name}: ${value}`).toMatch(/^[\w-]+: [\t\x20-\x7e]*$/)
        expect(Buffer.from(body, 'latin1').toString('latin1') === body).toBe(true)
      }
  })
})

describe('a scripted response', () => {
  const origin = 'http://127.0.0.1:40000'
  const request = (path: string, body = '', method = 'POST') => ({ method, path, headers: [], body })
  const call = '{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":"mine"}}'

  it('is about the task of its call, with its id', () => {
    const response = makeResponse({ seed: 1, isGood: true, caseNumber: 5 }, request('/a/rpc-1', call), origin)
    expect(response).toMatchObject({ status: 200, headers: [['Content-Type', 'application/json']] })
    expect(JSON.parse(response.body)).toMatchObject({ id: 7, result: { id: 'mine', contextId: 'context-5' } })
    const { body } = makeResponse(
      { seed: 1, isGood: true, caseNumber: 5 },
      request('/a/rest-0/v1/tasks/mine', '', 'GET'),
      origin,
    )
    expect(JSON.parse(body)).toMatchObject({ id: 'mine' })
  })

  it('is the same for the same script', () => {
    for (const seed of range(300)) {
      const script = { seed, isGood: false, caseNumber: 5 }
      const [one, other] = [1, 2].map(() => makeResponse(script, request('/a/rpc-1', call), origin))
      expect(one).toStrictEqual(other)
    }
  })
})
