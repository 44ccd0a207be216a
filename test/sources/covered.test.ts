import { describe, expect, it } from 'vitest'
import { findCardFiles, loadManifests } from '../../cli/manifests/index.ts'
import { compile } from '../../src/card/compile/index.ts'
import { findWeakerSecurity } from '../../src/card/diff/widening.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { readCovered } from '../../src/sources/covered.ts'

const origin = 'https://h.example'
const files = findCardFiles(['examples/cards']).filter(file => !file.endsWith('agents.json'))

/** Compiles a fetched card as it is served without any change. */
const compileFetched = (fetched: JsonObject) => {
  const upstream = { card: 'https://a.example.com/card.json' }
  const result = compile({ upstream }, { id: 'a', requestOrigin: origin, fetched })
  if ('errors' in result) throw new Error(JSON.stringify(result.errors))
  return result.compiled.direct
}

describe('what a signature covers of a card that this host serves', () => {
  it('is a card with the same interfaces, skills and schemes, which lets nobody else in', () => {
    expect(files.length).toBeGreaterThan(5)
    for (const { manifest, id } of files.flatMap(file => loadManifests([file], origin).drafts)) {
      const served = compile(manifest as JsonObject, { id, requestOrigin: origin })
      if ('errors' in served) continue
      for (const name of ['1.0', 'agent-card.json', '0.3'] as const) {
        const whole = served.compiled.documents[name]
        const [expected, covered] = [whole, readCovered(whole, 'proto').card].map(compileFetched)
        for (const field of ['supportedInterfaces', 'securitySchemes'] as const)
          expect([id, name, covered?.[field]]).toEqual([id, name, expected?.[field]])
        expect(covered?.skills.map(({ id }) => id)).toEqual(expected?.skills.map(({ id }) => id))
        expect(expected && covered && findWeakerSecurity(expected, covered)).toEqual([])
      }
    }
  })
})
