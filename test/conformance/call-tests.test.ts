import { describe, expect, it } from 'vitest'
import { harmlessTests, type TestContext } from '../../src/conformance/call-tests.ts'
import type { Outcome } from '../../src/conformance/outcome.ts'
import { profileWith } from '../support/calls.ts'

/** Returns the result of a test for an outcome. */
const evaluate = (id: string, outcome: Outcome, context: Partial<TestContext>): string | undefined =>
  harmlessTests
    .find(test => test.id === id)
    ?.evaluate(outcome, {
      profile: profileWith(),
      protocol: { binding: 'JSONRPC', version: '1.0' },
      through: 'gate',
      ...context,
    }).result

describe('a plain 404', () => {
  it('is the error for an unknown task only in 0.3 over HTTP+JSON, which has no codes there', () => {
    const notFound: Outcome = { kind: 'error', status: 404, reason: undefined, summary: '' }
    for (const [binding, version, result] of [
      ['HTTP+JSON', '0.3', 'passed'],
      ['HTTP+JSON', '1.0', 'failed'],
      ['JSONRPC', '0.3', 'failed'],
    ] as const)
      expect(evaluate('unknown-task', notFound, { protocol: { binding, version } }), binding + version).toBe(result)
  })
})

describe('a message for which the agent can produce no answer', () => {
  it('may pass the gate only where an extended card may accept it', () => {
    const passedGate: Outcome = { kind: 'passed-gate', summary: '' }
    for (const [profile, result] of [
      [{ tiers: [] }, 'failed'],
      [{ tiers: [], agentServesExtendedCard: true }, 'skipped'],
      [{ tiers: ['extended'] }, 'skipped'],
    ] as const)
      expect(
        evaluate('output-modes', passedGate, { profile: profileWith({ ...profile, tiers: [...profile.tiers] }) }),
      ).toBe(result)
  })
})
