import { expect, it } from 'vitest'
import { minimalCard } from '../support/cards/cards.ts'
import { sharedHost } from '../support/host.ts'

/** The requests to /lint per minute that the limited host accepts from one address. */
const limit = 5

it('limits the requests per minute from one address or IPv6 network', async () => {
  const host = sharedHost('limited')
  const lint = (address: string) =>
    host.fetch('/lint', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'CF-Connecting-IP': address },
      body: JSON.stringify(minimalCard),
    })
  // A new minute may begin during the test, so that up to twice the limit pass.
  const responses: Response[] = []
  for (let count = 0; count <= 2 * limit; count++) responses.push(await lint(`2001:db8::${count}`))
  const passed = responses.filter(({ status }) => status === 200).length
  expect(passed).toBeGreaterThanOrEqual(limit)
  const rejected = responses.find(({ status }) => status === 429)
  expect([
    rejected?.headers.get('retry-after'),
    rejected?.headers.get('cache-control'),
    await rejected?.json(),
  ]).toEqual(['60', 'no-store', expect.objectContaining({ status: 429, code: 'too-many-requests' })])
  // Another network has a limit of its own.
  expect((await lint('2001:db8:0:1::1')).status).toBe(200)
})
