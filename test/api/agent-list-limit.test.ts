import { expect, it } from 'vitest'
import { listResponse } from '../../src/api/agent-lists.ts'

it.each(['/agents', '/.well-known/a2a/agents'] as const)(
  'a list (%s) counts as a call of its address: past the limit, neither the cache nor the Registry is asked',
  async path => {
    const counted: string[] = []
    const limit = async ({ key }: { key: string }) => {
      counted.push(key)
      return { success: false }
    }
    const env = { CALL_LIMIT: { limit } } as unknown as Env
    const request = new Request(`https://cards.example.com${path}`, { headers: { 'CF-Connecting-IP': '192.0.2.1' } })
    await expect(listResponse(path, true, { request, env, ctx: {} as ExecutionContext })).rejects.toMatchObject({
      status: 429,
      code: 'too-many-requests',
      headers: { 'Retry-After': '60' },
    })
    expect(counted).toEqual(['192.0.2.1'])
  },
)
