import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { AgentCard } from '../../src/card/model/agent-card.ts'
import { createRecorder, type Exchange } from '../../src/pages/browser/console/recorder.ts'
import { explainRefusal } from '../../src/pages/browser/console/refusal.ts'

// What only browsers have.
declare global {
  var location: URL
  interface RequestInit<Cf = CfProperties> {
    credentials?: string
    referrerPolicy?: string
  }
}

beforeEach(() => void vi.stubGlobal('location', new URL('https://host.example/agents/weather')))

const card = {
  capabilities: { streaming: false, extensions: [{ uri: 'urn:a' }, { uri: 'urn:b' }] },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'paint', inputModes: ['image/png'] }],
  supportedInterfaces: [],
  securityRequirements: [],
} as unknown as AgentCard

/** Explains a call to this host whose response has a body. */
const explain = (body: unknown, more: Partial<Exchange> = {}, skillId = '', wanted: string[] = []) => {
  const exchange = { url: 'https://host.example/a2a', status: '400', head: JSON.stringify(body), tail: '', ...more }
  const draft = { skillId, acceptedOutputModes: wanted }
  const call = { card, draft, exchange, error: new Error('No task'), canUseHost: true }
  const { title, message, cause, fixes } = explainRefusal(call as never)
  return [
    title,
    message.slice(0, 40),
    cause && `${cause.pointer}:${cause.line}`,
    fixes.map(({ label }) => label).join(),
  ]
}
const info = (reason: string, metadata: object = {}) => ({ '@type': 'ErrorInfo', reason, metadata })
const error = (code: number, ...details: object[]) => ({ error: { code, message: 'No', data: details } })
const refused = 'The call was refused'
const modes = info('CONTENT_TYPE_NOT_SUPPORTED', { offered: 'image/png', accepted: 'text/plain, text/html' })

describe('the explanation of a refused call', () => {
  it('names the place in the card and what helps, in each form of an error', () => {
    const extensions = info('EXTENSION_SUPPORT_REQUIRED', { missing: ['urn:b'] })
    const versions = info('VERSION_NOT_SUPPORTED', { accepted: '0.3, 0.2' })
    type Row = [body: unknown, place: string | undefined, fixes: string, skillId?: string, wanted?: string[]]
    const ofDetail = (details: unknown) => ({ error: { code: 400, message: 'No', details } })
    const unsupported = { code: -32004, message: 'No', data: { reason: 'UNSUPPORTED', capability: 'streaming' } }
    const rows: Row[] = [
      [error(-32004, info('', { capability: 'streaming' })), '/capabilities/streaming:3', 'Send without streaming'],
      // HTTP+JSON, and 0.3, whose details are the data.
      [ofDetail([info('', { capability: 'extendedAgentCard' })]), '/capabilities/extendedAgentCard:undefined', ''],
      [{ error: unsupported }, '/capabilities/streaming:3', 'Send without streaming'],
      [error(-32008, extensions), '/capabilities/extensions/1:8', 'Announce these extensions and send again'],
      [error(-32005, modes), '/defaultInputModes:13', 'Leave out what is image/png'],
      [error(-32005, modes), '/skills/0/inputModes:22', 'Leave out what is image/png', 'paint'],
      [error(-32005, modes), '/defaultOutputModes:16', 'Accept text/plain,Accept text/html', '', ['image/png']],
      [error(-32009, versions), '/supportedInterfaces:27', 'Send it as A2A 0.3'],
      [error(-32001), undefined, 'Start a new conversation'],
    ]
    for (const [body, place, fixes, skillId, wanted] of rows)
      expect(explain(body, {}, skillId, wanted), JSON.stringify(body)).toEqual([refused, 'No', place, fixes])
    const needsToken = 'The call needs a token'
    const violations = { fieldViolations: [{ field: 'a', description: 'Is missing' }] }
    expect(explain(error(401, info('UNAUTHENTICATED')))).toEqual([
      ...[needsToken, 'No', '/securityRequirements:28', 'Enter a token'],
    ])
    const timeout = error(-32603, info('AGENT_TIMEOUT'))
    expect(explain(timeout)).toEqual(['The agent did not answer', 'No', undefined, 'Try again'])
    const invalid = explain(error(-32602, violations))
    expect(invalid).toEqual([refused, 'No\na: Is missing', undefined, 'Try again'])
    const forbidden = [needsToken, 'The agent answered with HTTP 403.', undefined, 'Enter a token']
    expect(explain('', { status: '403' })).toEqual(forbidden)
    expect(explain('', { status: '200' })).toEqual(['The answer cannot be read', 'No task', undefined, 'Try again'])
    const lastEvent = { head: 'x', tail: `data: {}\n\ndata: ${JSON.stringify(error(-32001))}\n\n` }
    expect(explain('', lastEvent)).toEqual([refused, 'No', undefined, 'Start a new conversation'])
  })

  it('tells a host that cannot be reached from an agent that lets no page read its answers', () => {
    const silent = { status: undefined, failure: 'no response' } as unknown as Partial<Exchange>
    expect(explain('', silent)[0]).toBe('No answer')
    expect(explain('', { ...silent, url: 'https://agent.example/' })).toEqual([
      'The browser got no answer',
      'This agent is called at its own address,',
      undefined,
      'Send it through this host,Try again',
    ])
  })
})

describe('the recorder of calls', () => {
  const call = async (token: string, url: string) => {
    const sent = vi.fn(async () => new Response(`{"echo":"${token}"}`, { headers: { 'X-Seen': token } }))
    vi.stubGlobal('fetch', sent)
    let last: Exchange | undefined
    const fetchImpl = createRecorder({
      credentials: () => ({ header: 'Authorization', prefix: 'Bearer ', token }),
      hostOrigins: ['https://host.example', 'https://public.example'],
      onChange: exchange => {
        last = exchange
      },
    })
    const result = await fetchImpl(url, { method: 'POST', body: `${token} in the body` }).catch(String)
    if (result instanceof Response) await result.text()
    return { result, sent, last }
  }
  const hostToken = `cc_${'a'.repeat(12)}_${'b'.repeat(32)}`

  it('sends tokens of this host to its agents only, and other tokens anywhere but to its API', async () => {
    const rows: [token: string, url: string, isSent: boolean][] = [
      [hostToken, 'https://host.example/agents/weather/a2a', true],
      [hostToken, 'https://public.example/a2a/v1/message:send', true],
      [hostToken, 'https://agent.example/a2a', false],
      [`"${hostToken}"`, 'https://agent.example/a2a', false],
      ['cc_cut-off', 'https://agent.example/a2a', false],
      [hostToken, 'https://claimed.example/agents/weather/a2a', false],
      ['other', 'https://agent.example/a2a', true],
      ['other', 'https://host.example/agents/weather/a2a/../refresh', false],
      ['other', 'https://host.example/tokens', false],
      ['other', 'https://host.example/a2apple', false],
    ]
    for (const [token, url, isSent] of rows) {
      const { result, sent } = await call(token, url)
      expect(sent.mock.calls.length, `${token} ${url}: ${result}`).toBe(isSent ? 1 : 0)
    }
  })

  it('hides the token in what it records, and follows no redirect with it', async () => {
    const { sent, last } = await call('other', 'https://agent.example/a2a')
    expect(JSON.stringify(last)).not.toContain('other')
    expect(last).toMatchObject({
      status: '200',
      requestHeaders: [['authorization', 'Bearer ••••••••']],
      requestBody: '•••••••• in the body',
      head: '{"echo":"••••••••"}',
      isOpen: false,
    })
    expect(sent.mock.calls[0]).toMatchObject([{}, { redirect: 'error', credentials: 'omit', cache: 'no-store' }])
  })
})
