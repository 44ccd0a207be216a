import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { agentPath, endpoint, json, lazy, loadOnce, noContent, route } from '../../src/api/contract/index.ts'
import { problem } from '../../src/http/index.ts'

const common = { tag: 'documents', summary: 'Ask', access: 'public' } as const
const Count = v.object({ count: v.number() })
const responses = { 200: json('The count.', Count) }

// The type check of `npm test` fails if a line below one of these comments compiles.
describe('the contract of an endpoint', () => {
  const ofAgent = endpoint({ ...common, params: agentPath, responses }, () => ({ body: { count: 1 } }))
  const undescribed = () => new Response()

  it('is that of its row in the route table: a description, and the parameters of the path', () => {
    const load = async () => ({ ofAgent, undescribed })
    const rows = [
      route('GET', '/agents/:id/count', lazy(load, 'ofAgent')),
      // @ts-expect-error: the path has another parameter
      route('GET', '/agents/:name/count', lazy(load, 'ofAgent')),
      // @ts-expect-error: the path has no parameter
      route('GET', '/count', lazy(load, 'ofAgent')),
      // @ts-expect-error: there is no description
      route('GET', '/count', lazy(load, 'undescribed')),
    ]
    expect(rows.map(([, path]) => path)).toEqual([...['/agents/:id/count', '/agents/:name/count', '/count', '/count']])
  })

  it('loads its handler with the first request, and calls it without a promise afterwards', async () => {
    const response = new Response()
    const calls: unknown[] = []
    let loads = 0
    const load = async () => {
      loads++
      return {
        handler: (...args: unknown[]) => {
          calls.push(args)
          return response
        },
      }
    }
    const handler = loadOnce(load, 'handler')
    const args = [new Request('https://host.example/'), {} as Env, {} as ExecutionContext, { id: 'demo' }] as const
    const first = handler(...args)
    expect(first).toBeInstanceOf(Promise)
    expect(await first).toBe(response)
    expect(handler(...args)).toBe(response)
    expect(calls).toEqual([args, args])
    expect(loads).toBe(1)
  })

  it('loads its handler again if that failed, and passes on what the handler throws', async () => {
    const error = new Error('broken')
    let loads = 0
    const handler = loadOnce(async () => {
      if (++loads === 1) throw error
      return {
        handler: () => {
          throw error
        },
      }
    }, 'handler')
    const call = async () => handler(new Request('https://host.example/'), {} as Env, {} as ExecutionContext, {})
    for (let time = 0; time < 3; time++) await expect(call()).rejects.toBe(error)
    expect(loads).toBe(2)
  })

  it('has every status, body and problem that its handler returns', () => {
    const both = { 200: json('The count.', Count), 204: noContent('None.') }
    const problems = ['not-found'] as const
    const endpoints = [
      endpoint({ ...common, responses: both }, () => ({ status: 204 })),
      // @ts-expect-error: an undeclared status
      endpoint({ ...common, responses: both }, () => ({ status: 201, body: { count: 1 } })),
      // @ts-expect-error: another body
      endpoint({ ...common, responses }, () => ({ body: { count: '1' } })),
      endpoint({ ...common, responses, problems }, () => problem('not-found', 'There is none.')),
      // @ts-expect-error: an undeclared problem
      endpoint({ ...common, responses, problems }, () => problem('conflict', 'It was changed.')),
      // @ts-expect-error: a problem that the table does not have
      endpoint({ ...common, responses, problems: ['gone-fishing'] }, () => ({ body: { count: 1 } })),
    ]
    expect(endpoints).toHaveLength(6)
  })
})
