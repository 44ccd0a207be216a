import { expect, it } from 'vitest'
import type { FetchFn } from '../../src/http/safe-fetch.ts'
import { createKeyFetch } from '../../src/signing/shared.ts'

const url = 'https://keys.example.com/jwks.json'

it('fetches keys as JSON, and from no other address than the one that is trusted', async () => {
  const sent: [url: string, accept: string | null][] = []
  const fetchKeys = (response: () => Response) => {
    const fetch: FetchFn = async (to, init) => {
      sent.push([String(to), new Headers(init.headers).get('Accept')])
      return response()
    }
    return createKeyFetch(new Set(), fetch)(url)
  }
  expect(await fetchKeys(() => Response.json({ keys: [] }))).toMatchObject({ document: { keys: [] } })
  const moved = () => new Response(null, { status: 302, headers: { Location: 'https://other.example.com/' } })
  expect(await fetchKeys(moved)).toHaveProperty('error')
  const accept = 'application/jwk-set+json, application/did+json, application/json'
  expect(sent).toEqual([
    [url, accept],
    [url, accept],
  ])
})
