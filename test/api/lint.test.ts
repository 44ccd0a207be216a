import { expect, it } from 'vitest'
import { minimalCard } from '../support/cards/cards.ts'
import { sharedHost } from '../support/host.ts'

/** The checks a minute that the limited host takes from one address. */
const limit = 5

it('limits the cards a minute that it checks for one address or IPv6 network', async () => {
  const host = sharedHost('limited')
  const lint = (address: string) =>
    host.fetch('/lint', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'CF-Connecting-IP': address },
      body: JSON.stringify(minimalCard),
    })
  // A new minute may begin during the test: at most twice the limit pass.
  const responses: Response[] = []
  for (let count = 0; count <= 2 * limit; count++) responses.push(await lint(`2001:db8::${count}`))
  const passed = responses.filter(({ status }) => status === 200).length
  expect(passed).toBeGreaterThanOrEqual(limit)
  const refused = responses.find(({ status }) => status === 429)
  expect([refused?.headers.get('retry-after'), refused?.headers.get('cache-control'), await refused?.json()]).toEqual([
    '60',
    'no-store',
    expect.objectContaining({ status: 429, code: 'too-many-requests' }),
  ])
  // The next network is not affected.
  expect((await lint('2001:db8:0:1::1')).status).toBe(200)
})
