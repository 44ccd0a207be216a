import { createParser } from 'eventsource-parser'
import type { JsonObject } from '../../src/json/json.ts'

/** An event of a stream of changes. */
export type ReceivedEvent = {
  id: number
  event: string
  data: { agent: string; seq: number; class?: string; time: string }
}

/** Reads a stream of changes. `agents` ignores the events of all others, which other tests cause. */
export const readEvents = (response: Response, agents: readonly string[]) => {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!reader) throw new Error(`no stream: ${response.status}`)
  const events: ReceivedEvent[] = []
  const parser = createParser({
    onEvent: ({ id, event = '', data }) => {
      const received = { id: Number(id), event, data: JSON.parse(data) as ReceivedEvent['data'] }
      if (agents.includes(received.data.agent)) events.push(received)
    },
  })
  return {
    /** Waits until there are `count` events in all, and returns them. */
    take: async (count: number): Promise<ReceivedEvent[]> => {
      while (events.length < count) {
        const { done, value } = await reader.read()
        if (done) throw new Error(`the stream ended after ${events.length} events`)
        parser.feed(value)
      }
      return events
    },
    /** Reads until the stream ends. */
    end: async (): Promise<void> => {
      while (!(await reader.read()).done);
    },
    close: () => reader.cancel(),
  }
}

/** Returns what identifies the events to a test. */
export const namesOf = (events: readonly ReceivedEvent[]): string[] =>
  events.map(({ event, data }) => `${event} ${data.agent} ${data.seq}`)

/** Parses a whole stream whose events have JSON. */
export const parseEvents = (text: string): { event?: string; data: JsonObject }[] => {
  const events: { event?: string; data: JsonObject }[] = []
  createParser({
    onEvent: ({ event, data }) => events.push({ ...(event && { event }), data: JSON.parse(data) }),
  }).feed(text)
  return events
}
