import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
  unconfigured: { ...capable({ extendedAgentCard: true }), manifest: { extended: null } },
}

/** The versions of A2A that an agent speaks, by the suffix of its id. Calls in others are not translated. */
const versionsBySuffix = { '': ['1.0', '0.3'], '-old': ['0.3'] }

const host = sharedHost()
let express: ExpressAgent
let tokenForOtherAgent: string
beforeAll(async () => {
  express = await startExpressAgent()
  for (const [suffix, versions] of Object.entries(versionsBySuffix))
    await register(
      host,
      Object.fromEntries(
        Object.entries(agents).map(([id, { card, manifest }]) => [
          `errors-${id}${suffix}`,
          echoManifestWith({
            ...(card && { card }),
            manifest: { ...manifest, bridge: 'off' },
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

type Row = [
  title: string,
  agent: string,
  expected: string,
  call: (session: Session) => Promise<unknown>,
  setup?: ConnectOptions,
]

/** Calls that the gate refuses, and the error of the SDK. */
const rows: Row[] = [
  ['following a task', 'non-streaming', 'UnsupportedOperation', ({ resubscribe }) => resubscribe('some-task').next()],
  [
    'removing a push configuration',
    'plain',
    'PushNotificationNotSupported',
    ({ removePushConfig }) => removePushConfig('some-task'),
  ],
  [
    'a message that accepts only images',
    'plain',
    'ContentTypeNotSupported',
    ({ send }) => send('hello', { acceptedOutputModes: ['image/png'] }),
  ],
  ['a message without a required extension', 'extension', 'ExtensionSupportRequired', ({ send }) => send('hello')],
  [
    'an extended card that is not configured',
    'unconfigured',
    'ExtendedAgentCardNotConfigured',
    ({ extendedSkills }) => extendedSkills(),
    { token },
  ],
]

/**
 * Returns the id of the variant of an agent that makes a client speak its version. The compatibility of 1.x speaks 0.3 only if the
 * card has nothing else.
 */
const agentFor = ({ legacyCompat }: Sdk, agent: string): string => `errors-${agent}${legacyCompat ? '-old' : ''}`

describe.each(sdks)('an error of the host in $title', sdk => {
  const connectTo = (agent: string, setup?: ConnectOptions) =>
    sdk.connect(new URL(`/agents/${agent}/`, host.url).href, setup)
  const isSdk03 = sdk.version === '0.3' && !sdk.legacyCompat

  /** The name of an error in this SDK, which may have no class for it. */
  const nameOf = (expected: string): string =>
    isSdk03 && expected === 'ExtensionSupportRequired' ? 'code -32008' : expected

  it('has a class of its own, without a request to the agent', async () => {
    const results: [title: string, error: string, sent: string[]][] = []
    for (const [title, agent, , call, setup] of rows) {
      const connected = await connectTo(agentFor(sdk, agent), setup)
      express.takeCalls()
      results.push([title, await errorOf(call(connected)), express.takeCalls()])
    }
    expect(results).toEqual(rows.map(([title, , error]) => [title, nameOf(error), []]))
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
