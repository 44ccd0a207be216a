import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OwnHost, startHost, token } from '../../support/host.ts'
import { type ExpressAgent, echoManifestWith, register, startExpressAgent } from './agents.ts'
import { sdks } from './sdks.ts'

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

let host: OwnHost
let express: ExpressAgent
beforeAll(async () => {
  express = await startExpressAgent()
  host = await startHost({ ALLOWED_ORIGINS: express.origin }, { examples: ['echo-agent'] })
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
        [name + suffix]: echoManifestWith({ ...location, versions, manifest }),
        [`${name}${suffix}-secured`]: echoManifestWith({ ...location, versions, manifest, card: { securitySchemes } }),
      })
})
afterAll(async () => {
  await host.close()
  await express.close()
})

describe.each([
  ['the example agent behind a service binding', 'bound'],
  ['an Express server of the SDK', 'express'],
])('%s', (_, name) => {
  describe.concurrent.each(sdks)('called by $title', ({ version, binding, legacyCompat, connect }) => {
    const id = legacyCompat ? `${name}-old` : name
    const connectTo = (token?: string, agent = id) =>
      connect(new URL(`/agents/${agent}/`, host.url).href, token === undefined ? {} : { token })

    it('finds only endpoints of this host in the card', async () => {
      const { card } = await connectTo()
      const patternOf = (transport: string) => new RegExp(`^${transport} 0?${version.replace('.', '\\.')}`)
      expect(card.name).toBe('Echo Agent')
      expect(card.skills).toEqual(['echo', 'stream', 'ask', 'slow'])
      expect(card.endpoints.some(endpoint => patternOf(binding.replace('+', '\\+')).test(endpoint))).toBe(true)
      if (legacyCompat) expect(card.endpoints.filter(endpoint => !endpoint.includes(' 0.3'))).toEqual([])
      for (const endpoint of card.endpoints)
        expect(endpoint).toMatch(new RegExp(` ${host.url.origin.replaceAll('.', '\\.')}/agents/${id}/a2a$`))
    })

    it('sends a message and gets the task', async () => {
      const { send, get } = await connectTo()
      const { id: task, ...sent } = await send('hello there')
      expect(sent).toEqual({ state: 'completed', text: 'hello there', historyLength: 1 })
      expect(await get(task)).toEqual({ id: task, ...sent })
      expect(await get(task, 0)).toEqual({ id: task, ...sent, historyLength: 0 })
    })

    it('continues a task that requires input', async () => {
      const { send } = await connectTo()
      const { id: task, state } = await send('ask')
      expect(state).toBe('input-required')
      expect(await send('bread', { task })).toMatchObject({ id: task, state: 'completed', text: 'bread' })
    })

    it('streams a task', async () => {
      const { stream } = await connectTo()
      expect(await Array.fromAsync(stream('stream one two three'))).toEqual([
        'submitted',
        'working',
        'one',
        ' two',
        ' three',
        'completed',
      ])
    })

    it('cancels a task and receives that from its resubscribed stream', async () => {
      const { send, resubscribe, cancel } = await connectTo()
      const { id: task } = await send('slow', { returnImmediately: true })
      const events = resubscribe(task)
      const states = [(await events.next()).value]
      expect(await cancel(task)).toMatchObject({ id: task, state: 'canceled' })
      for await (const event of events) states.push(event)
      expect(states).toEqual(['working', 'canceled'])
    })

    it.runIf(version === '1.0')('lists its tasks', async () => {
      // Behind a service binding, anonymous callers have no list.
      const { send, list } = await connectTo(token)
      const { id: task } = await send('listed')
      expect(await list?.()).toContain(task)
    })

    it.each([
      ['whose card names no security scheme', id],
      ['whose card names every kind of security scheme', `${id}-secured`],
    ])('reads the extended card, with a token, of an agent %s', async (_, agent) => {
      const { extendedSkills } = await connectTo(token, agent)
      expect(await extendedSkills()).toEqual(['echo', 'stream', 'ask', 'slow', 'backwards'])
    })
  })
})
