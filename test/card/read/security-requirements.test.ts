import { describe, expect, it } from 'vitest'
import { allowsAnonymous } from '../../../src/card/read/security-requirements.ts'
import type { Json } from '../../../src/json/json.ts'
import { compileCard } from '../../support/cards/compile.ts'

const card = {
  name: 'A',
  description: 'B',
  url: 'https://a.example/a2a',
  securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
}

describe('allowsAnonymous', () => {
  it.each<[string, Json, boolean]>([
    ['no requirements', [], false],
    ['one requirement', [{ bearer: [] }], true],
    ['alternatives', [{ bearer: [] }, { other: [] }], true],
    ['an empty requirement, which allows anonymous access', [{}], false],
    ['an empty requirement first', [{}, { bearer: [] }], false],
    ['an empty requirement last', [{ bearer: [] }, {}], false],
  ])('is computed for %s', (_, security, required) => {
    expect(allowsAnonymous(compileCard({ ...card, security }).card.securityRequirements)).toBe(!required)
  })

  it.each<[string, Json, boolean]>([
    ['an empty requirement', [{ schemes: {} }], false],
    ['a scheme', [{ schemes: { bearer: { list: [] } } }], true],
  ])('is computed for %s in the format of A2A 1.0', (_, securityRequirements, required) => {
    expect(allowsAnonymous(compileCard({ ...card, securityRequirements }).card.securityRequirements)).toBe(!required)
  })
})
