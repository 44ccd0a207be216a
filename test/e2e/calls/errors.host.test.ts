import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/json/json.ts'
import { sharedHost, token } from '../../support/host.ts'
import { type ExpressAgent, echoManifestWith, type ManifestChanges, register, startExpressAgent } from './agents.ts'
import { errorOf } from './sdk-errors.ts'
import { sdks } from './sdks.ts'
import type { ConnectOptions, Sdk, Session } from './session.ts'

const extension = 'https://extensions.example.com/politeness/v1'
const capable = (capabilities: object): ManifestChanges => ({
  card: { capabilities: { streaming: true, ...capabilities } },
})

/** Agents by their ids, each without one capability or with one requirement. */
const agents: Record<string, ManifestChanges> = {
  plain: {},
  'non-streaming': { card: { capabilities: { streaming: false } } },
  extension: capable({ extensions: [{ uri: extension, required: true }] }),
  unextended: { manifest: { extended: null } },
  unconfigured: { ...capable({ extendedAgentCard: true }), manifest: { extended: null } },
}

/** The versions of A2A that an agent speaks, and whether calls in others are translated, by the suffix of its id. */
const protocolsBySuffix = [
  ['', ['1.0', '0.3'], 'all'],
  ['-1', ['1.0'], 'all'],
  ['-0', ['0.3'], 'all'],
  ['-only-1', ['1.0'], 'off'],
  ['-only-0', ['0.3'], 'off'],
] as const

const host = sharedHost()
let express: ExpressAgent
let tokenForOtherAgent: string
beforeAll(async () => {
  express = await startExpressAgent()
  for (const [suffix, versions, bridge] of protocolsBySuffix)
    await register(
      host,
      Object.fromEntries(
        Object.entries(agents).map(([id, { card, manifest }]) => [
          `errors-${id}${suffix}`,
          echoManifestWith({
            ...(card && { card }),
            manifest: { ...manifest, bridge },
            versions,
            origin: express.origin,
          }),
        ]),
      ),
    )
  tokenForOtherAgent = await issue({ scopes: ['read'], agents: ['weather'] })
})
afterAll(async () => {
  await express.close()
})

const issue = async (request: JsonObject): Promise<string> => (await host.issue(request)).token

/** Requests the first event of a stream, which throws the error of the call. */
const firstEvent = (events: AsyncGenerator<string>): Promise<unknown> => events.next()

type Row = {
  title: string
  agent: string
  expected: string
  /** The error code, for SDKs without a class for the error. */
  code?: number
  setup?: () => ConnectOptions
  call: (session: Session) => Promise<unknown>
}

const rows: Row[] = [
  {
    title: 'a stream of an agent that does not stream',
    agent: 'non-streaming',
    expected: 'UnsupportedOperation',
    setup: () => ({ assumedCapabilities: { streaming: true } }),
    call: ({ stream }) => firstEvent(stream('hello')),
  },
  {
    title: 'resubscribing to a task of an agent that does not stream',
    agent: 'non-streaming',
    expected: 'UnsupportedOperation',
    call: ({ resubscribe }) => firstEvent(resubscribe('some-task')),
  },
  {
    title: 'removing a push configuration',
    agent: 'plain',
    expected: 'PushNotificationNotSupported',
    call: ({ removePushConfig }) => removePushConfig('some-task'),
  },
  {
    title: 'a message that asks for push notifications',
    agent: 'plain',
    expected: 'PushNotificationNotSupported',
    call: ({ send }) => send('hello', { pushNotifications: true }),
  },
  {
    title: 'a message that accepts only images',
    agent: 'plain',
    expected: 'ContentTypeNotSupported',
    call: ({ send }) => send('hello', { acceptedOutputModes: ['image/png'] }),
  },
  {
    title: 'a streaming message that accepts only images',
    agent: 'plain',
    expected: 'ContentTypeNotSupported',
    call: ({ stream }) => firstEvent(stream('hello', { acceptedOutputModes: ['image/png'] })),
  },
  {
    title: 'a message with an image',
    agent: 'plain',
    expected: 'ContentTypeNotSupported',
    call: ({ send }) => send('hello', { withImage: true }),
  },
  {
    title: 'a message without a required extension',
    agent: 'extension',
    expected: 'ExtensionSupportRequired',
    code: -32008,
    call: ({ send }) => send('hello'),
  },
  {
    title: 'a streaming message without a required extension',
    agent: 'extension',
    expected: 'ExtensionSupportRequired',
    code: -32008,
    call: ({ stream }) => firstEvent(stream('hello')),
  },
  {
    title: 'the extended card of an agent without one',
    agent: 'unextended',
    expected: 'UnsupportedOperation',
    setup: () => ({ token, assumedCapabilities: { extendedAgentCard: true } }),
    call: ({ extendedSkills }) => extendedSkills(),
  },
  {
    title: 'an extended card that is declared but not configured',
    agent: 'unconfigured',
    expected: 'ExtendedAgentCardNotConfigured',
    setup: () => ({ token }),
    call: ({ extendedSkills }) => extendedSkills(),
  },
]

/**
 * Returns the id of the variant of an agent that makes a client speak its version. The compatibility of 1.x speaks 0.3 only if the
 * card has nothing else.
 */
const agentFor = ({ legacyCompat }: Sdk, agent: string): string => `errors-${agent}${legacyCompat ? '-only-0' : ''}`

/** Returns the id of the variant of an agent for which the calls of a client are translated. */
const translatedAgentFor = ({ version }: Sdk, agent: string): string =>
  `errors-${agent}${version === '1.0' ? '-0' : '-1'}`

describe.each(sdks)('an error of the host in $title', sdk => {
  const connectTo = (agent: string, setup?: ConnectOptions) =>
    sdk.connect(new URL(`/agents/${agent}/`, host.url).href, setup)
  const isSdk03 = sdk.version === '0.3' && !sdk.legacyCompat

  it.each(rows)(
    '$title is $expected, without a request to the agent',
    async ({ agent, expected, code, setup, call }) => {
      const connected = await connectTo(agentFor(sdk, agent), setup?.())
      express.takeCalls()
      expect(await errorOf(call(connected))).toBe(isSdk03 && code !== undefined ? `code ${code}` : expected)
      expect(express.takeCalls()).toEqual([])
    },
  )

  it.runIf(!sdk.legacyCompat).each(rows)(
    '$title is $expected, without a request to the agent, if the call would be translated',
    async ({ agent, expected, code, setup, call }) => {
      const connected = await connectTo(translatedAgentFor(sdk, agent), setup?.())
      express.takeCalls()
      expect(await errorOf(call(connected))).toBe(isSdk03 && code !== undefined ? `code ${code}` : expected)
      expect(express.takeCalls()).toEqual([])
    },
  )

  it.each([
    ['', sdk.legacyCompat ? ['0.3'] : ['1.0', '0.3'], 'off'],
    [', and whose calls were translated,', sdk.version === '1.0' || sdk.legacyCompat ? ['0.3'] : ['1.0'], 'all'],
  ])('a call of an agent that no longer accepts calls%s is UnsupportedOperation', async (_, versions, bridge) => {
    const put = (manifest: JsonObject) =>
      host.put('errors-closed', echoManifestWith({ versions, origin: express.origin, manifest }))
    await put({ bridge })
    const { send } = await connectTo('errors-closed')
    expect(await send('hello')).toMatchObject({ state: 'completed', text: 'hello' })
    await put({ bridge, route: 'closed' })
    express.takeCalls()
    expect(await errorOf(send('hello'))).toBe('UnsupportedOperation')
    expect(express.takeCalls()).toEqual([])
  })

  it('does not occur with the required extension', async () => {
    const { send } = await connectTo(agentFor(sdk, 'extension'), { extensions: [extension] })
    expect(await send('please')).toMatchObject({ state: 'completed', text: 'please' })
  })

  it.runIf(!sdk.legacyCompat && !isSdk03)(
    'a version that the agent does not speak, and that is not translated, is VersionNotSupported',
    async () => {
      const { send } = await connectTo('errors-plain-only-0')
      express.takeCalls()
      expect(await errorOf(send('hello'))).toBe('VersionNotSupported')
      expect(express.takeCalls()).toEqual([])
    },
  )

  it.runIf(isSdk03)('the card of an agent that can be called in 1.0 only leads the client to no call', async () => {
    express.takeCalls()
    expect(await errorOf(connectTo('errors-plain-only-1'))).toContain('No compatible transport found')
    expect(express.takeCalls()).toEqual([])
  })

  it.runIf(!sdk.legacyCompat)(
    'does not occur in a version that the agent does not speak, but is translated',
    async () => {
      const { send } = await connectTo(translatedAgentFor(sdk, 'plain'))
      express.takeCalls()
      expect(await send('hello')).toMatchObject({ state: 'completed', text: 'hello' })
      expect(express.takeCalls()).toHaveLength(1)
    },
  )

  // No SDK has a class for these. 1.x over HTTP+JSON has the status, all others have the code.
  const untyped = (status: number) =>
    sdk.version === '1.0' && sdk.binding === 'HTTP+JSON' ? `HTTP ${status}` : 'code -32000'
  it.each([
    ['no token', 401, () => ({})],
    ['an unknown token', 401, () => ({ token: `cc_${'a'.repeat(12)}_${'b'.repeat(32)}` })],
    ['a token for another agent', 403, () => ({ token: tokenForOtherAgent })],
  ])('the extended card with %s is HTTP %d', async (_, status, setup) => {
    const { extendedSkills } = await connectTo(agentFor(sdk, 'plain'), setup())
    express.takeCalls()
    expect(await errorOf(extendedSkills())).toBe(untyped(status))
    expect(express.takeCalls()).toEqual([])
  })

  it.each([
    ['reading an unknown task', 'TaskNotFound', ({ get }: Session) => get('no-such-task')],
    [
      'cancelling a finished task',
      'TaskNotCancelable',
      async ({ send, cancel }: Session) => cancel((await send('hello')).id),
    ],
  ])('an error of the agent is passed on: %s is %s', async (_, expected, call) => {
    expect(await errorOf(call(await connectTo(agentFor(sdk, 'plain'))))).toBe(expected)
    expect(express.takeCalls()).not.toEqual([])
  })
})
