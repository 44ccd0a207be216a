import { describe, expect, it } from 'vitest'
import { readBytes, readText } from '../../src/http/body.ts'
import { readJson } from '../../src/http/json-body.ts'

const bytes = (...parts: (string | number[])[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.concat(parts.map(part => Buffer.from(part as never))))
const declared = (body: Uint8Array<ArrayBuffer>) =>
  new Response(body, { headers: { 'Content-Length': String(body.byteLength) } })
const streamOf = (chunks: Uint8Array[]) =>
  new ReadableStream({
    start: controller => {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
const streamed = (body: Uint8Array<ArrayBuffer>) => new Response(streamOf([...body].map(byte => bytes([byte]))))
const tooLarge = { failed: 'too-large' }
const x = (length: number) => 'x'.repeat(length)
const e = (length: number) => 'é'.repeat(length)

describe('readText', () => {
  it('returns UTF-8 up to the limit, whether its length is declared or it arrives byte by byte', async () => {
    const bom = [0xef, 0xbb, 0xbf]
    for (const [title, body, expected] of [
      ['a text', bytes('{"a":"é"}'), { text: '{"a":"é"}' }],
      ['an empty text', bytes(''), { text: '' }],
      ['a byte order mark', bytes(bom, '{}'), { text: '{}' }],
      ['a replacement character', bytes('"\ufffd"'), { text: '"\ufffd"' }],
      ['Latin-1', bytes('"', [0xe9], '"'), { failed: 'not-utf-8' }],
      ['the largest text', bytes(x(100)), { text: x(100) }],
      ['the largest text of other letters', bytes(e(50)), { text: e(50) }],
      ['a larger text', bytes(x(101)), tooLarge],
      ['a larger text of other letters', bytes(e(51)), tooLarge],
    ] as const) {
      const results = await Promise.all([declared(body), streamed(body)].map(response => readText(response, 100)))
      expect([title, ...results]).toEqual([title, expected, expected])
    }
  })

  it('reads all of a body that outgrows its first buffer', async () => {
    const text = x(100_000)
    const chunks = Array.from({ length: 100 }, () => bytes(x(1000)))
    expect(await readText(new Response(streamOf(chunks)), 1_000_000)).toEqual({ text })
    expect(await readBytes(new Response(streamOf(chunks)), 100_000)).toEqual({ bytes: bytes(text) })
    expect(await readBytes(new Response(streamOf(chunks)), 99_999)).toEqual(tooLarge)
    expect(await readBytes(declared(bytes(text)), 100_000)).toEqual({ bytes: bytes(text) })
    expect(await readBytes(declared(bytes(text)), 99_999)).toEqual(tooLarge)
  })

  it('ignores a Content-Length that is wrong: the bytes that arrive count', async () => {
    // With both headers HTTP reads the chunks, and the runtime passes both headers on.
    const headers = { 'Content-Length': '5', 'Transfer-Encoding': 'chunked' }
    const chunked = (text: string) => new Response(text, { headers })
    expect([await readText(chunked(x(101)), 100), await readText(chunked(x(100)), 100)]).toEqual([
      tooLarge,
      { text: x(100) },
    ])
    // HTTP enforces the length; a service binding does not.
    for (const [length, text, expected] of [
      ['5', x(101), tooLarge],
      ['100', '€'.repeat(34), tooLarge],
      ['100', e(51), tooLarge],
      ['many', 'x', { text: 'x' }],
      ['many', x(101), tooLarge],
    ] as const) {
      const init = { method: 'POST', headers: { 'Content-Length': length }, body: text }
      expect([length, await readText(new Request('https://host.example/', init), 100)]).toEqual([length, expected])
    }
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

  it('is incomplete in a request, with any length', async () => {
    for (const headers of [{}, { 'Content-Length': '10' }, { 'Content-Length': '1000' }]) {
      expect(await readText(requestWith(headers), 100)).toEqual({ failed: 'incomplete' })
      expect(await readBytes(requestWith(headers), 100)).toEqual({ failed: 'incomplete' })
    }
  })

  it('is a client error in a request: 400', async () => {
    await expect(readJson(requestWith())).rejects.toMatchObject({ code: 'incomplete-body' })
  })

  it('throws in a response', async () => {
    await expect(readText(new Response(interrupted()), 100)).rejects.toThrow('Network connection lost.')
  })
})
