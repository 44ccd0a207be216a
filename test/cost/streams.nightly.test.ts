import { describe, expect, it } from 'vitest'
import { SseFramer } from '../../src/a2a/sse-events.ts'
import type { CheckedAgent } from '../../src/conformance/exchange.ts'
import { sendToHost } from '../../src/conformance/exchange.ts'
import { readText } from '../../src/http/body.ts'
import { doubled, growthWhenDoubled } from '../support/cpu-time.ts'
import { repeatTo } from '../support/hostile.ts'

/** Sends a text in chunks of one byte. */
const trickle = (text: string): Response => {
  const bytes = new TextEncoder().encode(text)
  let sent = 0
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) =>
    sent < bytes.byteLength ? controller.enqueue(bytes.subarray(sent, ++sent)) : controller.close()
  return new Response(new ReadableStream({ pull }), { headers: { 'Content-Type': 'text/event-stream' } })
}

const agent = { id: 'a', context: { request: new Request('https://host.example/') } } as CheckedAgent
const options = { seconds: 60, authorized: false, wholeStream: true }

const readers: Record<string, (text: string) => unknown> = {
  'the events of a check': text => sendToHost(agent, () => trickle(text), { path: '/' }, options),
  'a body': text => readText(trickle(text), text.length),
  'the events that are relayed': text => {
    const framer = new SseFramer()
    for (const byte of new TextEncoder().encode(text)) framer.push(Uint8Array.of(byte))
  },
}

const SIZE = 8 * 1024

describe.each(Object.entries(readers))('reading %s', (_, read) => {
  it('costs in proportion to its length, however small its chunks are', async () => {
    const slow: string[] = []
    for (const piece of ['a', 'data: a\n', ': a\r\n', '\n', '\r'])
      if ((await growthWhenDoubled(SIZE, 10, size => read(`data: ${repeatTo(piece, size)}\n\n`))) > doubled)
        slow.push(piece)
    expect(slow).toStrictEqual([])
  })
})
