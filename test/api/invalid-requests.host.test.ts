import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { type Received, senderTo } from '../support/called-host.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { sharedHost, token } from '../support/host.ts'

const host = sharedHost()
const send = senderTo(host)
beforeAll(() => host.put('invalid-requests', minimalCard))

const put = (body: string | Uint8Array, type = 'application/json', id = 'invalid-requests') =>
  send(`/agents/${id}`, { method: 'PUT', token, headers: { 'Content-Type': type }, body })
const withCard = (more: JsonObject) => JSON.stringify({ ...minimalCard, ...more })

/** Expects a problem with a detail, and that the host still serves what it served before. */
const expectProblem = async (what: string, response: Received, status: number, code: string, detail: string) => {
  const { headers, text } = response
  expect([response.status, headers.get('content-type'), headers.get('cache-control'), JSON.parse(text)], what).toEqual([
    ...[status, 'application/problem+json', 'no-store'],
    expect.objectContaining({ status, code, detail: expect.stringContaining(detail) }),
  ])
  const served = await send('/agents/invalid-requests?dialect=gopherhole', { method: 'GET' })
  expect(served.body, what).toMatchObject(minimalCard)
}

it('PUT /agents/{id} rejects a secret without repeating it, and registers it where it is allowed', async () => {
  const secret = `sk-proj-${'aB3dE6gH9jK2mN5pQ8sT'}`
  const card = { ...minimalCard, description: secret }
  const rows: [document: JsonObject, pointer: string, allowed: JsonObject, place: string][] = [
    [{ card }, '/card/description', { card }, '/card/description'],
    [card, '/description', { card }, '/card/description'],
  ]
  for (const [document, pointer, manifest, place] of rows) {
    const response = await put(JSON.stringify(document))
    await expectProblem(pointer, response, 422, 'secret-in-card', `Nothing was registered. ${pointer}`)
    expect(response.body).toMatchObject({ errors: [{ pointer, message: expect.stringContaining('revoke it') }] })
    expect(response.text).not.toContain(secret)
    const allowed = await put(JSON.stringify({ ...manifest, allowSecrets: [place] }), undefined, 'allowed-secret')
    expect([[200, 201].includes(allowed.status), allowed.text]).toEqual([true, expect.not.stringContaining(secret)])
  }
})

describe('PUT /agents/{id} with a body that is not a card', () => {
  it('rejects it', async () => {
    const longName = 'a'.repeat(999)
    const rows: [what: string, body: string | Uint8Array, status: number, code: string, detail: string][] = [
      ['an empty body', '', 400, 'not-json', 'The body is empty'],
      ['HTML', '<!doctype html><p>hi', 400, 'not-json', 'HTML or XML'],
      ['YAML', '---\nname: x\n', 400, 'not-json', 'sync-card converts it'],
      ['no UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), 400, 'not-json', 'the byte 0xFF at offset 1, in line 1.'],
      ['a long name twice', `{"${longName}":1,"${longName}":2}`, 422, 'duplicate-name', `/${'a'.repeat(199)} is`],
      ['a name twice', '{"name":"a",\n"name":"b"}', 422, 'duplicate-name', '/name is in its object twice'],
      ['65 levels of nesting', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, 422, 'too-deep', '64 levels'],
      ['null', 'null', 422, 'invalid-card', 'JSON object'],
      ['an empty object', '{}', 422, 'invalid-card', 'is missing'],
      ['300 KiB', withCard({ filler: 'x'.repeat(300 * 1024) }), 413, 'too-large', '256 KiB'],
    ]
    for (const [what, body, status, code, detail] of rows)
      await expectProblem(what, await put(body), status, code, detail)
    const errors = [{ pointer: '/name', message: 'is in its object twice, for the second time in line 1' }]
    expect((await put('{"name":"a","name":"b"}')).body).toMatchObject({ errors })
  })

  it('rejects other media types', async () => {
    for (const type of ['text/plain', 'application/jsonp']) {
      const response = await put(JSON.stringify(minimalCard), type)
      await expectProblem(type, response, 415, 'unsupported-media-type', 'application/json')
    }
  })
})

it('PUT /agents/{id} rejects an invalid card with the JSON pointer of each mistake and the reason', async () => {
  const proto = '{"name":"x","description":"y","url":"https://x.example","__proto__":{"admin":true}}'
  const rows: [body: string, pointer: string, message: string][] = [
    [proto, '/__proto__', 'not allowed as a name'],
    [withCard({ url: 'javascript:alert(1)' }), '/url', 'http'],
    [withCard({ url: 'https://user:pass@x.example' }), '/url', 'user name or password'],
    [JSON.stringify({ name: 'x', description: 'y' }), '/url', '`upstream.url`'],
    [JSON.stringify({ card: minimalCard, vissibility: 'internal' }), '/vissibility', 'not a known field here'],
    [JSON.stringify({ id: 'other', card: minimalCard }), '/id', 'is registered as "invalid-requests"'],
  ]
  for (const [body, pointer, message] of rows) {
    const response = await put(body)
    const error = { pointer, message: expect.stringContaining(message) }
    expect((response.body as JsonObject).errors, body).toContainEqual(error)
    await expectProblem(body, response, 422, 'invalid-card', 'Nothing was registered')
  }
})

it('rejects an invalid agent id', async () => {
  const ids = ['UPPER', 'with.dot', 'with%2Fslash', 'with%20space', '%00', '-dash', 'ünï', 'a'.repeat(64)]
  for (const id of ids) {
    const response = await put(JSON.stringify(minimalCard), undefined, id)
    await expectProblem(id, response, 400, 'bad-agent-id', 'is not a valid agent id')
  }
})

it('rejects a method that a path does not allow with 405 and Allow', async () => {
  for (const [method, path, allow] of [
    ['PATCH', '/agents/invalid-requests', 'POST, GET, HEAD, PUT, DELETE, OPTIONS'],
    ['POST', '/.well-known/agent-card.json', 'GET, HEAD, OPTIONS'],
  ] as const) {
    const response = await send(path, { method })
    expect(response.headers.get('allow')).toBe(allow)
    await expectProblem(path, response, 405, 'method-not-allowed', allow)
  }
})

it('rejects limits and cursors that no list gave, and parameters that a list does not have', async () => {
  const lists = ['/agents?', '/agents?q=agent&', '/agents?tag=general&', '/tokens?', '/audit?']
  const rows = [
    ...['limit=0', 'limit=101', 'limit=1e9', 'limit='].map(query => [query, 'bad-limit']),
    ...['cursor=..%2F..', "cursor=1'--", `cursor=${'9'.repeat(500)}`].map(query => [query, 'bad-cursor']),
    ['colour=red', 'unknown-query'],
  ]
  for (const list of [...lists, '/agents/invalid-requests/revisions?', '/.well-known/a2a/agents?'])
    for (const [query, code] of rows) {
      const { status, body } = await send(`${list}${query}`, { method: 'GET', token })
      expect([list, query, status, (body as JsonObject).code]).toEqual([list, query, 400, code])
    }
})
