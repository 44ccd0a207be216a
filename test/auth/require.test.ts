import { expect, it } from 'vitest'
import { requirePrincipal } from '../../src/auth/require.ts'

it('does not blame a missing ADMIN_TOKEN for a token that cannot be verified right now', async () => {
  const context = { request: new Request('https://host.example/agents/a', { method: 'PUT' }), env: {}, ctx: {} }
  const refused = (reason: 'unavailable' | 'anonymous') =>
    requirePrincipal(context as never, { caller: { authenticated: false, reason }, scope: 'write' })
  await expect(refused('unavailable')).rejects.toMatchObject({ code: 'unavailable' })
  await expect(refused('anonymous')).rejects.toMatchObject({ code: 'admin-token-missing' })
})
