import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/json/json.ts'
import { agentCard, shortCard } from '../../support/cards/cards.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'

describe('capabilities that are names', () => {
  it('are flags', () => {
    const rows: [Json, Record<string, boolean>][] = [
      ['streaming', { streaming: true, pushNotifications: false }],
      ['streaming, pushNotifications', { streaming: true, pushNotifications: true }],
      ['push notifications', { streaming: false, pushNotifications: true }],
      [['push-notifications', 'multi-turn'], { pushNotifications: true, multiTurn: true }],
      [['stateHistory'], { stateTransitionHistory: true, streaming: false }],
      [['multiModal', 'parallelToolCalls'], { multiModal: true, parallelToolCalls: true }],
      [[], { streaming: false, pushNotifications: false }],
    ]
    const converted = [{ pointer: '/capabilities', message: 'a list of names, read as flags' }]
    for (const [capabilities, flags] of rows) {
      const { card, report, documents, profile } = compileCard({ ...shortCard, capabilities })
      expect(card.capabilities).toMatchObject(flags)
      expect(documents['agent-card.json'].capabilities).toMatchObject(flags)
      expect([profile.streaming, report.converted]).toStrictEqual([flags.streaming ?? false, converted])
    }
  })

  it('are one error, about that field, where they are not capabilities', () => {
    const rows: [Json, string][] = [
      [['x402-payments'], 'x402-payments'],
      [['streaming', 'code-review'], 'code-review'],
      [`${'long '.repeat(20)}name`, 'long long long long long long long long '],
      [['extensions'], 'extensions'],
    ]
    for (const [capabilities, name] of rows) {
      const message = `names "${name}", which is not a capability of A2A: write flags, such as { "streaming": true, "pushNotifications": false }, and what the agent can do under \`skills\``
      const error = { pointer: '/capabilities', message }
      expect(getCompileErrors({ ...shortCard, capabilities })).toStrictEqual([error])
      expect(getCompileErrors(agentCard('https://a.example', { capabilities }))).toStrictEqual([error])
    }
  })

  it('are one error where they are neither names nor flags', () => {
    for (const capabilities of [5, [true]])
      expect(getCompileErrors({ ...shortCard, capabilities })).toStrictEqual([
        { pointer: '/capabilities', message: 'must be an object of flags, such as { "streaming": true }' },
      ])
  })
})
