import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { Json } from '../../src/json/json.ts'
import { answerCalls } from './answers.ts'
import { type CalledHost, type Received, useSharedHost } from './called-host.ts'
import { agentResponse, call, type ExpectedError, expectJsonRpcError } from './calls.ts'
import { agentCard } from './cards/cards.ts'

/** What a file of calls that the gate refuses works with. */
type RefusedCalls = {
  called: () => CalledHost
  path: string
  send: (body: Json | Uint8Array, headers?: Record<string, string>, target?: string) => Promise<Received>
  /** Returns the bodies that reached the agent in this test. */
  upstreamBodies: () => string[]
  /** Expects a JSON-RPC error, and no request to the agent. */
  expectRejection: (response: Received, expected: ExpectedError) => void
}

/**
 * Registers an agent with the shared host for the tests of one file, which send it calls that it never receives. After each test,
 * the host must serve a valid call.
 */
export const useRefusedCalls = (id: string): RefusedCalls => {
  let called: CalledHost
  const path = `/agents/${id}/a2a`
  const send: RefusedCalls['send'] = (body, headers = {}, target = path) => called.send(target, { body, headers })
  const upstreamBodies = () => called.agent.requests.map(({ body }) => body)
  const respond = () => called.agent.respond(answerCalls)

  beforeAll(async () => {
    called = await useSharedHost()
    await called.register(id, { card: agentCard(called.agent.origin), route: 'gateway' })
  })
  afterAll(() => called.close())
  beforeEach(respond)
  afterEach(async () => {
    respond()
    expect((await send(call())).body).toEqual(agentResponse)
  })
  return {
    called: () => called,
    path,
    send,
    upstreamBodies,
    expectRejection: (response, expected) => {
      expectJsonRpcError(response, expected)
      expect(upstreamBodies()).toEqual([])
    },
  }
}
