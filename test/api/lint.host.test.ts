import { describe, expect, it } from 'vitest'
import { nextAddress } from '../support/called-host.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { sharedHost, token } from '../support/host.ts'
import { startNodeHost } from '../support/node-host.ts'
import { makeSigningKey } from '../support/signing-key.ts'

/** The requests to /lint per minute that the limited host accepts from one address. */
const limit = 5

const host = sharedHost()
const limitedHost = sharedHost('limited')

/** A host of either kind. */
type Target = { fetch: (path: string, init?: RequestInit) => Promise<Response> }

const lint = (body: string, address = nextAddress(), on: Target = host) =>
  on.fetch('/lint', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'CF-Connecting-IP': address },
    body,
  })

describe('POST /lint', () => {
  it('reports on a card without storing it', async () => {
    const response = await lint(
      JSON.stringify({ ...minimalCard, name: 'Lint Only', url: 'http://lint-only.example/a2a' }),
    )
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        valid: true,
        errors: [],
        dialect: 'gopherhole',
        filled: expect.any(Array),
        converted: [],
        dropped: expect.any(Object),
        lossy: [],
        signatures: [],
        issues: expect.any(Array),
      },
    ])
    expect((await host.fetch('/a2a/v1/agents/Lint%20Only')).status).toBe(404)
    expect((await host.fetch('/agents/lint-only')).status).toBe(404)
  })

  it.each([
    [
      'signs it',
      'https://cards.example.com',
      'agent-card.json, agent.json, 1.0, 0.3 signed by this host with the key ',
    ],
    ['does not', '', 'not signed by this host. This host does not know under which name it is public'],
  ])('reports whether a host with a key %s', async (_, PUBLIC_URL, message) => {
    const signing = await startNodeHost({ vars: { SIGNING_KEY: JSON.stringify(makeSigningKey()), PUBLIC_URL } })
    const report = await (await lint(JSON.stringify(minimalCard), nextAddress(), signing)).json()
    expect(report).toMatchObject({ signatures: [{ pointer: '', message: expect.stringContaining(message) }] })
  })

  it('lists the errors of an invalid card', async () => {
    expect(await (await lint('{"name":"x"}')).json()).toMatchObject({
      valid: false,
      errors: expect.arrayContaining([{ pointer: '/description', message: 'is missing' }]),
    })
  })

  it('reports a secret with everything else, and that the card would not be registered', async () => {
    const secret = `sk-proj-${'aB3dE6gH9jK2mN5pQ8sT'}`
    const text = await (await lint(JSON.stringify({ card: { ...minimalCard, description: secret } }))).text()
    const pointer = '/card/description'
    expect(JSON.parse(text)).toMatchObject({
      valid: false,
      errors: [{ pointer, message: expect.stringContaining(`add "${pointer}" to \`allowSecrets\``) }],
      filled: expect.arrayContaining([expect.objectContaining({ pointer: '/skills' })]),
      issues: expect.arrayContaining([expect.objectContaining({ rule: 'secret', pointer: '/description' })]),
    })
    expect(text).not.toContain(secret)
  })

  it.each<[string, object, boolean]>([
    ['a bare card, of which it is a field', { ...minimalCard, id: 'Vendor Manager' }, true],
    ['a bare card, where it is no text', { ...minimalCard, id: 5 }, true],
    ['a manifest', { id: 'vendor-manager', card: minimalCard }, true],
    ['a manifest, where it is invalid', { id: 'Vendor Manager', card: minimalCard }, false],
    ['a manifest, where it is no text', { id: 5, card: minimalCard }, false],
  ])('accepts the id that PUT accepts, in %s', async (_, document, valid) => {
    const id = 'vendor-manager'
    const registered = await host.fetch(`/agents/${id}`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      body: JSON.stringify(document),
    })
    expect(registered.ok).toBe(valid)
    expect(await (await lint(JSON.stringify(document))).json()).toMatchObject({
      valid,
      errors: valid ? [] : [{ pointer: '/id' }],
    })
  })

  it('rejects a body that is not JSON', async () => {
    const response = await lint('<html>')
    expect([
      response.status,
      response.headers.get('content-type'),
      response.headers.get('cache-control'),
      await response.json(),
    ]).toEqual([
      400,
      'application/problem+json',
      'no-store',
      expect.objectContaining({ status: 400, code: 'not-json', detail: expect.stringContaining('HTML') }),
    ])
  })

  it('limits the requests per minute from one address or IPv6 network', async () => {
    const card = JSON.stringify(minimalCard)
    // A new minute may begin during the test, so that up to twice the limit pass.
    const responses: Response[] = []
    for (let count = 0; count <= 2 * limit; count++) responses.push(await lint(card, `2001:db8::${count}`, limitedHost))
    const passed = responses.filter(({ status }) => status === 200).length
    expect(passed).toBeGreaterThanOrEqual(limit)
    const rejected = responses.find(({ status }) => status === 429)
    expect([
      rejected?.headers.get('retry-after'),
      rejected?.headers.get('cache-control'),
      await rejected?.json(),
    ]).toEqual(['60', 'no-store', expect.objectContaining({ status: 429, code: 'too-many-requests' })])
    // Another network has a limit of its own.
    expect((await lint(card, '2001:db8:0:1::1', limitedHost)).status).toBe(200)
  })
})
