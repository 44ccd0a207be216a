import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OwnHost, startHost } from '../support/host.ts'

describe('the icon of a host', () => {
  let host: OwnHost
  beforeAll(async () => {
    host = await startHost({}, { assets: true })
  })
  afterAll(() => host.close())

  it('is an image that caches keep for a day', async () => {
    const { status, headers } = await host.fetch('/favicon.svg')
    expect([status, headers.get('Content-Type'), headers.get('Cache-Control')]).toEqual([
      200,
      'image/svg+xml',
      'public, max-age=86400',
    ])
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
  })

  it('is found by browsers where a document names none', async () => {
    const { status, headers } = await host.fetch('/favicon.ico')
    expect([status, headers.get('Location')]).toEqual([302, '/favicon.svg'])
  })
})
