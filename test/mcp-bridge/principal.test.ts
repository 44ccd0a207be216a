import { expect, it } from 'vitest'
import { createPrincipalNamer } from '../../src/mcp-bridge/tool-bridge.ts'

it('names an authenticated caller by its subject, and an anonymous one by a hash of its address', async () => {
  const namePrincipal = createPrincipalNamer()
  const nameAddress = (address: string) => namePrincipal({ caller: '', address })
  const here = await nameAddress('203.0.113.7')
  expect(await namePrincipal({ caller: 'token:a', address: '' })).toEqual({ authenticated: true, name: 'token:a' })
  expect(here).toEqual({ authenticated: false, name: expect.stringMatching(/^[0-9a-f]{32}$/) })
  expect([await nameAddress('203.0.113.7'), (await nameAddress('203.0.113.8')).name === here.name]).toEqual([
    here,
    false,
  ])
  // Nobody can find the address by hashing all addresses: the secret of the object is part of the hash.
  expect(await createPrincipalNamer()({ caller: '', address: '203.0.113.7' })).not.toEqual(here)
})
