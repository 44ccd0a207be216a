import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedHost, token } from '../../support/host.ts'
import { type Change, changed, type ExpressAgent, register, startExpressAgent } from './agents.ts'
import { sdks } from './sdks.ts'
import type { Sdk, Session, Setup } from './session.ts'

const extension = 'https://extensions.example.com/politeness/v1'
const capable = (capabilities: object): Change => ({ card: { capabilities: { streaming: true, ...capabilities } } })

/** The errors that the SDKs have classes for; 0.3.x has one under another name. */
const errorClass =
  /^(?:Authenticated)?(\w+(?:NotFound|NotCancelable|NotSupported|Operation|NotConfigured|Required|Response))Error$/

/** Returns what a call threw: the name of the SDK's error or of its cause, else the code that it carries or the HTTP status. */
const thrownBy = async (call: Promise<unknown>): Promise<string> => {
  try {
    return `nothing: ${JSON.stringify(await call)}`
  } catch (error) {
    return nameOf(error)
  }
}

const nameOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const [, name] = errorClass.exec(error.name) ?? []
  if (name !== undefined) return name.replace('ExtendedCard', 'ExtendedAgentCard')
  if (error.cause !== undefined) return nameOf(error.cause)
  const facts: { envelopeCode?: number; statusCode?: number; errorResponse?: { error: { code: number } } } =
    error as never
  const code = facts.envelopeCode ?? facts.errorResponse?.error.code ?? /\(Code: (-\d+)\)/.exec(error.message)?.[1]
  return code !== undefined ? `code ${code}` : facts.statusCode ? `HTTP ${facts.statusCode}` : error.message
}

/** Agents of which a card keeps something back. */
const agents: Record<string, Change> = {
  plain: {},
  still: { card: { capabilities: { streaming: false } } },
  polite: capable({ extensions: [{ uri: extension, required: true }] }),
  bare: { beside: { extended: null } },
  promising: { ...capable({ extendedAgentCard: true }), beside: { extended: null } },
}

/** What each of them speaks, by the end of its id. */
const spoken = [
  ['', ['1.0', '0.3']],
  ['-1', ['1.0']],
  ['-0', ['0.3']],
] as const

const host = sharedHost()
let express: ExpressAgent
let other: string
beforeAll(async () => {
  express = await startExpressAgent()
  for (const [suffix, versions] of spoken)
    await register(
      host,
      Object.fromEntries(
        Object.entries(agents).map(([id, change]) => [
          `refusals-${id}${suffix}`,
          changed({ ...change, versions, origin: express.origin }),
        ]),
      ),
    )
  other = await issue({ scopes: ['read'], agents: ['weather'] })
})
afterAll(async () => {
  await express.close()
})

const issue = async (request: object): Promise<string> => {
  const response = await host.fetch('/tokens', {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(request),
  })
  const issued: { token: string } = (await response.json()) as never
  return issued.token
}

/** Asks for the first event of a stream, which is where a refusal is thrown. */
const first = (events: AsyncGenerator<string>): Promise<unknown> => events.next()

type Row = {
  what: string
  agent: string
  expected: string
  /** The code, for SDKs of a generation that had no class for it. */
  code?: number
  setup?: () => Setup
  call: (session: Session) => Promise<unknown>
}

const rows: Row[] = [
  {
    what: 'a stream of an agent that does not stream',
    agent: 'still',
    expected: 'UnsupportedOperation',
    setup: () => ({ believes: { streaming: true } }),
    call: ({ stream }) => first(stream('hello')),
  },
  {
    what: 'coming back to a stream of an agent that does not stream',
    agent: 'still',
    expected: 'UnsupportedOperation',
    call: ({ resubscribe }) => first(resubscribe('some-task')),
  },
  {
    what: 'removing a push configuration',
    agent: 'plain',
    expected: 'PushNotificationNotSupported',
    call: ({ removePushConfig }) => removePushConfig('some-task'),
  },
  {
    what: 'a message that wants push notifications',
    agent: 'plain',
    expected: 'PushNotificationNotSupported',
    call: ({ send }) => send('hello', { push: true }),
  },
  {
    what: 'a message whose answer is to be a picture',
    agent: 'plain',
    expected: 'ContentTypeNotSupported',
    call: ({ send }) => send('hello', { acceptedOutputModes: ['image/png'] }),
  },
  {
    what: 'a stream that is to be pictures',
    agent: 'plain',
    expected: 'ContentTypeNotSupported',
    call: ({ stream }) => first(stream('hello', { acceptedOutputModes: ['image/png'] })),
  },
  {
    what: 'a message with a picture',
    agent: 'plain',
    expected: 'ContentTypeNotSupported',
    call: ({ send }) => send('hello', { picture: true }),
  },
  {
    what: 'a message without an extension that is required',
    agent: 'polite',
    expected: 'ExtensionSupportRequired',
    code: -32008,
    call: ({ send }) => send('hello'),
  },
  {
    what: 'a stream without an extension that is required',
    agent: 'polite',
    expected: 'ExtensionSupportRequired',
    code: -32008,
    call: ({ stream }) => first(stream('hello')),
  },
  {
    what: 'the extended card of an agent that has none',
    agent: 'bare',
    expected: 'UnsupportedOperation',
    setup: () => ({ token, believes: { extendedAgentCard: true } }),
    call: ({ extendedSkills }) => extendedSkills(),
  },
  {
    what: 'an extended card that is declared, but not configured',
    agent: 'promising',
    expected: 'ExtendedAgentCardNotConfigured',
    setup: () => ({ token }),
    call: ({ extendedSkills }) => extendedSkills(),
  },
]

/** The id of the agent that a client speaks its version to. */
const agentFor = ({ compatible }: Sdk, agent: string): string => `refusals-${agent}${compatible ? '-0' : ''}`

describe.each(sdks)('refused by the host, $title', sdk => {
  const session = (agent: string, setup?: Setup) => sdk.connect(new URL(`/agents/${agent}/`, host.url).href, setup)
  const oldest = sdk.version === '0.3' && !sdk.compatible

  it.each(rows)(
    '$what: reads it as $expected, and the agent hears nothing',
    async ({ agent, expected, code, setup, call }) => {
      const connected = await session(agentFor(sdk, agent), setup?.())
      express.takeCalls()
      expect(await thrownBy(call(connected))).toBe(oldest && code !== undefined ? `code ${code}` : expected)
      expect(express.takeCalls()).toEqual([])
    },
  )

  it('calls by an older card an agent of which this host has only the card by now: reads it as UnsupportedOperation', async () => {
    const versions = sdk.compatible ? ['0.3'] : ['1.0', '0.3']
    await host.put('refusals-retiring', changed({ versions, origin: express.origin }))
    const { send } = await session('refusals-retiring')
    await host.put('refusals-retiring', changed({ versions, origin: express.origin, beside: { route: 'closed' } }))
    express.takeCalls()
    expect(await thrownBy(send('hello'))).toBe('UnsupportedOperation')
    expect(express.takeCalls()).toEqual([])
  })

  it('passes with the extension that is required', async () => {
    const { send } = await session(agentFor(sdk, 'polite'), { extensions: [extension] })
    expect(await send('please')).toMatchObject({ state: 'completed', said: 'please' })
  })

  it.runIf(!sdk.compatible)('speaks a version that the agent does not: reads which it does', async () => {
    const { send } = await session(`refusals-plain-${sdk.version === '1.0' ? 0 : 1}`)
    express.takeCalls()
    expect(await thrownBy(send('hello'))).toBe(oldest ? 'code -32009' : 'VersionNotSupported')
    expect(express.takeCalls()).toEqual([])
  })

  // No SDK has classes for these: over HTTP+JSON, 1.x keeps the status, all others the code.
  const untyped = (status: number) =>
    sdk.version === '1.0' && sdk.binding === 'HTTP+JSON' ? `HTTP ${status}` : 'code -32000'
  it.each([
    ['no token', 401, () => ({})],
    ['a token that nobody issued', 401, () => ({ token: `cc_${'a'.repeat(12)}_${'b'.repeat(32)}` })],
    ['a token for another agent', 403, () => ({ token: other })],
  ])('asks for the extended card with %s: %d', async (_, status, setup) => {
    const { extendedSkills } = await session(agentFor(sdk, 'plain'), setup())
    express.takeCalls()
    expect(await thrownBy(extendedSkills())).toBe(untyped(status))
    expect(express.takeCalls()).toEqual([])
  })

  it.each([
    ['a task that is not there', 'TaskNotFound', ({ get }: Session) => get('no-such-task')],
    [
      'the end of a task that has ended',
      'TaskNotCancelable',
      async ({ send, cancel }: Session) => cancel((await send('hello')).id),
    ],
  ])('hears what the agent itself says of %s: %s', async (_, expected, call) => {
    expect(await thrownBy(call(await session(agentFor(sdk, 'plain'))))).toBe(expected)
    expect(express.takeCalls()).not.toEqual([])
  })
})
