import { describe, expect, it } from 'vitest'
import { readJson, readText } from '../../src/http/body.ts'

const bytes = (...parts: (string | number[])[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.concat(parts.map(part => Buffer.from(part as never))))

/** A body that tells its length, and one that comes byte by byte. */
const bodies: [string, (body: Uint8Array<ArrayBuffer>) => Response][] = [
  ['of known length', body => new Response(body, { headers: { 'Content-Length': String(body.byteLength) } })],
  [
    'byte by byte',
    body =>
      new Response(
        new ReadableStream({
          start(controller) {
            for (const byte of body) controller.enqueue(new Uint8Array([byte]))
            controller.close()
          },
        }),
      ),
  ],
]

describe.each(bodies)('the text of a body %s', (_, made) => {
  it.each<[string, Uint8Array<ArrayBuffer>, object]>([
    ['is what was sent', bytes('{"a":"é"}'), { text: '{"a":"é"}' }],
    ['is empty', bytes(''), { text: '' }],
    ['has no BOM', bytes([0xef, 0xbb, 0xbf], '{}'), { text: '{}' }],
    ['may hold a replacement character that was sent', bytes('"\ufffd"'), { text: '"\ufffd"' }],
    ['may hold one behind a BOM', bytes([0xef, 0xbb, 0xbf], '"\ufffd"'), { text: '"\ufffd"' }],
    ['is none where it is Latin-1', bytes('"', [0xe9], '"'), { failed: 'not-utf-8' }],
    ['is none where it is UTF-16', bytes([0xff, 0xfe, 0x7b, 0, 0x7d, 0]), { failed: 'not-utf-8' }],
    ['may be as long as allowed', bytes('x'.repeat(100)), { text: 'x'.repeat(100) }],
    ['is none where it is longer', bytes('x'.repeat(101)), { failed: 'too-large' }],
  ])('%s', async (_, body, expected) => {
    expect(await readText(made(body), 100)).toEqual(expected)
  })
})

describe('a body whose length is a lie', () => {
  // HTTP goes by the chunks, and the runtime leaves both headers on what it hands on.
  const lying = (text: string) =>
    new Response(text, { headers: { 'Content-Length': '5', 'Transfer-Encoding': 'chunked' } })

  it('is read as it comes, and no more of it than allowed', async () => {
    expect([await readText(lying('x'.repeat(101)), 100), await readText(lying('x'.repeat(100)), 100)]).toEqual([
      { failed: 'too-large' },
      { text: 'x'.repeat(100) },
    ])
  })
})

describe('the declared length of a body', () => {
  const declaring = (length: string, text: string) =>
    new Request('https://host.example/', {
      method: 'POST',
      headers: { 'Content-Length': length },
      body: text,
    })

  // HTTP enforces the length, a service binding does not.
  it.each([
    ['5', 'x'.repeat(101)],
    ['100', '€'.repeat(34)],
    ['100', 'é'.repeat(51)],
  ])('does not let a larger body pass: %s', async (length, text) => {
    expect(await readText(declaring(length, text), 100)).toEqual({ failed: 'too-large' })
  })

  it('is ignored if it is not a number', async () => {
    expect(await readText(declaring('many', 'x'), 100)).toEqual({ text: 'x' })
    expect(await readText(declaring('many', 'x'.repeat(101)), 100)).toEqual({ failed: 'too-large' })
  })

  it('may be that of a text with as many bytes', async () => {
    expect(await readText(declaring('100', 'é'.repeat(50)), 100)).toEqual({ text: 'é'.repeat(50) })
  })
})

describe('a body that breaks off', () => {
  const broken = () =>
    new ReadableStream({
      pull: controller => {
        controller.enqueue(new TextEncoder().encode('{"a":'))
        controller.error(new Error('Network connection lost.'))
      },
    })
  const sending = (headers: Record<string, string> = {}) => {
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: broken() }
    return new Request('https://host.example/', { ...init, duplex: 'half' } as RequestInit)
  }

  it.each([
    ['without a length', {}],
    ['of a declared length', { 'Content-Length': '10' }],
    ['too large', { 'Content-Length': '1000' }],
  ])('is incomplete if a client sends it: %s', async (_, headers) => {
    expect(await readText(sending(headers), 100)).toEqual({ failed: 'incomplete' })
  })

  it('is an error of the client, not an unexpected one', async () => {
    await expect(readJson(sending())).rejects.toMatchObject({ status: 400, code: 'incomplete-body' })
  })

  it('rejects if a server sends it', async () => {
    await expect(readText(new Response(broken()), 100)).rejects.toThrow('Network connection lost.')
  })
})
