import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { says } from '../a2a/forwarding.ts'
import { agentCard, answer, type CalledHost, call, message, message0, startCalledHost } from './calling.ts'

let called: CalledHost
beforeAll(async () => {
  called = await startCalledHost()
})
afterAll(() => called.close())
beforeEach(() => called.agent.answer(says(200, { 'Content-Type': 'application/json' }, JSON.stringify(answer))))

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
  return called.agent.asked.map(({ path }) => path)
}

describe('a call by agentName', () => {
  it("is the agent's of that id, whoever else calls itself so", async () => {
    await register('airport', 'Departures')
    await register('aaa-airport', 'Airport')
    expect(await reached('AIRPORT')).toEqual(['/airport'])
  })

  it("is the internal agent's of that id, which a public one cannot stand in for", async () => {
    await register('payroll', 'Wages', 'internal')
    await register('aaa-payroll', 'payroll')
    const { token } = await called.issue({ scopes: ['read'], agents: ['payroll'] })
    expect(await reached('payroll', token)).toEqual(['/payroll'])
    called.agent.asked.length = 0
    expect(await reached('payroll')).toEqual([])
  })

  it('is for who has had the name longest, public or internal', async () => {
    await register('trains', 'Railway', 'internal')
    await register('aaa-trains', 'railWAY')
    const { token } = await called.issue({ scopes: ['read'], agents: ['trains'] })
    expect(await reached('Railway', token)).toEqual(['/trains'])
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
  const sent = () => called.agent.asked.map(({ path, body }) => [path, JSON.parse(body).params.agentName])
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
