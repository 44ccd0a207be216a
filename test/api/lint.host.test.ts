import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { nextAddress, senderTo } from '../support/called-host.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { sharedHost } from '../support/host.ts'
import { startNodeHost } from '../support/node-host.ts'
import { makeSigningKey } from '../support/signing-key.ts'

const host = sharedHost()

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
    const card = { ...minimalCard, name: 'Lint Only', url: 'http://lint-only.example/a2a' }
    const response = await lint(JSON.stringify(card))
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        ...{ valid: true, errors: [], dialect: 'gopherhole', converted: [], lossy: [], signatures: [] },
        ...{ filled: expect.any(Array), dropped: expect.any(Object), issues: expect.any(Array) },
      },
    ])
    expect((await host.fetch('/a2a/v1/agents/Lint%20Only')).status).toBe(404)
    expect((await host.fetch('/agents/lint-only')).status).toBe(404)
  })

  it('reports whether a host with a key signs it', async () => {
    for (const [PUBLIC_URL, message] of [
      ['https://cards.example.com', 'agent-card.json, agent.json, 1.0, 0.3 signed by this host with the key '],
      ['', 'not signed by this host. This host does not know under which name it is public'],
    ] as const) {
      const signing = await startNodeHost({ vars: { SIGNING_KEY: JSON.stringify(makeSigningKey()), PUBLIC_URL } })
      const report = await (await lint(JSON.stringify(minimalCard), nextAddress(), signing)).json()
      expect(report).toMatchObject({ signatures: [{ pointer: '', message: expect.stringContaining(message) }] })
    }
  })

  it('also returns what each client would get, if it is asked to', async () => {
    const read = (query: string) => senderTo(host)(`/lint${query}`, { body: minimalCard })
    const shown = { representations: { '1.0': { name: 'My Agent' }, 'agent-card.json': { name: 'My Agent' } } }
    expect((await read('?representations=true')).body).toMatchObject(shown)
    expect((await read('?representations=false')).body).not.toHaveProperty('representations')
    for (const query of ['?representations=yes', '?representation=true'])
      expect(await read(query)).toMatchObject({ status: 400, body: { code: 'unknown-query' } })
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

  it('accepts the id that PUT accepts', async () => {
    const id = 'vendor-manager'
    const rows: [document: JsonObject, valid: boolean][] = [
      // A field of a bare card, and that of a manifest.
      [{ ...minimalCard, id: 'Vendor Manager' }, true],
      [{ id, card: minimalCard }, true],
      [{ id: 'Vendor Manager', card: minimalCard }, false],
    ]
    for (const [document, valid] of rows) {
      expect((await host.put(id, document)).ok).toBe(valid)
      const report = await (await lint(JSON.stringify(document))).json()
      expect(report).toMatchObject({ valid, errors: valid ? [] : [{ pointer: '/id' }] })
    }
  })
})
