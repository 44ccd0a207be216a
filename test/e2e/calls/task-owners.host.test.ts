import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Host, sharedHost } from '../../support/host.ts'
import { type ExpressAgent, echoManifestWith, register, startExpressAgent } from './agents.ts'
import { errorOf } from './sdk-errors.ts'
import { sdks } from './sdks.ts'
import type { Session } from './session.ts'

let host: Host
let express: ExpressAgent
beforeAll(async () => {
  host = sharedHost()
  express = await startExpressAgent()
  const upstream = { secret: 'AGENT_TOKEN' }
  // The compatibility of 1.x speaks 0.3 only if the card has nothing else.
  for (const [id, versions, manifest] of [
    ['owned-sdk', ['1.0', '0.3'], { upstream }],
    ['owned-sdk-old', ['0.3'], { upstream, bridge: 'off' }],
  ] as const)
    await register(host, { [id]: echoManifestWith({ origin: express.origin, versions, manifest }) })
})
afterAll(() => express.close())

describe.concurrent.each(sdks)('two callers of an agent that a secret of the host opens: $title', sdk => {
  let tokens: string[]
  beforeAll(async () => {
    const issued = [1, 2].map(() => host.issue({ scopes: ['call'], agents: ['owned-sdk*'] }))
    tokens = (await Promise.all(issued)).map(({ token }) => token)
  })

  const connect = async (): Promise<[Session, Session]> => {
    const base = new URL(`/agents/owned-sdk${sdk.legacyCompat ? '-old' : ''}/`, host.url).href
    const [first, second] = await Promise.all(tokens.map(token => sdk.connect(base, { token })))
    if (!first || !second) throw new Error('not connected')
    return [first, second]
  }

  it('reach no task of the other', async () => {
    const [first, second] = await connect()
    const { id } = await first.send('ask')
    const { get, cancel, send, stream, resubscribe } = second
    const calls = [
      get(id),
      cancel(id),
      send('mine', { task: id }),
      stream('mine', { task: id }).next(),
      resubscribe(id).next(),
    ]
    expect(await Promise.all(calls.map(errorOf))).toEqual(Array(5).fill('TaskNotFound'))
    expect(await first.get(id)).toMatchObject({ id, state: 'input-required' })
  })

  it('each follow, continue and cancel their own task', async () => {
    const [first] = await connect()
    const { id } = await first.send('slow', { returnImmediately: true })
    const events = first.resubscribe(id)
    expect((await events.next()).value).toBe('working')
    expect(await first.cancel(id)).toMatchObject({ id, state: 'canceled' })
    const asked = await first.send('ask')
    expect(await first.send('bread', { task: asked.id })).toMatchObject({ id: asked.id, text: 'bread' })
  })

  if (sdk.version === '1.0')
    it('each list their own tasks, those of streams too', async () => {
      const [first, second] = await connect()
      const before = new Set(await second.list?.())
      const { id } = await first.send('listed')
      await Array.fromAsync(second.stream('stream one'))
      const added = (await second.list?.())?.filter(task => !before.has(task))
      expect(added).toHaveLength(1)
      expect(added).not.toContain(id)
      expect(await first.list?.()).toContain(id)
      expect(await second.get(added?.[0] ?? '')).toMatchObject({ state: 'completed', text: 'one' })
    })
})
