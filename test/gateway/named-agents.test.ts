import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type CalledHost, startCalledHost } from '../support/called-host.ts'
import { answer, call, message, message0 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { reply } from '../support/upstream.ts'

let called: CalledHost
beforeAll(async () => {
  called = await startCalledHost()
})
afterAll(() => called.close())
beforeEach(() => called.agent.respond(reply(200, { 'Content-Type': 'application/json' }, JSON.stringify(answer))))

const register = (id: string, name: string, visibility = 'public') =>
  called.register(id, {
    visibility,
    card: agentCard(called.agent.origin, {
      name,
      supportedInterfaces: [
        { url: `${called.agent.origin}/${id}`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      ],
    }),
  })
const reached = async (agentName: string, token?: string) => {
  await called.send('/a2a/v1', { token, body: call('SendMessage', message({ agentName })) })
  return called.agent.requests.map(({ path }) => path)
}

/** Whom one call came to, whatever came before. */
const cameTo = async (agentName: string, token?: string) => {
  called.agent.requests.length = 0
  return reached(agentName, token)
}
/** Whose cards the doors of Shaman and SuperX have by a name, by their ids. */
const cardsNamed = async (name: string, token?: string) => {
  const shaman = await called.send(`/a2a/v1/agents/${name}`, { method: 'GET', token })
  const body = { jsonrpc: '2.0', id: 1, method: 'agents/get', params: { name } }
  const superx = await called.send('/rpc', { token, body })
  return [
    new URL((shaman.body as { url: string }).url).pathname.slice(1),
    (superx.body as { result: { agent: { id: string } } }).result.agent.id,
  ]
}

describe('a call by agentName', () => {
  it("is the agent's of that id, whoever else calls itself so", async () => {
    await register('airport', 'Departures')
    await register('aaa-airport', 'Airport')
    expect(await reached('AIRPORT')).toEqual(['/airport'])
  })

  it.each([
    ['of that id', 'payroll', 'Wages', 'payroll'],
    ['that has had the name longest', 'trains', 'Railway', 'RAILWAY'],
  ])(
    "is the internal agent's %s, which a public one cannot stand in for, to who may read it; to others it is not there",
    async (_, id, name, agentName) => {
      await register(id, name, 'internal')
      await register(`aaa-${id}`, agentName)
      const bearers = [{ agents: [id] }, { agents: ['others'] }].map(agents =>
        called.issue({ scopes: ['read'], ...agents }),
      )
      const [reader, other] = (await Promise.all(bearers)).map(({ token }) => token)
      expect([
        await cameTo(agentName, reader),
        await cameTo(agentName, other),
        await cameTo(agentName),
        await cameTo(agentName, 'of-the-agent'),
      ]).toEqual([[`/${id}`], [`/aaa-${id}`], [`/aaa-${id}`], [`/aaa-${id}`]])
      expect(await cardsNamed(agentName, reader)).toEqual([id, id])
      expect(await cardsNamed(agentName, other)).toEqual([`aaa-${id}`, `aaa-${id}`])
      expect(await cardsNamed(agentName)).toEqual([`aaa-${id}`, `aaa-${id}`])
    },
  )

  it('is the public agent’s that has had the name longer than an internal one, for everybody', async () => {
    await register('zzz-metro', 'Metro')
    await register('metro-inside', 'Metro', 'internal')
    const { token } = await called.issue({ scopes: ['read'], agents: ['*'] })
    expect([await cameTo('Metro', token), await cameTo('Metro')]).toEqual([['/zzz-metro'], ['/zzz-metro']])
  })

  it('is the first internal agent’s of that name that the caller may read', async () => {
    for (const id of ['barge-a', 'barge-b']) await register(id, 'Barge', 'internal')
    const { token } = await called.issue({ scopes: ['read'], agents: ['barge-b'] })
    expect([await cameTo('Barge', token), await cameTo('Barge')]).toEqual([['/barge-b'], []])
  })

  it('is refreshed by its name for who may write it, and not the public one of that name', async () => {
    await register('inner-mill', 'Mill', 'internal')
    await register('outer-mill', 'Mill')
    const refreshed = async (agents: string[]) => {
      const { token } = await called.issue({ scopes: ['write'], agents })
      const body = { jsonrpc: '2.0', id: 1, method: 'agents/refreshCard', params: { name: 'Mill' } }
      return ((await called.send('/rpc', { token, body })).body as { result: { id: string } }).result.id
    }
    expect([await refreshed(['inner-mill']), await refreshed(['outer-mill'])]).toEqual(['inner-mill', 'outer-mill'])
  })

  it('is not for an agent that was there before, and took the name later', async () => {
    await register('aaa-ferries', 'Something else')
    await register('ferries', 'Ferry')
    await register('aaa-ferries', 'Ferry')
    expect(await reached('Ferry')).toEqual(['/ferries'])
  })

  it('goes on to be for an agent that changes in anything but its name', async () => {
    await register('buses', 'Omnibus')
    await register('aaa-buses', 'Omnibus')
    await register('buses', 'Omnibus', 'internal')
    await register('buses', 'OMNIBUS')
    expect(await reached('Omnibus')).toEqual(['/buses'])
  })

  it('is for the next of that name, where the first gives it up', async () => {
    await register('cabs', 'Taxi')
    await register('zzz-cabs', 'Taxi')
    await register('cabs', 'Cab')
    expect(await reached('Taxi')).toEqual(['/zzz-cabs'])
  })
})

describe('an agent that its own host knows by a name', () => {
  const sent = () => called.agent.requests.map(({ path, body }) => [path, JSON.parse(body).params.agentName])
  beforeAll(async () => {
    await called.register('partner-agent', {
      route: 'gateway',
      card: {
        protocolVersion: '0.3.0',
        name: 'Partner',
        description: 'External data processing service',
        url: `${called.agent.origin}/partner`,
      },
      upstream: { agentName: 'DataProcessor' },
    })
  })

  it.each([
    ['/agents/partner-agent/a2a', {}],
    ['/agents/partner-agent/a2a', { agentName: 'Accounts' }],
    ['/a2a/v1', { agentName: 'Partner' }],
    ['/a2a/v1', { agentName: 'partner-agent' }],
  ])('is called by it, however it is called here: %s %j', async (path, params) => {
    const { status } = await called.send(path, { body: call('message/send', message0(params)) })
    expect([status, sent()]).toEqual([200, [['/partner', 'DataProcessor']]])
  })
})
