import { expect, it } from 'vitest'
import { minimalCard } from '../cards.ts'
import { startHost } from '../host.ts'

it('lints sixty cards a minute for one address or IPv6 network, and tells the next when to come back', async () => {
  const host = await startHost()
  const lint = (count: number) =>
    host.fetch('/lint', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'CF-Connecting-IP': `2001:db8::${count}` },
      body: JSON.stringify(minimalCard),
    })
  // The limit's minute may turn while the test runs: at most twice sixty pass.
  let passed = 0
  let refused: Response | undefined
  for (let count = 0; count < 130; count++) {
    const response = await lint(count)
    if (response.status === 200) passed++
    else refused = response.clone()
    await response.arrayBuffer()
  }
  expect(passed).toBeLessThanOrEqual(120)
  expect([refused?.headers.get('retry-after'), refused?.headers.get('cache-control'), await refused?.json()]).toEqual([
    '60',
    'no-store',
    expect.objectContaining({ status: 429, code: 'too-many-requests' }),
  ])
  await host.close()
})
