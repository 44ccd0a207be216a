import { expect, it } from 'vitest'
import { allowsAnonymous } from '../../../src/card/read/security-requirements.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { compileCard } from '../../support/cards/compile.ts'

const card = {
  name: 'A',
  description: 'B',
  url: 'https://a.example/a2a',
  securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
}

it('allowsAnonymous finds an empty requirement anywhere, and that there are none', () => {
  const allows = (fields: JsonObject) => allowsAnonymous(compileCard({ ...card, ...fields }).card.securityRequirements)
  const bearer = { bearer: [] }
  for (const security of [[], [{}], [{}, bearer], [bearer, {}]]) expect(allows({ security })).toBe(true)
  for (const security of [[bearer], [bearer, { other: [] }]]) expect(allows({ security })).toBe(false)
  expect(allows({ securityRequirements: [{ schemes: {} }] })).toBe(true)
  expect(allows({ securityRequirements: [{ schemes: { bearer: { list: [] } } }] })).toBe(false)
})
