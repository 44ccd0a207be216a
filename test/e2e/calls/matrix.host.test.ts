import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedHost, token } from '../../support/host.ts'
import { combine } from '../../support/matrix.ts'
import { type ExpressAgent, echoManifestWith, register, startExpressAgent } from './agents.ts'
import { sdks } from './sdks.ts'
import type { Sdk, Session } from './session.ts'

const securitySchemes = {
  bearer: { httpAuthSecurityScheme: { scheme: 'bearer', bearerFormat: 'JWT' } },
  key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
  oauth: {
    oauth2SecurityScheme: {
      flows: { clientCredentials: { tokenUrl: 'https://login.example.com/token', scopes: { call: 'Call the agent' } } },
    },
  },
  login: {
    openIdConnectSecurityScheme: { openIdConnectUrl: 'https://login.example.com/.well-known/openid-configuration' },
  },
  certificate: { mtlsSecurityScheme: { description: 'A client certificate' } },
}

const host = sharedHost('examples')
let express: ExpressAgent
beforeAll(async () => {
  express = await startExpressAgent()
  // The compatibility of 1.x speaks 0.3 only if the card has nothing else.
  for (const [name, location] of [
    ['bound', {}],
    ['express', { origin: express.origin }],
  ] as const)
    for (const [suffix, versions, manifest] of [
      ['', ['1.0', '0.3'], {}],
      ['-old', ['0.3'], { bridge: 'off' }],
    ] as const)
      await register(host, {
        [`matrix-${name}${suffix}`]: echoManifestWith({ ...location, versions, manifest }),
        [`matrix-${name}${suffix}-secured`]: echoManifestWith({
          ...{ ...location, versions, manifest },
          card: { securitySchemes },
        }),
      })
})
afterAll(() => express.close())

/** What an SDK does with an agent, by its title. */
const operations: Record<string, (session: Session, sdk: Sdk, id: string) => Promise<void>> = {
  'finds only endpoints of this host in the card': async ({ card }, { version, binding, legacyCompat }, id) => {
    const versions = new RegExp(`^${binding.replace('+', '\\+')} 0?${version.replace('.', '\\.')}`)
    expect(card.name).toBe('Echo Agent')
    expect(card.skills).toEqual(['echo', 'stream', 'ask', 'slow'])
    expect(card.endpoints.some(endpoint => versions.test(endpoint))).toBe(true)
    if (legacyCompat) expect(card.endpoints.filter(endpoint => !endpoint.includes(' 0.3'))).toEqual([])
    const others = card.endpoints.filter(endpoint => !endpoint.endsWith(` ${host.url.origin}/agents/${id}/a2a`))
    expect(others).toEqual([])
  },
  'sends a message and gets the task': async ({ send, get }) => {
    const { id: task, ...sent } = await send('hello there')
    expect(sent).toEqual({ state: 'completed', text: 'hello there', historyLength: 1 })
    expect(await get(task)).toEqual({ id: task, ...sent })
    expect(await get(task, 0)).toEqual({ id: task, ...sent, historyLength: 0 })
  },
  'continues a task that requires input': async ({ send }) => {
    const { id: task, state } = await send('ask')
    expect(state).toBe('input-required')
    expect(await send('bread', { task })).toMatchObject({ id: task, state: 'completed', text: 'bread' })
  },
  'streams a task': async ({ stream }) => {
    const events = await Array.fromAsync(stream('stream one two'))
    expect(events).toEqual(['submitted', 'working', 'one', ' two', 'completed'])
  },
  'cancels a task and receives that from its resubscribed stream': async ({ send, resubscribe, cancel }) => {
    const { id: task } = await send('slow', { returnImmediately: true })
    const events = resubscribe(task)
    const states = [(await events.next()).value]
    expect(await cancel(task)).toMatchObject({ id: task, state: 'canceled' })
    for await (const event of events) states.push(event)
    expect(states).toEqual(['working', 'canceled'])
  },
  'lists its tasks, if its version has lists': async (_, { version, connect }, id) => {
    if (version !== '1.0') return
    // Behind a service binding, anonymous callers have no list.
    const { send, list } = await connect(baseOf(id), { token })
    const { id: task } = await send('listed')
    expect(await list?.()).toContain(task)
  },
  'reads the extended card with a token, whatever security schemes the card names': async (_, { connect }, id) => {
    for (const agent of [id, `${id}-secured`]) {
      const { extendedSkills } = await connect(baseOf(agent), { token })
      expect(await extendedSkills()).toEqual(['echo', 'stream', 'ask', 'slow', 'backwards'])
    }
  },
}
const baseOf = (id: string): string => new URL(`/agents/${id}/`, host.url).href

// The example agent is behind a service binding; the same agent is an Express server of the SDK, too.
describe.concurrent('an agent', () => {
  const rows = combine(
    sdks.map(({ title }) => title),
    Object.keys(operations),
    ['bound', 'express'] as const,
  )
  it.each(rows)('called by %s %s: %s', async (title, operation, name) => {
    const sdk = sdks.find(each => each.title === title)
    if (!sdk) throw new Error(title)
    const id = `matrix-${name}${sdk.legacyCompat ? '-old' : ''}`
    await operations[operation]?.(await sdk.connect(baseOf(id)), sdk, id)
  })
})
