import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toCanonical } from '../../../src/card/compile/canonical-card.ts'
import { detectDialect, dialects, writeHybrid } from '../../../src/card/dialects/index.ts'
import type { AgentCard } from '../../../src/card/model/agent-card.ts'
import { dialectNames } from '../../../src/card/model/constants.ts'
import { Provenance } from '../../../src/card/read/provenance.ts'
import { validateCard } from '../../../src/card/read/validate.ts'
import type { Json } from '../../../src/json/json.ts'
import { authoredCard } from '../../support/cards/generated.ts'
import { removeValues } from '../../support/cards/pointers.ts'

/** Generates valid canonical cards. Some authored cards are invalid: two skills may have the same id. */
const canonicalCard = authoredCard
  .map(generated => {
    const authored = JSON.parse(JSON.stringify(generated))
    const provenance = new Provenance()
    const canonical = toCanonical(authored, detectDialect(authored), provenance)
    return { canonical, errors: validateCard(canonical, authored, provenance) }
  })
  .filter(({ errors }) => errors.length === 0)
  .map(({ canonical }) => canonical as AgentCard)

describe('a canonical card', () => {
  it('survives writing and reading in each dialect, except for dropped fields', () => {
    fc.assert(
      fc.property(canonicalCard, card => {
        for (const name of dialectNames) {
          const { document, dropped } = dialects[name].write(card)
          const read = dialects[name].read(document, new Provenance())
          expect([name, read]).toStrictEqual([name, removeValues(card as Json, dropped)])
        }
      }),
    )
  })

  it('survives writing and reading as a hybrid', () => {
    fc.assert(
      fc.property(canonicalCard, card => {
        for (const path of ['agent-card.json', 'agent.json'] as const) {
          const hybrid = writeHybrid(card, path)
          expect(detectDialect(hybrid)).toBe('1.0')
          // Of a card with 1.0 and 0.x, agent.json has the version for readers of 1.0.
          const keepsVersion = card.protocolVersion === hybrid.protocolVersion
          expect(dialects['1.0'].read(hybrid, new Provenance())).toStrictEqual(
            keepsVersion ? card : removeValues(card as Json, ['/protocolVersion']),
          )
        }
      }),
    )
  })
})
