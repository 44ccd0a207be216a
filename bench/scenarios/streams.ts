import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { type Effort, isMeasured } from '../compare.ts'
import { callBody, oldCallBody, type Post, postInit, rpcCall } from '../requests.ts'
import { originOf, type Server } from '../servers.ts'
import { exact, type Figure, type Interval, interval, median } from '../stats.ts'

const text = 'weather in Tokyo'
/** A request for a stream, in the version that its caller names. */
type StreamRequest = { body: string; version: '1.0' | '0.3' }
const streamed: StreamRequest = { body: callBody('SendStreamingMessage', text), version: '1.0' }
/** What the agent, which speaks 1.0, gets translated. */
const bridged: StreamRequest = { body: oldCallBody('message/stream', text), version: '0.3' }

const STREAMS_PER_BATCH = 20
/** The runtime interprets what has just started; it compiles code that runs often. */
const WARM_UP_BATCHES = 25

type StreamSource = StreamRequest & { url: string }

/** Measures the time to the first event of a stream, one call at a time, host and forwarder in turn. */
export const firstEvents = (
  name: string,
  [forwarder, host]: readonly [forwarder: string, host: string],
  effort: Effort,
): Promise<Figure[]> =>
  figureOf(`time to the first event, beside ${name}`, effort, async () => ({
    unit: 'ratio',
    value: await compareFirstEvents({ url: forwarder, ...streamed }, { url: host, ...streamed }, effort.rounds),
    better: 'lower',
  }))

/** Compares a stream that is translated with the same as it passes. */
export const firstTranslatedEvents = (url: string, effort: Effort): Promise<Figure[]> =>
  figureOf('time to the first translated event, beside one that passes', effort, async () => ({
    unit: 'ratio',
    value: await compareFirstEvents({ url, ...streamed }, { url, ...bridged }, effort.rounds),
    better: 'lower',
    bound: { max: 1.3 },
  }))

/** Measures a figure, if it is among those to measure. */
const figureOf = async (
  name: string,
  effort: Effort,
  measure: () => Promise<Omit<Figure, 'name'>>,
): Promise<Figure[]> => (isMeasured(name, effort) ? [{ name, ...(await measure()) }] : [])

/** Returns how long the first event of a stream takes beside that of another one. */
const compareFirstEvents = async (other: StreamSource, measured: StreamSource, rounds: number): Promise<Interval> => {
  const agent = new Agent({ keepAlive: true })
  const batch = async (source: StreamSource) => {
    const waits: number[] = []
    for (let call = 0; call < STREAMS_PER_BATCH; call++) waits.push(await firstEvent(source, agent))
    return median(waits)
  }
  for (let warm = 0; warm < WARM_UP_BATCHES; warm++) for (const each of [other, measured]) await batch(each)
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    const waits = new Map<StreamSource, number>()
    for (const each of round % 2 === 0 ? [other, measured] : [measured, other]) waits.set(each, await batch(each))
    ratios.push((waits.get(measured) ?? Number.NaN) / (waits.get(other) ?? Number.NaN))
  }
  agent.destroy()
  return interval(ratios)
}

/** Reads a whole stream. Returns the milliseconds until its first event. */
const firstEvent = ({ url, body, version }: StreamSource, agent: Agent): Promise<number> =>
  new Promise((resolve, reject) => {
    const begin = performance.now()
    let first = 0
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'A2A-Version': version,
      Accept: 'text/event-stream',
    }
    const sent = request(url, { method: 'POST', agent, headers }, response => {
      if (response.statusCode !== 200 || !response.headers['content-type']?.startsWith('text/event-stream'))
        reject(new Error(`no stream: ${response.statusCode} ${response.headers['content-type']}`))
      response.on('data', () => {
        first ||= performance.now() - begin
      })
      response.on('end', () => resolve(first))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })

const MEGABYTE = 1024 * 1024

/** Measures how far the host's process grows while 100 MB of events pass through it. A gateway that buffers fails. */
export const longStreams = async (host: Server, id: string, effort: Effort): Promise<Figure[]> => {
  const figures: Figure[] = []
  for (const [name, call] of [
    ['100 MB streamed', rpcCall(id, callBody('SendStreamingMessage', 'flood'))],
    ['100 MB translated', rpcCall(id, oldCallBody('message/stream', 'flood'), '0.3')],
  ] as const)
    figures.push(
      ...(await figureOf(`${name}: growth of the host`, effort, async () => ({
        unit: 'bytes',
        value: exact(await residentGrowth(host, call)),
        bound: { max: 64 * MEGABYTE },
      }))),
    )
  return figures
}

const residentGrowth = async (host: Server, call: Post): Promise<number> => {
  const before = residentBytes(host.pid)
  let peak = before
  let [bytes, chunks] = [0, 0]
  const response = await fetch(originOf(host) + call.path, postInit(call))
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (++chunks % 64 === 0) peak = Math.max(peak, residentBytes(host.pid))
  }
  if (bytes < 100 * MEGABYTE) throw new Error(`the stream ended after ${bytes} bytes`)
  return Math.max(peak, residentBytes(host.pid)) - before
}

const residentBytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
