import { describe, expect, it } from 'vitest'
import { readText } from '../../src/http/body.ts'
import { readJson } from '../../src/http/json-body.ts'

const bytes = (...parts: (string | number[])[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.concat(parts.map(part => Buffer.from(part as never))))

/** A body with a declared length, and a body that arrives byte by byte. */
const bodies: [string, (body: Uint8Array<ArrayBuffer>) => Response][] = [
  ['with a declared length', body => new Response(body, { headers: { 'Content-Length': String(body.byteLength) } })],
  [
    'that arrives byte by byte',
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

describe.each(bodies)('readText with a body %s', (_, makeResponse) => {
  it.each<[string, Uint8Array<ArrayBuffer>, object]>([
    ['returns the text', bytes('{"a":"é"}'), { text: '{"a":"é"}' }],
    ['returns an empty text', bytes(''), { text: '' }],
    ['removes a byte order mark', bytes([0xef, 0xbb, 0xbf], '{}'), { text: '{}' }],
    ['keeps a replacement character of the text', bytes('"\ufffd"'), { text: '"\ufffd"' }],
    [
      'keeps a replacement character after a byte order mark',
      bytes([0xef, 0xbb, 0xbf], '"\ufffd"'),
      { text: '"\ufffd"' },
    ],
    ['fails for Latin-1', bytes('"', [0xe9], '"'), { failed: 'not-utf-8' }],
    ['fails for UTF-16', bytes([0xff, 0xfe, 0x7b, 0, 0x7d, 0]), { failed: 'not-utf-8' }],
    ['returns a text of the maximum length', bytes('x'.repeat(100)), { text: 'x'.repeat(100) }],
    ['fails for a longer text', bytes('x'.repeat(101)), { failed: 'too-large' }],
  ])('%s', async (_, body, expected) => {
    expect(await readText(makeResponse(body), 100)).toEqual(expected)
  })
})

describe('a body with a wrong Content-Length', () => {
  // With both headers HTTP reads the chunks, and the runtime passes both headers on.
  const chunked = (text: string) =>
    new Response(text, { headers: { 'Content-Length': '5', 'Transfer-Encoding': 'chunked' } })

  it('is limited by the bytes that arrive', async () => {
    expect([await readText(chunked('x'.repeat(101)), 100), await readText(chunked('x'.repeat(100)), 100)]).toEqual([
      { failed: 'too-large' },
      { text: 'x'.repeat(100) },
    ])
  })
})

describe('the Content-Length of a body', () => {
  const withLength = (length: string, text: string) =>
    new Request('https://host.example/', {
      method: 'POST',
      headers: { 'Content-Length': length },
      body: text,
    })

  // HTTP enforces the length; a service binding does not.
  it.each([
    ['5', 'x'.repeat(101)],
    ['100', '€'.repeat(34)],
    ['100', 'é'.repeat(51)],
  ])('does not permit a larger body: %s', async (length, text) => {
    expect(await readText(withLength(length, text), 100)).toEqual({ failed: 'too-large' })
  })

  it('is ignored if it is not a number', async () => {
    expect(await readText(withLength('many', 'x'), 100)).toEqual({ text: 'x' })
    expect(await readText(withLength('many', 'x'.repeat(101)), 100)).toEqual({ failed: 'too-large' })
  })

  it('counts bytes, not characters', async () => {
    expect(await readText(withLength('100', 'é'.repeat(50)), 100)).toEqual({ text: 'é'.repeat(50) })
  })
})

describe('a body that is interrupted', () => {
  const interrupted = () =>
    new ReadableStream({
      pull: controller => {
        controller.enqueue(new TextEncoder().encode('{"a":'))
        controller.error(new Error('Network connection lost.'))
      },
    })
  const requestWith = (headers: Record<string, string> = {}) => {
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: interrupted() }
    return new Request('https://host.example/', { ...init, duplex: 'half' } as RequestInit)
  }

  it.each([
    ['without a length', {}],
    ['with a declared length', { 'Content-Length': '10' }],
    ['with a declared length that is too large', { 'Content-Length': '1000' }],
  ])('is incomplete in a request: %s', async (_, headers) => {
    expect(await readText(requestWith(headers), 100)).toEqual({ failed: 'incomplete' })
  })

  it('is a client error in a request: 400', async () => {
    await expect(readJson(requestWith())).rejects.toMatchObject({ status: 400, code: 'incomplete-body' })
  })

  it('throws in a response', async () => {
    await expect(readText(new Response(interrupted()), 100)).rejects.toThrow('Network connection lost.')
  })
})
