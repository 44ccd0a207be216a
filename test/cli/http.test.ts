import { describe, expect, it } from 'vitest'
import { createHostClient } from '../../cli/client/index.ts'
import { poll, systemClock } from '../../cli/context.ts'
import { HostError } from '../../cli/errors.ts'

/** A clock that passes the time at once, and records every pause. */
const recordingClock = () => {
  const pauses: number[] = []
  const clock = {
    now: () => pauses.reduce((total, pause) => total + pause, Date.parse('2026-11-22T12:00:00Z')),
    sleep: async (ms: number) => void pauses.push(ms),
  }
  return { clock, pauses }
}

/** Sends a request to a host that responds in this way, each time anew. */
const send = async (respond: () => Response, retries = 4) => {
  const { clock, pauses } = recordingClock()
  const messages: string[] = []
  const requests: Request[] = []
  const context = {
    clock,
    terminal: { info: (message: string | readonly string[]) => void messages.push(...[message].flat()) },
    fetch: async (url: string | URL | Request, init?: RequestInit) => {
      requests.push(new Request(url, init))
      return respond()
    },
  }
  const anonymous = true
  const outcome = await createHostClient({ url: 'https://cards.example.com', token: 'secret' }, context, { retries })
    .call('GET /.well-known/agent-card.json', { anonymous })
    .catch((error: unknown) => error)
  return { outcome, pauses, messages, requests }
}

const busy = (headers: Record<string, string> = {}) => new Response('', { status: 503, headers })

const networkError = () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  throw new TypeError('fetch failed', { cause })
}

describe('request', () => {
  it('doubles its pauses, and stops after the retries', async () => {
    const { outcome, pauses, messages } = await send(busy)
    expect(outcome).toBeInstanceOf(HostError)
    expect(outcome).toHaveProperty('message', 'the host responded with 503')
    expect(pauses.map((pause, index) => pause >= 250 * 2 ** index && pause <= 500 * 2 ** index)).toEqual(
      Array(4).fill(true),
    )
    expect(messages).toEqual(['GET /.well-known/agent-card.json: the host responded with 503; retrying'])
  })

  it('does not repeat a write to a host without an ADMIN_TOKEN, and says how to set one', async () => {
    const { outcome, requests } = await send(() => Response.json({ code: 'admin-token-missing' }, { status: 503 }))
    expect(outcome).toBeInstanceOf(HostError)
    expect(outcome).toHaveProperty('message', expect.stringContaining('npx wrangler secret put ADMIN_TOKEN'))
    expect(requests).toHaveLength(1)
  })

  it('obeys Retry-After in seconds or as a date, up to its limit, and says how long it waits', async () => {
    const waits = { '7': 7000, 'Sun, 22 Nov 2026 12:00:20 GMT': 20_000, '3600': 60_000, soon: 0 }
    for (const [value, wait] of Object.entries(waits)) {
      const { pauses } = await send(() => busy({ 'Retry-After': value }), 1)
      expect(pauses).toHaveLength(1)
      expect(pauses[0]).toBeGreaterThanOrEqual(wait + 250)
      expect(pauses[0]).toBeLessThanOrEqual(wait + 500)
    }
    const { messages } = await send(() => busy({ 'Retry-After': '7' }), 1)
    expect(messages).toEqual(['GET /.well-known/agent-card.json: the host responded with 503; retrying in 7 s'])
  })

  it('retries a failed connection', async () => {
    const { outcome, pauses } = await send(networkError, 2)
    expect(outcome).toBeInstanceOf(HostError)
    expect(outcome).toHaveProperty('message', 'the connection failed (connect ECONNREFUSED)')
    expect(pauses).toHaveLength(2)
  })

  it('names what is wrong with TLS, and does not retry', async () => {
    const reasons = {
      CERT_HAS_EXPIRED: 'its certificate has expired: renew it, or check the clock of this machine',
      CERT_NOT_YET_VALID: 'its certificate is not valid yet: check the clock of this machine',
      ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is of another host: check the name in the URL',
      ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak https, but probably http: use http://cards.example.com',
      UNABLE_TO_VERIFY_LEAF_SIGNATURE: expect.stringContaining('set NODE_EXTRA_CA_CERTS'),
    }
    for (const [code, reason] of Object.entries(reasons)) {
      const { outcome, pauses } = await send(() => {
        throw new TypeError('fetch failed', { cause: Object.assign(new Error('tls'), { code }) })
      })
      expect(outcome).toBeInstanceOf(HostError)
      expect(/\((.*)\)/.exec(String(outcome))?.[1]).toEqual(reason)
      expect(pauses).toEqual([])
    }
  })

  it('neither retries nor hides a mistake of its own', async () => {
    const mistake = new TypeError('Cannot read properties of undefined')
    const { outcome, pauses } = await send(() => {
      throw mistake
    })
    expect(outcome).toBe(mistake)
    expect(pauses).toEqual([])
  })

  it('does not retry what an upstream of the host has caused', async () => {
    const problem = { code: 'upstream-timeout', detail: 'It did not respond.' }
    const { outcome, pauses } = await send(() => Response.json(problem, { status: 504 }))
    expect(outcome).toMatchObject({ status: 504, code: 'upstream-timeout', message: 'It did not respond.' })
    expect(pauses).toEqual([])
  })

  it('reads no response without end', async () => {
    let sent = 0
    const endless = () =>
      new ReadableStream({
        pull: controller => {
          sent += 2 ** 20
          controller.enqueue(new Uint8Array(2 ** 20))
        },
      })
    const { outcome } = await send(() => new Response(endless()))
    expect(outcome).toEqual(new HostError('the response is longer than 16 MiB, which no host sends'))
    expect(sent).toBeLessThan(20 * 2 ** 20)
  })

  it('takes no JSON that nests deeper than any manifest, at which recursive functions fail', async () => {
    const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
    expect((await send(() => new Response(nested(129)))).outcome).toBeInstanceOf(HostError)
    expect((await send(() => new Response(nested(128)))).outcome).toHaveProperty('a')
  })

  it('never follows a redirect', async () => {
    const { outcome, requests } = await send(() => new Response(null, { status: 301, headers: { Location: '/' } }))
    expect(requests.map(({ redirect }) => redirect)).toEqual(['manual'])
    expect(outcome).toBeInstanceOf(HostError)
    expect(outcome).toHaveProperty('message', 'the host has moved: it responded with 301 to /')
  })
})

describe('poll', () => {
  it('doubles its pauses up to the maximum', async () => {
    const { clock, pauses } = recordingClock()
    let left = 5
    const options = { clock, timeoutMs: 10_000, pauseMs: 100, maxPauseMs: 300 }
    expect(await poll(async () => left-- === 0, options)).toBe(true)
    expect(pauses).toEqual([100, 200, 300, 300, 300])
  })

  it('checks at least once, and stops before the timeout', async () => {
    const { clock, pauses } = recordingClock()
    let checks = 0
    const check = async () => {
      checks++
      return false
    }
    expect(await poll(check, { clock, timeoutMs: 0, pauseMs: 100 })).toBe(false)
    expect(await poll(check, { clock, timeoutMs: 250, pauseMs: 100 })).toBe(false)
    expect({ checks, pauses }).toEqual({ checks: 4, pauses: [100, 100] })
  })

  it('returns false without another check once the signal is aborted', async () => {
    const interruption = new AbortController()
    let count = 0
    const check = async () => {
      count++
      interruption.abort()
      return false
    }
    expect(
      await poll(check, { clock: recordingClock().clock, timeoutMs: 1000, pauseMs: 100, signal: interruption.signal }),
    ).toBe(false)
    expect(count).toBe(1)
  })
})

describe('systemClock.sleep', () => {
  it('returns when the signal is aborted before or while it sleeps', async () => {
    for (const isAborted of [true, false]) {
      const interruption = new AbortController()
      if (isAborted) interruption.abort()
      const sleeping = systemClock.sleep(2 ** 30, interruption.signal)
      interruption.abort()
      expect(await sleeping).toBeUndefined()
    }
  })
})
