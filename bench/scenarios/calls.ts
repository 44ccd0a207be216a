import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { compare, type Effort, type Entrant, type Setting } from '../compare.ts'
import { callBody, callPath, oldStreamBody, quickCard, sameCall, samePost } from '../requests.ts'
import {
  answerBindings,
  cores,
  fetchAnswer,
  originOf,
  portOf,
  register,
  type Server,
  startCaddy,
  startHost,
  startKv,
  startPortkey,
  startWorker,
} from '../servers.ts'
import { exact, type Figure, type Interval, interval, median } from '../stats.ts'

const id = 'weather'
const text = 'weather in Tokyo'
const accepted = callBody('SendMessage', text)
const refused = callBody('SendMessage', text, ['image/png'])
/** A request for a stream, in the version that its caller names. */
type StreamRequest = { body: string; version: '1.0' | '0.3' }
const streamed: StreamRequest = { body: callBody('SendStreamingMessage', text), version: '1.0' }
/** What the agent, which speaks 1.0, gets translated. */
const bridged: StreamRequest = { body: oldStreamBody(text), version: '0.3' }
const starting = callBody('SendMessage', 'start a task')
const reading = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'task-1' } })

/** Calls through the gate: refused ones beside Workers that send a constant, accepted ones beside other gateways. */
export const calls = async ({ bundle, directory, effort }: Setting): Promise<Figure[]> => {
  const kv = await startKv(0)
  // On the core of the load: the agent's CPU time is not the gateway's.
  const agent = await startWorker('agent', {}, cores.load)
  const upstream = originOf(agent)
  const host = await startHost(bundle, kv, directory(), { ALLOWED_ORIGINS: upstream })
  await register(portOf(host), id, { card: quickCard(id), route: 'gateway', upstream: { url: upstream } })
  const url = originOf(host) + callPath(id)
  const refusal = answerBindings(await fetchAnswer(url, post(refused)))
  const reader = await startWorker('reader', refusal)
  const logger = await startWorker('reader', { ...refusal, LOG: { text: 'yes' } })
  const blind = await startWorker('blind', { UPSTREAM: { text: upstream } })
  const careful = await startWorker('careful', { UPSTREAM: { text: upstream } })
  for (const gateway of [blind, careful, host]) await checkForwarding(gateway, callPath(id), post(accepted))
  const refusing = { requests: sameCall(id, refused) }
  const forwarding = { requests: sameCall(id, accepted) }
  const gate = { ...forwarding, server: host, better: 'higher' } as const
  const figures = [
    ...(await besides({ name: 'a Worker that reads', server: reader, ...refusing }, effort, [
      { name: 'Worker that parses and logs', server: logger, ...refusing },
      { name: 'refusal', server: host, ...refusing, better: 'higher' },
    ])),
    ...(await besides({ name: 'a Worker that parses and logs', server: logger, ...refusing }, effort, [
      { name: 'refusal', server: host, ...refusing, better: 'higher' },
    ])),
    ...(await besides({ name: 'a blind forwarder', server: blind, ...forwarding }, effort, [
      { name: 'careful forwarder', server: careful, ...forwarding },
      { name: 'gate', ...gate },
    ])),
    ...(await besides({ name: 'a careful forwarder', server: careful, ...forwarding }, effort, [
      { name: 'gate', ...gate },
    ])),
    ...(await besideSharedTasks(host, upstream, effort)),
    ...(await besideUncheckedAnswers(host, upstream, effort)),
    ...(await besideGateways(upstream, effort, { name: 'gate', ...gate })),
    await firstEvents('a blind forwarder', [originOf(blind) + callPath(id), url], effort.rounds),
    await firstEvents('a careful forwarder', [originOf(careful) + callPath(id), url], effort.rounds),
    await firstTranslatedEvents(url, effort.rounds),
    await longStream('100 MB streamed', host, url, { ...streamed, body: callBody('SendStreamingMessage', 'flood') }),
    await longStream('100 MB translated', host, url, { ...bridged, body: oldStreamBody('flood') }),
  ]
  await Promise.all([kv, agent, host, reader, logger, blind, careful].map(server => server.stop()))
  return figures
}

/** Compares servers with a baseline that the names of the figures mention. */
const besides = async (baseline: Entrant, effort: Effort, others: readonly Entrant[]): Promise<Figure[]> => {
  const named = others.map(other => ({ ...other, name: `${other.name}, beside ${baseline.name}` }))
  return (await compare(baseline, named, effort)).slice(1)
}

/** Compares calls of an agent whose tasks are kept apart with those of one whose tasks are shared. */
const besideSharedTasks = async (host: Server, upstream: string, effort: Effort): Promise<Figure[]> => {
  for (const tasks of ['owner', 'shared'])
    await register(portOf(host), tasks, { card: quickCard(tasks), upstream: { url: upstream }, gate: { tasks } })
  const figures: Figure[] = []
  for (const [name, body] of [
    ['message that starts a task', starting],
    ['call about a task', reading],
  ] as const) {
    await checkForwarding(host, callPath('owner'), post(body))
    const baseline = { name: 'the same with shared tasks', server: host, requests: sameCall('shared', body) }
    figures.push(...(await besides(baseline, effort, [{ name, server: host, requests: sameCall('owner', body) }])))
  }
  return figures
}

/** Compares calls and streams whose answers are checked with those of an agent whose answers are not. */
const besideUncheckedAnswers = async (host: Server, upstream: string, effort: Effort): Promise<Figure[]> => {
  const unchecked = 'unchecked'
  const gate = { responses: 'off' }
  await register(portOf(host), unchecked, { card: quickCard(unchecked), upstream: { url: upstream }, gate })
  const baseline = { name: 'the same with unchecked answers', server: host, requests: sameCall(unchecked, accepted) }
  const urls = [unchecked, id].map(each => originOf(host) + callPath(each)) as [string, string]
  return [
    ...(await besides(baseline, effort, [{ name: 'call', server: host, requests: sameCall(id, accepted) }])),
    await firstEvents('a stream with unchecked answers', urls, effort.rounds),
  ]
}

/** Compares the gate with the gateways that one would install. */
const besideGateways = async (upstream: string, effort: Effort, gate: Entrant): Promise<Figure[]> => {
  const portkey = await startPortkey()
  await checkForwarding(portkey, CHAT_PATH, { method: 'POST', headers: chatHeaders(upstream), body: chatBody })
  const requests = samePost(CHAT_PATH, chatBody, chatHeaders(upstream))
  const figures = await besides({ name: "Portkey's gateway on Node", server: portkey, requests }, effort, [gate])
  await portkey.stop()
  const caddy = await startCaddy(upstream)
  if (!caddy) {
    console.error('Caddy is not installed: no comparison with it.')
    return figures
  }
  await checkForwarding(caddy, callPath(id), post(accepted))
  figures.push(...(await besides({ ...gate, name: 'Caddy', server: caddy }, effort, [gate])))
  await caddy.stop()
  return figures
}

/** Portkey's gateway forwards chat completions, and takes the upstream from the headers of a request. */
const CHAT_PATH = '/v1/chat/completions'
const chatBody = JSON.stringify({ model: id, messages: [{ role: 'user', content: text }] })
const chatHeaders = (upstream: string) => ({
  'Content-Type': 'application/json',
  Authorization: 'Bearer the-key-of-the-bench',
  'x-portkey-provider': 'openai',
  'x-portkey-custom-host': `${upstream}/v1`,
})

/** Sends one request to a gateway. Fails unless the agent's response comes back, so that no error page is measured. */
const checkForwarding = async (server: Server, path: string, init: RequestInit): Promise<void> => {
  const response = await fetch(originOf(server) + path, init)
  const body = await response.text()
  if (!body.includes('Sunny in Tokyo')) throw new Error(`not forwarded: ${response.status} ${body}`)
}

const post = (body: string, version = '1.0'): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json', 'A2A-Version': version, Accept: '*/*' },
  body,
})

const STREAMS_PER_BATCH = 20
/** The runtime interprets what has just started; it compiles code that runs often. */
const WARM_UP_BATCHES = 25

type StreamSource = StreamRequest & { url: string }

/** Measures the time to the first event of a stream, one call at a time, host and forwarder in turn. */
const firstEvents = async (
  name: string,
  [forwarder, host]: readonly [forwarder: string, host: string],
  rounds: number,
): Promise<Figure> => ({
  name: `time to the first event, beside ${name}`,
  unit: 'ratio',
  value: await compareFirstEvents({ url: forwarder, ...streamed }, { url: host, ...streamed }, rounds),
  better: 'lower',
})

/** Compares a stream that is translated with the same as it passes. */
const firstTranslatedEvents = async (url: string, rounds: number): Promise<Figure> => ({
  name: 'time to the first translated event, beside one that passes',
  unit: 'ratio',
  value: await compareFirstEvents({ url, ...streamed }, { url, ...bridged }, rounds),
  better: 'lower',
  bound: { max: 1.3 },
})

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
const longStream = async (
  name: string,
  host: Server,
  url: string,
  { body, version }: StreamRequest,
): Promise<Figure> => {
  const before = residentBytes(host.pid)
  let peak = before
  let [bytes, chunks] = [0, 0]
  const response = await fetch(url, post(body, version))
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (++chunks % 64 === 0) peak = Math.max(peak, residentBytes(host.pid))
  }
  if (bytes < 100 * MEGABYTE) throw new Error(`the stream ended after ${bytes} bytes`)
  return {
    name: `${name}: growth of the host`,
    unit: 'bytes',
    value: exact(Math.max(peak, residentBytes(host.pid)) - before),
    bound: { max: 64 * MEGABYTE },
  }
}

const residentBytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
