import { Agent, request } from 'node:http'
import { callBody } from './call-requests.ts'
import { type Figure, judged } from './figure.ts'
import { interval, median } from './interval.ts'

const body = callBody('SendStreamingMessage', 'weather in Tokyo')
const each = 20
/** In batches: what has just started is interpreted, not compiled. */
const warmUp = 25

/** How long a caller waits for the first event of a stream through the host, beside a blind forwarder: one call at a time, in turn. */
export const firstEvents = async (
  beside: string,
  [rival, host]: readonly [rival: string, host: string],
  rounds: number,
): Promise<Figure> => {
  const agent = new Agent({ keepAlive: true })
  const batch = async (url: string) => {
    const waits: number[] = []
    for (let call = 0; call < each; call++) waits.push(await firstEvent(url, agent))
    return median(waits)
  }
  for (let warm = 0; warm < warmUp; warm++) for (const url of [rival, host]) await batch(url)
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    const [first, second] = round % 2 === 0 ? [rival, host] : [host, rival]
    const waits = [await batch(first), await batch(second)]
    const [ofRival = 1, ofHost = 1] = round % 2 === 0 ? waits : waits.reverse()
    ratios.push(ofHost / ofRival)
  }
  agent.destroy()
  return judged({
    name: `time to the first event, beside ${beside}`,
    unit: 'ratio',
    value: interval(ratios),
    bound: { most: 1.1 },
  })
}

/** Milliseconds until the first event of a stream; resolves when the whole stream was read. */
const firstEvent = (url: string, agent: Agent): Promise<number> =>
  new Promise((resolve, reject) => {
    const begin = performance.now()
    let first = 0
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'A2A-Version': '1.0',
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
