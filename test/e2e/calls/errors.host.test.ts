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
  tokenForOtherAgent = (await host.issue({ scopes: ['read'], agents: ['weather'] })).token
})
afterAll(async () => {
  await express.close()
})

/** Requests the first event of a stream, which throws the error of the call. */
const firstEvent = (events: AsyncGenerator<string>): Promise<unknown> => events.next()

type Row = [
  title: string,
  agent: string,
  expected: string,
  call: (session: Session) => Promise<unknown>,
  setup?: () => ConnectOptions,
]

const images = { acceptedOutputModes: ['image/png'] }
const assumed = (assumedCapabilities: ConnectOptions['assumedCapabilities'] & object) => () => ({
  token,
  assumedCapabilities,
})

/** Calls that the gate refuses, and the error of the SDK. */
const rows: Row[] = [
  [
    'a stream',
    'non-streaming',
    'UnsupportedOperation',
    ({ stream }) => firstEvent(stream('hello')),
    assumed({ streaming: true }),
  ],
  [
    'following a task',
    'non-streaming',
    'UnsupportedOperation',
    ({ resubscribe }) => firstEvent(resubscribe('some-task')),
  ],
  [
    'removing a push configuration',
    'plain',
    'PushNotificationNotSupported',
    ({ removePushConfig }) => removePushConfig('some-task'),
  ],
  [
    'a message that asks for push notifications',
    'plain',
    'PushNotificationNotSupported',
    ({ send }) => send('hello', { pushNotifications: true }),
  ],
  ['a message that accepts only images', 'plain', 'ContentTypeNotSupported', ({ send }) => send('hello', images)],
  [
    'a stream that accepts only images',
    'plain',
    'ContentTypeNotSupported',
    ({ stream }) => firstEvent(stream('hello', images)),
  ],
  ['a message with an image', 'plain', 'ContentTypeNotSupported', ({ send }) => send('hello', { withImage: true })],
  ['a message without a required extension', 'extension', 'ExtensionSupportRequired', ({ send }) => send('hello')],
  [
    'a stream without a required extension',
    'extension',
    'ExtensionSupportRequired',
    ({ stream }) => firstEvent(stream('hello')),
  ],
  [
    'an extended card that is not declared',
    'unextended',
    'UnsupportedOperation',
    ({ extendedSkills }) => extendedSkills(),
    assumed({ extendedAgentCard: true }),
  ],
  [
    'an extended card that is not configured',
    'unconfigured',
    'ExtendedAgentCardNotConfigured',
    ({ extendedSkills }) => extendedSkills(),
    assumed({}),
  ],
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

  /** The name of an error in this SDK, which may have no class for it. */
  const nameOf = (expected: string): string =>
    isSdk03 && expected === 'ExtensionSupportRequired' ? 'code -32008' : expected

  /** Returns the error of each call, and what the agent was sent. */
  const refusals = async (agentOf: (sdk: Sdk, agent: string) => string) => {
    const results: [title: string, error: string, sent: string[]][] = []
    for (const [title, agent, , call, setup] of rows) {
      const connected = await connectTo(agentOf(sdk, agent), setup?.())
      express.takeCalls()
      results.push([title, await errorOf(call(connected)), express.takeCalls()])
    }
    return results
  }
  const expected = rows.map(([title, , error]) => [title, nameOf(error), []])

  it('has a class of its own, without a request to the agent', async () => {
    expect(await refusals(agentFor)).toEqual(expected)
  })

  if (!sdk.legacyCompat)
    it('is the same if the call would be translated, and does not occur for others', async () => {
      expect(await refusals(translatedAgentFor)).toEqual(expected)
      const { send } = await connectTo(translatedAgentFor(sdk, 'plain'))
      expect(await send('hello')).toMatchObject({ state: 'completed', text: 'hello' })
      expect(express.takeCalls()).toHaveLength(1)
    })

  it('is UnsupportedOperation for an agent that no longer accepts calls, translated or not', async () => {
    const other = sdk.version === '1.0' || sdk.legacyCompat ? ['0.3'] : ['1.0']
    for (const [versions, bridge] of [
      [sdk.legacyCompat ? ['0.3'] : ['1.0', '0.3'], 'off'],
      [other, 'all'],
    ] as const) {
      const put = (manifest: JsonObject) =>
        host.put('errors-closed', echoManifestWith({ versions, origin: express.origin, manifest }))
      await put({ bridge })
      const { send } = await connectTo('errors-closed')
      expect(await send('hello')).toMatchObject({ state: 'completed', text: 'hello' })
      await put({ bridge, route: 'closed' })
      express.takeCalls()
      expect([await errorOf(send('hello')), express.takeCalls()]).toEqual(['UnsupportedOperation', []])
    }
  })

  it('does not occur with the required extension', async () => {
    const { send } = await connectTo(agentFor(sdk, 'extension'), { extensions: [extension] })
    expect(await send('please')).toMatchObject({ state: 'completed', text: 'please' })
  })

  if (!sdk.legacyCompat)
    it('is about the version if the agent does not speak it, and calls are not translated', async () => {
      express.takeCalls()
      // The card of an agent that can be called in 1.0 only leads a client of 0.3 to no call.
      const call = isSdk03 ? connectTo('errors-plain-only-1') : (await connectTo('errors-plain-only-0')).send('hello')
      expect(await errorOf(call)).toMatch(isSdk03 ? 'No compatible transport found' : /^VersionNotSupported$/)
      expect(express.takeCalls()).toEqual([])
    })

  // No SDK has a class for these. 1.x over HTTP+JSON has the status, all others have the code.
  const untyped = (status: number) =>
    sdk.version === '1.0' && sdk.binding === 'HTTP+JSON' ? `HTTP ${status}` : 'code -32000'
  it('is the status for an extended card that the token does not open', async () => {
    for (const [token, status] of [
      [undefined, 401],
      [`cc_${'a'.repeat(12)}_${'b'.repeat(32)}`, 401],
      [tokenForOtherAgent, 403],
    ] as const) {
      const { extendedSkills } = await connectTo(agentFor(sdk, 'plain'), token === undefined ? {} : { token })
      express.takeCalls()
      expect([await errorOf(extendedSkills()), express.takeCalls()]).toEqual([untyped(status), []])
    }
  })

  it('is passed on from the agent', async () => {
    const { get, send, cancel } = await connectTo(agentFor(sdk, 'plain'))
    express.takeCalls()
    expect(await errorOf(get('no-such-task'))).toBe('TaskNotFound')
    expect(await errorOf(cancel((await send('hello')).id))).toBe('TaskNotCancelable')
    expect(express.takeCalls()).toHaveLength(3)
  })
})
