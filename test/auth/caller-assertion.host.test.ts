import { describe, expect, it } from 'vitest'
import { findIdentityErrors } from '../../src/auth/caller-assertion.ts'
import { readManifest } from '../../src/card/manifest/manifest.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { agentCard, shortCard } from '../support/cards/cards.ts'
import { compileCard, getCompileErrors, registration } from '../support/cards/compile.ts'
import { sharedHost } from '../support/host.ts'
import { makeSigningKey } from '../support/signing-key.ts'

const upstream = { identity: 'header' }
const SIGNING_KEY = JSON.stringify(makeSigningKey())
const noIssuer =
  'needs a public origin of this host as the issuer: set PUBLIC_URL in wrangler.toml, or give the agent a host name in `hosts`'
const noKey = 'needs a key to sign with. This Worker has no SIGNING_KEY. Create one: npx sync-card keys create'

const find = async (more: JsonObject, env: { SIGNING_KEY?: string; PUBLIC_URL?: string }) => {
  const read = readManifest({ card: shortCard, upstream, ...more })
  if ('errors' in read) throw new Error(JSON.stringify(read.errors))
  const errors = await findIdentityErrors(read.manifest, { PUBLIC_URL: '', ...env })
  for (const { pointer } of errors) expect(pointer).toBe('/upstream/identity')
  return errors.map(({ message }) => message)
}

describe('a manifest with `upstream.identity`', () => {
  it('needs a key and an origin', async () => {
    const PUBLIC_URL = 'https://cards.example.com'
    const malformed = { PUBLIC_URL, SIGNING_KEY: '{"keys":[]}' }
    const rows: [title: string, JsonObject, Parameters<typeof find>[1], errors: unknown[]][] = [
      ['with PUBLIC_URL', {}, { SIGNING_KEY, PUBLIC_URL }, []],
      ['with a host name of the agent', { hosts: ['*', 'weather.example.com'] }, { SIGNING_KEY }, []],
      ['without either', {}, { SIGNING_KEY }, [noIssuer]],
      ['for any host name', { hosts: ['*'] }, { SIGNING_KEY }, [noIssuer]],
      ['without a key', {}, { PUBLIC_URL }, [noKey]],
      ['with a malformed key', {}, malformed, [expect.stringContaining('is not a private key for ES256')]],
      ['in another manifest', { upstream: {} }, {}, []],
    ]
    for (const [title, more, env, expected] of rows) expect(await find(more, env), title).toEqual(expected)
  })

  it('is rejected for an MCP server, and in another form', () => {
    const rows: [manifest: JsonObject, card: JsonObject, message: string][] = [
      [
        { upstream: { ...upstream, mcp: 'https://mcp.example.com/mcp' } },
        {},
        'has `identity` for an MCP server, which learns nothing of its callers: remove it, or set `url` to an A2A endpoint',
      ],
      [{ upstream: { identity: 'body' } }, shortCard, 'must be "header"'],
    ]
    for (const [manifest, card, message] of rows)
      expect(getCompileErrors({ card, ...manifest })).toEqual([expect.objectContaining({ message })])
    const mcp = { identity: 'header', mcp: 'https://mcp.example.com/mcp', url: 'https://mcp.example.com/a2a' }
    expect(readManifest({ upstream: mcp })).toHaveProperty('manifest')
  })

  it("has PUBLIC_URL as its issuer, or the agent's first host name", () => {
    const issuerOf = (hosts: string[], origins: object = {}) =>
      compileCard({ card: shortCard, upstream, hosts }, undefined, { ...registration, ...origins }).profile.identity
    expect([
      issuerOf(['weather.example.com'], { publicOrigin: 'https://cards.example.com' }),
      issuerOf(['*', 'weather.example.com', 'b.example.com']),
    ]).toEqual([{ issuer: 'https://cards.example.com' }, { issuer: 'https://weather.example.com' }])
  })

  it('is rejected by a host that cannot sign, in the same words by registration and linter', async () => {
    const host = sharedHost()
    const manifest = { card: agentCard('https://weather.example.com'), upstream }
    const errors = [noIssuer, noKey].map(message => ({ pointer: '/upstream/identity', message }))
    const registered = await host.put('identity-without-key', manifest)
    expect([registered.status, await registered.json()]).toEqual([
      422,
      expect.objectContaining({ code: 'invalid-card', errors }),
    ])
    const linted = await host.fetch('/lint', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(manifest),
    })
    expect(await linted.json()).toEqual({ valid: false, errors })
  })

  it('is answered with 404 for its keys', async () => {
    const response = await sharedHost().fetch('/.well-known/jwks.json')
    expect([response.status, response.headers.get('Cache-Control'), await response.json()]).toEqual([
      404,
      'no-store',
      expect.objectContaining({ code: 'no-signing-key' }),
    ])
  })
})
