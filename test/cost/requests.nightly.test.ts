import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Json } from '../../src/json/json.ts'
import { agentCard } from '../support/cards/cards.ts'
import { doubled, growthWhenDoubled } from '../support/cpu-time.ts'
import { hostilePieces, mapStrings, repeatTo, stringPaths } from '../support/hostile.ts'
import { type NodeHost, startNodeHost } from '../support/node-host.ts'
import { type RequestSample, requestSamples } from '../support/request-samples.ts'

let host: NodeHost
beforeEach(() => {
  vi.spyOn(console, 'info').mockImplementation(() => undefined)
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
})
beforeAll(async () => {
  host = await startNodeHost({
    answer: { jsonrpc: '2.0', id: 1, result: { id: 't', status: { state: 'completed' } } },
  })
  await host.put('echo', {
    card: agentCard('https://echo.example'),
    extended: { description: 'More' },
    route: 'gateway',
    upstream: { service: 'AGENT' },
  })
})

/** Returns undefined for headers that HTTP does not allow. */
const toRequest = ({ method = 'GET', path, query = {}, headers = {}, body }: RequestSample): Request | undefined => {
  if (Object.values(headers).some(value => !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))) return undefined
  const search = Object.entries(query).map(([name, value]) => `${name}=${value}`)
  const url = `https://host.example/${path.join('/')}${search.length > 0 ? `?${search.join('&')}` : ''}`
  return new Request(url, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

/** Quadratic work on twice as many characters takes several times as long as NEGLIGIBLE_MS. */
const SIZE = 4096
const NEGLIGIBLE_MS = 10

/** Sends a sample with a text after one of its strings. Does nothing for text that no client can send there. */
const send = async (sample: RequestSample, place: string, text: string): Promise<void> => {
  const changed = mapStrings(sample as Json, (value, path) => (path.join('/') === place ? value + text : value))
  const request = toRequest(changed as unknown as RequestSample)
  const status = request && (await host.fetch(request)).status
  if (status === 500) throw new Error(`${status} for ${JSON.stringify(text.slice(0, 9))} in ${place}`)
}

describe.each(Object.entries(requestSamples))('%s', (_, sample) => {
  it('costs in proportion to hostile text in each of its strings', async () => {
    const slow: string[] = []
    for (const place of stringPaths(sample as Json).filter(each => each !== 'method'))
      for (const piece of hostilePieces) {
        const growth = await growthWhenDoubled(SIZE, NEGLIGIBLE_MS, size => send(sample, place, repeatTo(piece, size)))
        if (growth > doubled) slow.push(`${JSON.stringify(piece)} in ${place}`)
      }
    expect(slow).toStrictEqual([])
  })
})
