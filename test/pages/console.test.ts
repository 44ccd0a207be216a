import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { AgentCard } from '../../src/card/model/agent-card.ts'
import { Turn } from '../../src/pages/browser/console/conversation.ts'
import { createRecorder, type Exchange } from '../../src/pages/browser/console/recorder.ts'
import { explainRefusal } from '../../src/pages/browser/console/refusal.ts'
import { toFileName } from '../../src/pages/components/text.ts'

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
  securityRequirements: [{ schemes: { a: { list: [] }, b: { list: [] } } }],
} as unknown as AgentCard

/** Explains a call to this host whose response has a body. */
const explainCall = (
  body: unknown,
  more: Partial<Exchange> = {},
  skillId = '',
  wanted: string[] = [],
  sdkMessage = 'No task',
) => {
  const exchange = { url: 'https://host.example/a2a', status: '400', head: JSON.stringify(body), tail: '', ...more }
  const draft = { skillId, acceptedOutputModes: wanted }
  const call = { card, endpoints: [], draft, exchange, error: new Error(sdkMessage), canUseHost: true }
  return explainRefusal(call as never)
}
const explain = (...args: Parameters<typeof explainCall>) => {
  const { title, message, cause, fixes } = explainCall(...args)
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

describe('what the page keeps of a response', () => {
  const content = ($case: string, value: unknown) => ({ content: { $case, value }, mediaType: '', filename: '' })
  const update = (artifactId: string, append: boolean, parts: unknown[], more: object = {}) =>
    ({ $case: 'artifactUpdate', value: { artifact: { artifactId, name: '', parts, ...more }, append } }) as never
  const artifactsOf = ({ artifacts }: Turn) => [...artifacts.values()]
  const shown = (turn: Turn) => artifactsOf(turn).map(({ list }) => list.parts.map(part => part.content?.value))

  it('joins text that arrives in pieces, replaces what is sent again, and stops at limits', () => {
    const turn = new Turn([])
    for (const word of ['one', ' two']) turn.apply(update('a', true, [content('text', word)]))
    turn.apply(update('a', true, [content('data', 3), content('text', 'four')]))
    expect(shown(turn)).toEqual([['one two', 3, 'four']])
    turn.apply(update('a', false, [content('text', 'x'.repeat(300_000)), content('data', 1)]))
    expect(shown(turn)[0]?.map(value => String(value).length)).toEqual([262_144])
    expect(artifactsOf(turn)[0]?.list.isCut).toBe(true)
    for (let index = 0; index < 200; index += 1)
      turn.apply(update(`${index}`, false, Array(300).fill(content('data', 1))))
    const counts = artifactsOf(turn).map(({ list }) => list.parts.length)
    expect([counts.slice(0, 5), counts.length, turn.isCut]).toEqual([[1, 200, 200, 199, 0], 100, true])
  })

  it('takes no elements for texts, whatever an agent sends', () => {
    const element = [{ tag: 'b', props: { children: 'x' } }]
    const turn = new Turn([])
    turn.apply(update('b', false, [content('text', '[object Object],[object Object]')]))
    expect(shown(turn)).toEqual([['(not a text: see the raw exchange)']])
    turn.artifacts.clear()
    const part = { ...content('text', element), mediaType: element, filename: element }
    turn.apply(update('a', false, [part, { ...part, content: { $case: 'url', value: element } }], { name: element }))
    turn.apply({ $case: 'statusUpdate', value: { taskId: 't', status: { state: 'length' } } } as never)
    const [artifact] = artifactsOf(turn)
    const texts = artifact?.list.parts.flatMap(each => [each.content?.value, each.mediaType, each.filename]) ?? []
    expect([artifact?.name, artifact?.description, turn.progress?.state, ...texts].map(text => typeof text)).toEqual(
      Array(9).fill('string'),
    )
  })
})

it('saves a file under a name without paths, reserved or invisible characters, and with its extension', () => {
  const names = ['dot.png', '../../.bashrc', 'C:\\a\u202efdp.exe', `${'x'.repeat(300)}.pdf`, '\u0000', '..']
  expect(names.map(toFileName)).toEqual([
    ...['dot.png', '_.._.bashrc', 'C__a_fdp.exe', `${'x'.repeat(96)}.pdf`, '_', 'file'],
  ])
})

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
      [error(-32005, modes), '/defaultInputModes:13', 'Send without the image/png part'],
      [error(-32005, modes), '/skills/0/inputModes:22', 'Send without the image/png part', 'paint'],
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
    expect(explainCall(error(401, info('UNAUTHENTICATED'))).cause?.lines).toEqual([
      ...['  28    "securityRequirements": [', '  29      {', '  30        "schemes": {', '  31          "a": {'],
      ...[
        '  32            "list": []',
        '  33          },',
        '  34          "b": {',
        '  35            "list": []',
        '      …',
      ],
    ])
    const timeout = error(-32603, info('AGENT_TIMEOUT'))
    expect(explain(timeout)).toEqual(['The agent did not respond', 'No', undefined, 'Try again'])
    const invalid = explain(error(-32602, violations))
    expect(invalid).toEqual([refused, 'No\na: Is missing', undefined, 'Try again'])
    const forbidden = [needsToken, 'The agent responded with HTTP 403.', undefined, 'Enter a token']
    expect(explain('', { status: '403' })).toEqual(forbidden)
    expect(explain('', { status: '200' })).toEqual(['The response cannot be read', 'No task', undefined, 'Try again'])
    const lastEvent = { head: 'x', tail: `data: {}\n\ndata: ${JSON.stringify(error(-32001))}\n\n` }
    expect(explain('', lastEvent)).toEqual([refused, 'No', undefined, 'Start a new conversation'])
  })

  it('says what of a response cannot be read in words for people', () => {
    const sizeError = 'SSE line exceeded the maximum allowed size of 4194304 bytes. Pass maxEventSizeBytes to …'
    const rows = [
      [sizeError, 'An event of the stream is larger than 4 M', 'Send without streaming'],
      ['[object Object]', '(not a text: see the raw exchange)', 'Try again'],
    ] as const
    for (const [sdkMessage, message, fix] of rows)
      expect(explain('', { status: '200' }, '', [], sdkMessage)).toEqual([
        ...['The response cannot be read', message.slice(0, 40), undefined, fix],
      ])
    const violations = { fieldViolations: [{ field: 'a', description: { b: 1 } }] }
    expect(explain(error(-32602, violations))[1]).toBe('No\na: {"b":1}')
  })

  it('tells a host that cannot be reached from an agent that lets no page read its responses', () => {
    const silent = { status: undefined, failure: 'no response' } as unknown as Partial<Exchange>
    expect(explain('', silent)[0]).toBe('No response')
    expect(explain('', { ...silent, url: 'https://agent.example/' })).toEqual([
      'The browser got no response',
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
      callPath: '/agents/weather/a2a',
      onChange: exchange => {
        last = exchange
      },
    })
    const result = await fetchImpl(url, { method: 'POST', body: `${token} in the body` }).catch(String)
    if (result instanceof Response) await result.text()
    return { result, sent, last }
  }
  const hostToken = `cc_${'a'.repeat(12)}_${'b'.repeat(32)}`

  it('sends tokens of this host to this agent only, and other tokens anywhere but to the rest of this host', async () => {
    const rows: [token: string, url: string, isSent: boolean][] = [
      [hostToken, 'https://host.example/agents/weather/a2a', true],
      [hostToken, 'https://public.example/agents/weather/a2a/v1/message:send', true],
      [hostToken, 'https://agent.example/a2a', false],
      [`"${hostToken}"`, 'https://agent.example/a2a', false],
      ['cc_cut-off', 'https://agent.example/a2a', false],
      [hostToken, 'https://claimed.example/agents/weather/a2a', false],
      ['other', 'https://agent.example/a2a', true],
      ['other', 'https://host.example/agents/weather/a2a/../refresh', false],
      ['other', 'https://host.example/tokens', false],
      ['other', 'https://host.example/agents/weather/a2apple', false],
      ['other', 'https://host.example/agents/weather', false],
      ['other', 'https://host.example/agents/echo/a2a', false],
      [hostToken, 'https://public.example/agents/echo/a2a', false],
      // The message names the agent.
      [hostToken, 'https://host.example/a2a', false],
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
