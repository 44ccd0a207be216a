import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/json/json.ts'
import { compiled } from '../../support/cards/compile.ts'

const card = {
  name: 'A',
  description: 'B',
  url: 'https://a.example/a2a',
  securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
}

describe('whether an agent requires authentication', () => {
  it.each<[string, Json, boolean]>([
    ['no requirements', [], false],
    ['one requirement', [{ bearer: [] }], true],
    ['alternatives', [{ bearer: [] }, { other: [] }], true],
    ['an empty requirement, which allows anonymous access', [{}], false],
    ['an empty requirement first', [{}, { bearer: [] }], false],
    ['an empty requirement last', [{ bearer: [] }, {}], false],
  ])('with %s', (_, security, required) => {
    expect(compiled({ ...card, security }).profile.requiresAuthentication).toBe(required)
  })

  it.each<[string, Json, boolean]>([
    ['an empty requirement', [{ schemes: {} }], false],
    ['a scheme', [{ schemes: { bearer: { list: [] } } }], true],
  ])('with %s of A2A 1.0', (_, securityRequirements, required) => {
    expect(compiled({ ...card, securityRequirements }).profile.requiresAuthentication).toBe(required)
  })
})
