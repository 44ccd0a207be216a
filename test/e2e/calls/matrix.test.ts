import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OwnHost, startHost, token } from '../../support/host.ts'
import { changed, type ExpressAgent, register, startExpressAgent } from './agents.ts'
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
  certificate: { mtlsSecurityScheme: { description: 'A certificate of ours' } },
}

let host: OwnHost
let express: ExpressAgent
beforeAll(async () => {
  express = await startExpressAgent()
  host = await startHost({ ALLOWED_ORIGINS: express.origin }, { examples: ['echo-agent'] })
  for (const [name, where] of [
    ['bound', {}],
    ['express', { origin: express.origin }],
  ] as const)
    for (const [suffix, versions] of [
      ['', ['1.0', '0.3']],
      ['-old', ['0.3']],
    ] as const)
      await register(host, {
        [name + suffix]: changed({ ...where, versions }),
        [`${name}${suffix}-secured`]: changed({ ...where, versions, card: { securitySchemes } }),
      })
})
afterAll(async () => {
  await host.close()
  await express.close()
})

const gathered = async (events: AsyncGenerator<string>): Promise<string[]> => {
  const all: string[] = []
  for await (const event of events) all.push(event)
  return all
}

describe.each([
  ['the example agent, by its service binding', 'bound'],
  ['an Express server of the SDK', 'express'],
])('%s', (_, name) => {
  describe.concurrent.each(sdks)('called by $title', ({ version, binding, compatible, connect }) => {
    const id = compatible ? `${name}-old` : name
    const session = (as?: string, agent = id) =>
      connect(new URL(`/agents/${agent}/`, host.url).href, as === undefined ? {} : { token: as })

    it('finds this host in its card, and nothing of where the agent is', async () => {
      const { card } = await session()
      const own = (each: string) => new RegExp(`^${each} 0?${version.replace('.', '\\.')}`)
      expect(card.name).toBe('Echo Agent')
      expect(card.skills).toEqual(['echo', 'stream', 'ask', 'slow'])
      expect(card.endpoints.some(endpoint => own(binding.replace('+', '\\+')).test(endpoint))).toBe(true)
      for (const endpoint of card.endpoints)
        expect(endpoint).toMatch(new RegExp(` ${host.url.origin.replaceAll('.', '\\.')}/agents/${id}/a2a$`))
    })

    it('sends a message, and gets the task that it made', async () => {
      const { send, get } = await session()
      const { id: task, ...sent } = await send('hello there')
      expect(sent).toEqual({ state: 'completed', said: 'hello there', history: 1 })
      expect(await get(task)).toEqual({ id: task, ...sent })
      expect(await get(task, 0)).toEqual({ id: task, ...sent, history: 0 })
    })

    it('is asked back, and answers', async () => {
      const { send } = await session()
      const { id: task, state } = await send('ask')
      expect(state).toBe('input-required')
      expect(await send('bread', { task })).toMatchObject({ id: task, state: 'completed', said: 'bread' })
    })

    it('streams', async () => {
      const { stream } = await session()
      expect(await gathered(stream('stream one two three'))).toEqual([
        'submitted',
        'working',
        'one',
        ' two',
        ' three',
        'completed',
      ])
    })

    it('cancels a task, which those that came back to it hear', async () => {
      const { send, resubscribe, cancel } = await session()
      const { id: task } = await send('slow', { atOnce: true })
      const events = resubscribe(task)
      const states = [(await events.next()).value]
      expect(await cancel(task)).toMatchObject({ id: task, state: 'canceled' })
      for await (const event of events) states.push(event)
      expect(states).toEqual(['working', 'canceled'])
    })

    it.runIf(version === '1.0')('lists its tasks', async () => {
      const { send, list } = await session()
      const { id: task } = await send('listed')
      expect(await list?.()).toContain(task)
    })

    it.each([
      ['a card that names no scheme', id],
      ['a card that names every kind of scheme', `${id}-secured`],
    ])('reads the extended card with a token: of %s', async (_, agent) => {
      const { extendedSkills } = await session(token, agent)
      expect(await extendedSkills()).toEqual(['echo', 'stream', 'ask', 'slow', 'backwards'])
    })
  })
})
