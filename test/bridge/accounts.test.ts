import { expect, it } from 'vitest'
import { PrincipalQuotas } from '../../src/mcp-bridge/tool-bridge.ts'

it('names a caller that is known, and else its address by what does not lead back to it', async () => {
  const accounts = new PrincipalQuotas()
  const of = (address: string) => accounts.of({ caller: '', address })
  const here = await of('203.0.113.7')
  expect(await accounts.of({ caller: 'token:a', address: '' })).toEqual({ known: true, name: 'token:a' })
  expect(here).toEqual({ known: false, name: expect.stringMatching(/^[0-9a-f]{32}$/) })
  expect([await of('203.0.113.7'), (await of('203.0.113.8')).name === here.name]).toEqual([here, false])
  // Whoever tries all addresses does not find it: the object's secret is part of it.
  expect(await new PrincipalQuotas().of({ caller: '', address: '203.0.113.7' })).not.toEqual(here)
})
