import { beforeAll, describe, expect, it } from 'vitest'
import { minimalCard } from '../support/cards/cards.ts'
import { sharedHost, token } from '../support/host.ts'

const host = sharedHost()
beforeAll(() => host.put('invalid-requests', minimalCard))

const send = (
  body: string | Uint8Array,
  contentType: string | undefined = 'application/json',
  id = 'invalid-requests',
) =>
  host.fetch(`/agents/${id}`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${token}`, ...(contentType && { 'Content-Type': contentType }) },
    body: body as never,
  })

/** Expects a problem with a detail, and that the host still serves what it served before. */
const expectProblem = async (response: Response, status: number, code: string, detail: string) => {
  expect([
    response.status,
    response.headers.get('content-type'),
    response.headers.get('cache-control'),
    await response.json(),
  ]).toEqual([
    status,
    'application/problem+json',
    'no-store',
    expect.objectContaining({ status, code, detail: expect.stringContaining(detail) }),
  ])
  expect(await (await host.fetch('/agents/invalid-requests?dialect=gopherhole')).json()).toMatchObject(minimalCard)
}

it('keeps a replacement character that was sent', async () => {
  const description = 'Shows \ufffd where a font has no letter'
  await send(JSON.stringify({ ...minimalCard, description }), undefined, 'replacement-character')
  expect(await (await host.fetch('/agents/replacement-character')).json()).toMatchObject({ description })
})

describe('PUT /agents/{id} with a secret', () => {
  const secret = `sk-proj-${'aB3dE6gH9jK2mN5pQ8sT'}`

  it.each<[string, object, string]>([
    ['in the card', { card: { ...minimalCard, description: secret } }, '/card/description'],
    ['in a bare card', { ...minimalCard, description: secret }, '/description'],
    ['in the extended card', { card: minimalCard, extended: { description: secret } }, '/extended/description'],
    ['in a tier', { card: minimalCard, tiers: { gold: { description: secret } } }, '/tiers/gold/description'],
  ])('rejects one %s without repeating it, and registers it where it is allowed', async (_, document, pointer) => {
    const response = await send(JSON.stringify(document))
    const text = await response.clone().text()
    await expectProblem(response, 422, 'secret-in-card', `Nothing was registered. ${pointer}`)
    expect(JSON.parse(text).errors).toEqual([{ pointer, message: expect.stringContaining('revoke it') }])
    expect(text).not.toContain(secret)
    const manifest = 'card' in document ? document : { card: document }
    const place = 'card' in document ? pointer : `/card${pointer}`
    const allowed = await send(JSON.stringify({ ...manifest, allowSecrets: [place] }), undefined, 'allowed-secret')
    expect([allowed.ok, await allowed.text()]).toEqual([true, expect.not.stringContaining(secret)])
  })
})

describe('PUT /agents/{id} with a body that is not a card', () => {
  const nest = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  it.each<[string, string | Uint8Array, number, string, string]>([
    ['an empty body', '', 400, 'not-json', 'The body is empty'],
    ['HTML', '<!doctype html><p>hi', 400, 'not-json', 'HTML or XML'],
    ['YAML', '---\nname: x\n', 400, 'not-json', 'sync-card converts it'],
    ['truncated JSON', '{"name": "x"', 400, 'not-json', 'This is not JSON'],
    ['NaN', '{"version": NaN}', 400, 'not-json', 'This is not JSON'],
    [
      'invalid UTF-8',
      new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]),
      400,
      'not-json',
      'the byte 0xFF at offset 1, in line 1.',
    ],
    [
      'a character without its last byte',
      Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xf0, 0x9f, 0x98]), Buffer.from('"}')]),
      400,
      'not-json',
      'the byte 0xF0 at offset 9',
    ],
    [
      'a long name twice',
      `{"${'a'.repeat(999)}":1,"${'a'.repeat(999)}":2}`,
      422,
      'duplicate-name',
      `/${'a'.repeat(199)} is`,
    ],
    ['a name twice', '{"name":"a",\n"name":"b"}', 422, 'duplicate-name', '/name is in its object twice'],
    ['65 levels of nesting', nest(65), 422, 'too-deep', '64 levels'],
    ['100,000 levels of nesting', '['.repeat(100_000), 422, 'too-deep', '64 levels'],
    ['null', 'null', 422, 'invalid-card', 'JSON object'],
    ['an array', '[]', 422, 'invalid-card', 'JSON object'],
    ['a string', '"card"', 422, 'invalid-card', 'JSON object'],
    ['an empty object', '{}', 422, 'invalid-card', 'is missing'],
    ['300 KiB', JSON.stringify({ ...minimalCard, filler: 'x'.repeat(300 * 1024) }), 413, 'too-large', '256 KiB'],
  ])('rejects %s', async (_, body, status, code, detail) => {
    await expectProblem(await send(body), status, code, detail)
  })

  it.each(['text/plain', 'application/yaml', 'multipart/form-data; boundary=x', 'application/jsonp'])(
    'rejects the media type %s',
    async contentType => {
      await expectProblem(
        await send(JSON.stringify(minimalCard), contentType),
        415,
        'unsupported-media-type',
        'application/json',
      )
    },
  )

  it('limits a streamed body of unknown length by the bytes that arrive', async () => {
    // Only the last byte exceeds the limit, so that no data is in flight when the response arrives.
    const chunks = [' '.repeat(256 * 1024), ' ']
    const stream = new ReadableStream({
      pull(controller) {
        const chunk = chunks.shift()
        if (chunk === undefined) controller.close()
        else controller.enqueue(new TextEncoder().encode(chunk))
      },
    })
    const response = await host.fetch('/agents/invalid-requests', {
      method: 'PUT',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: stream,
      duplex: 'half',
    } as RequestInit)
    await expectProblem(response, 413, 'too-large', '256 KiB')
  })
})

describe('PUT /agents/{id} with an invalid card', () => {
  const skill = { id: 'a', name: 'A', description: 'Does a', tags: ['a'] }
  it.each([
    [
      '__proto__',
      '{"name":"x","description":"y","url":"https://x.example","__proto__":{"admin":true}}',
      '/__proto__',
      'not allowed as a name',
    ],
    [
      'constructor',
      JSON.stringify({ ...minimalCard, capabilities: { constructor: {} } }),
      '/capabilities/constructor',
      'not allowed as a name',
    ],
    [
      'duplicate skill ids',
      JSON.stringify({ ...minimalCard, skills: [skill, skill] }),
      '/skills/1/id',
      'give each skill its own id',
    ],
    ['a javascript: URL', JSON.stringify({ ...minimalCard, url: 'javascript:alert(1)' }), '/url', 'http'],
    ['a data: URL', JSON.stringify({ ...minimalCard, iconUrl: 'data:text/html,x' }), '/iconUrl', 'http'],
    [
      'a file: URL',
      JSON.stringify({ ...minimalCard, documentationUrl: 'file:///etc/passwd' }),
      '/documentationUrl',
      'http',
    ],
    [
      'a URL with credentials',
      JSON.stringify({ ...minimalCard, url: 'https://user:pass@x.example' }),
      '/url',
      'user name or password',
    ],
    ['a name with CR and LF', JSON.stringify({ ...minimalCard, name: 'x\r\nSet-Cookie: a=b' }), '/name', 'one line'],
    ['a description with NUL', JSON.stringify({ ...minimalCard, description: 'x\0y' }), '/description', 'NUL'],
    [
      'a URL with CR and LF',
      JSON.stringify({ ...minimalCard, url: 'https://x.example/\r\nX: y' }),
      '/url',
      'absolute URL',
    ],
    ['a card without a URL', JSON.stringify({ name: 'x', description: 'y' }), '/url', '`upstream.url`'],
    [
      'an unknown manifest field',
      JSON.stringify({ card: minimalCard, vissibility: 'internal' }),
      '/vissibility',
      'not a known field here',
    ],
    [
      'an invalid card in a manifest',
      JSON.stringify({ card: { ...minimalCard, name: 7 } }),
      '/card/name',
      'must be a string',
    ],
    [
      'a manifest with another id',
      JSON.stringify({ id: 'other', card: minimalCard }),
      '/id',
      'is registered as "invalid-requests"',
    ],
    [
      'an ERC-8004 registration',
      JSON.stringify({ ...minimalCard, type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1' }),
      '/type',
      'ERC-8004',
    ],
  ])('rejects %s with its JSON pointer and the reason', async (_, body, pointer, message) => {
    const response = await send(body)
    const { errors } = (await response.clone().json()) as { errors: { pointer: string; message: string }[] }
    expect(errors).toContainEqual({ pointer, message: expect.stringContaining(message) })
    await expectProblem(response, 422, 'invalid-card', 'Nothing was registered')
  })
})

describe('an invalid agent id', () => {
  it.each(['UPPER', 'with.dot', 'with%2Fslash', 'with%20space', '%00', '-dash', 'ünï', 'a'.repeat(64)])(
    'is rejected: PUT /agents/%s',
    async id => {
      await expectProblem(
        await send(JSON.stringify(minimalCard), 'application/json', id),
        400,
        'bad-agent-id',
        'is not a valid agent id',
      )
    },
  )
})

describe('a method that a path does not allow', () => {
  it.each([
    ['PATCH', '/agents/invalid-requests', 'POST, GET, HEAD, PUT, DELETE, OPTIONS'],
    ['DELETE', '/agents', 'GET, HEAD, OPTIONS'],
    ['POST', '/.well-known/agent-card.json', 'GET, HEAD, OPTIONS'],
    ['PUT', '/lint', 'GET, HEAD, POST, OPTIONS'],
  ])('is rejected with 405 and Allow: %s %s', async (method, path, allow) => {
    const response = await host.fetch(path, { method })
    expect(response.headers.get('allow')).toBe(allow)
    await expectProblem(response, 405, 'method-not-allowed', allow)
  })
})

describe('an unsupported precondition', () => {
  it('is rejected: If-None-Match with an entity tag in a PUT request', async () => {
    await expectProblem(
      await host.put('invalid-requests', minimalCard, { 'If-None-Match': '"x"' }),
      400,
      'bad-condition',
      'If-None-Match: *',
    )
  })
})

describe('a list with pages', () => {
  const revisions = '/agents/invalid-requests/revisions'
  const lists = ['/agents', '/agents?q=agent', '/agents?tag=general', revisions, '/tokens', '/audit']
    .concat('/.well-known/a2a/agents', '/.well-known/ai-catalog.json', '/.well-known/ard.json', '/llms.txt')
    .map(path => ({ path: `${path}${path.includes('?') ? '&' : '?'}`, authorization: !path.includes('.') }))

  it.each(lists)(
    '$path rejects limits and cursors that it did not give, and parameters that it does not have',
    async list => {
      const { path, authorization } = list
      const headers: Record<string, string> = authorization ? { Authorization: `Bearer ${token}` } : {}
      const queries = [
        'limit=0',
        'limit=-1',
        'limit=1e9',
        'limit=1000000000',
        'limit=',
        'limit=1.5',
        'limit=0x10',
      ].concat('cursor=..%2F..', 'cursor=%00', "cursor=1'--", `cursor=${'9'.repeat(500)}`, 'cursor=a.1.2', 'colour=red')
      const codes = await Promise.all(
        queries.map(async query => {
          const response = await host.fetch(path + query, { headers })
          const { code } = (await response.json()) as { code: string }
          return `${query}: ${response.status} ${code}`
        }),
      )
      expect(codes).toEqual(
        queries.map(
          query => `${query}: 400 ${query.startsWith('colour') ? 'unknown-query' : `bad-${query.split('=')[0]}`}`,
        ),
      )
    },
  )
})
