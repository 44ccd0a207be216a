import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { findAgentByName, type IsVisible } from '../../src/auth/require.ts'
import { serviceUnavailable } from '../../src/http/http-error.ts'
import { answerCalls } from '../support/answers.ts'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
import { call, message } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { executionContext } from '../support/kv.ts'

let called: CalledHost
beforeAll(async () => {
  called = await useSharedHost()
})
afterAll(() => called.close())
beforeEach(() => called.agent.respond(answerCalls))

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

/** Calls an agent by name, and returns the paths that were requested upstream. */
const callNamed = async (agentName: string, token?: string) => {
  called.agent.requests.length = 0
  await called.send('/a2a/v1', { token, body: call('SendMessage', message({ agentName })) })
  return called.agent.requests.map(({ path }) => path)
}

/** Returns the ids of the agents whose cards Shaman's and SuperX's endpoints return for a name. */
const findCardIds = async (name: string, token?: string) => {
  const shaman = await called.send(`/a2a/v1/agents/${name}`, { method: 'GET', token })
  const body = { jsonrpc: '2.0', id: 1, method: 'agents/get', params: { name } }
  const superx = await called.send('/rpc', { token, body })
  return [
    new URL((shaman.body as { url: string }).url).pathname.slice(1),
    (superx.body as { result: { agent: { id: string } } }).result.agent.id,
  ]
}

describe('a call by agentName', () => {
  it('goes to the agent with that id rather than to one with that name', async () => {
    await register('airport', 'Departures')
    await register('aaa-airport', 'Airport')
    expect(await callNamed('AIRPORT')).toEqual(['/airport'])
  })

  it('goes to the internal agent with that id, or that had the name first, for callers who may read it', async () => {
    for (const [id, name, agentName] of [
      ['payroll', 'Wages', 'payroll'],
      ['trains', 'Railway', 'RAILWAY'],
    ] as const) {
      await register(id, name, 'internal')
      await register(`aaa-${id}`, agentName)
      const [reader, other] = await Promise.all(
        [[id], ['others']].map(async agents => (await called.issue({ scopes: ['read'], agents })).token),
      )
      expect(await callNamed(agentName, reader)).toEqual([`/${id}`])
      expect(await findCardIds(agentName, reader)).toEqual([id, id])
      for (const token of [other, undefined]) {
        expect(await callNamed(agentName, token)).toEqual([`/aaa-${id}`])
        expect(await findCardIds(agentName, token)).toEqual([`aaa-${id}`, `aaa-${id}`])
      }
      expect(await callNamed(agentName, 'of-the-agent')).toEqual([`/aaa-${id}`])
    }
  })

  it('goes to a public agent that had the name before an internal one, for every caller', async () => {
    await register('zzz-metro', 'Metro')
    await register('metro-inside', 'Metro', 'internal')
    const { token } = await called.issue({ scopes: ['read'], agents: ['*'] })
    expect([await callNamed('Metro', token), await callNamed('Metro')]).toEqual([['/zzz-metro'], ['/zzz-metro']])
  })

  it('refreshes, by agents/refreshCard, the agent with that name that the caller may write', async () => {
    await register('inner-mill', 'Mill', 'internal')
    await register('outer-mill', 'Mill')
    const refreshMill = async (agents: string[]) => {
      const { token } = await called.issue({ scopes: ['write'], agents })
      const body = { jsonrpc: '2.0', id: 1, method: 'agents/refreshCard', params: { name: 'Mill' } }
      return ((await called.send('/rpc', { token, body })).body as { result: { id: string } }).result.id
    }
    expect([await refreshMill(['inner-mill']), await refreshMill(['outer-mill'])]).toEqual(['inner-mill', 'outer-mill'])
  })

  it('does not go to an older agent that took the name later', async () => {
    await register('aaa-ferries', 'Something else')
    await register('ferries', 'Ferry')
    await register('aaa-ferries', 'Ferry')
    expect(await callNamed('Ferry')).toEqual(['/ferries'])
  })

  it('goes to the next agent with the name after the first gives it up', async () => {
    await register('cabs', 'Taxi')
    await register('zzz-cabs', 'Taxi')
    await register('cabs', 'Cab')
    expect(await callNamed('Taxi')).toEqual(['/zzz-cabs'])
  })
})

describe('findAgentByName', () => {
  const namedAgents = async () => ({ public: 'shown', internal: ['first', 'second'] })
  const env = { REGISTRY: { getByName: () => ({ namedAgents }) } } as unknown as Env
  const find = (name: string, canSee: IsVisible) => findAgentByName(name, canSee, env, executionContext)

  it('passes over an agent that cannot be checked, and logs it', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const fail = async (id: string) => {
      if (id === 'first') throw new TypeError('a defect')
      return id === 'second'
    }
    expect(await find('one', fail)).toBe('second')
    expect(await find('one', id => fail(id).then(() => false))).toBe('shown')
    expect(logged.mock.calls.map(([line]) => JSON.parse(line))).toEqual(
      Array(2).fill({ event: 'unexpected', 'exception.stacktrace': expect.stringContaining('a defect') }),
    )
  })

  it('finds no agent while KV is unavailable, rather than another one of the name', async () => {
    const unavailable = serviceUnavailable('KV does not respond.')
    await expect(find('two', () => Promise.reject(unavailable))).rejects.toBe(unavailable)
  })
})

it('replaces the agentName of the caller by `upstream.agentName`', async () => {
  const card = agentCard(called.agent.origin, { name: 'Named Partner' })
  await called.register('partner-agent', { card, upstream: { agentName: 'DataProcessor' } })
  for (const [path, agentName] of [
    ['/agents/partner-agent/a2a', 'Accounts'],
    ['/a2a/v1', 'Named Partner'],
  ] as const) {
    await called.send(path, { body: call('SendMessage', message({ agentName })) })
    const [sent] = called.agent.requests.splice(0)
    expect(JSON.parse(sent?.body ?? '').params.agentName, path).toBe('DataProcessor')
  }
})
