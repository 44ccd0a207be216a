import { describe, expect, it } from 'vitest'
import { createManifestSchema } from '../../src/card/manifest/json-schema.ts'
import { sharedHost } from '../support/host.ts'

const path = '/schema/manifest.json'

describe(`GET ${path}`, () => {
  const host = sharedHost()

  it('returns the JSON Schema of manifests to anyone, pages of other origins included, for caches to keep', async () => {
    const response = await host.fetch(path, { headers: { Origin: 'https://editor.example' } })
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/schema+json',
      'cache-control': 'public, max-age=3600, stale-while-revalidate=86400',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
    })
    expect(await response.json()).toEqual(createManifestSchema())
  })

  it('returns 304 to a client that has it', async () => {
    const etag = (await host.fetch(path)).headers.get('ETag') ?? ''
    const response = await host.fetch(path, { headers: { 'If-None-Match': etag } })
    expect([response.status, response.headers.get('ETag'), await response.text()]).toEqual([304, etag, ''])
  })
})
