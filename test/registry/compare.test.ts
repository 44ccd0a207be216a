import { describe, expect, it } from 'vitest'
import type { Compiled } from '../../src/card/compile/index.ts'
import type { LocatedManifest } from '../../src/card/manifest/index.ts'
import type { JsonObject } from '../../src/json/json.ts'
import type { StoredRevision } from '../../src/registry/compare.ts'
import { compareWithLatest } from '../../src/registry/compare.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { compileCard, registration } from '../support/cards/compile.ts'

const skill = (id: string) => ({ id, name: id, description: 'D', tags: ['t'] })
const card = { ...minimalCard, version: '1.0.0', skills: [skill('a'), skill('b')] }
const fewer = { ...card, skills: [skill('a')] }

/** Returns the revision of a document, as this host compiled it then. */
const revisionOf = (document: JsonObject, compiled: Compiled): StoredRevision => ({
  ...{ seq: 3, created: 0, by: 'manifest', author: 'admin' },
  manifest: JSON.stringify(document),
  card: JSON.stringify(compiled.card),
  tiers: compiled.extended.map(({ tier, card }) => ({ tier, card: JSON.stringify(card) })),
})
const recompileWith =
  (fetched?: JsonObject) =>
  ({ document }: LocatedManifest) => ({ compiled: compileCard(document, fetched) })

describe('compareWithLatest', () => {
  it('finds a version that does not announce what the manifest changes', () => {
    const latest = revisionOf({ card }, compileCard({ card }))
    const after = compileCard({ card: fewer })
    expect(compareWithLatest(after, latest, recompileWith())).toMatchObject({
      changes: { class: 'breaking' },
      finding: {
        use: '2.0.0',
        message: 'must be 2.0.0 or higher, because the change is breaking: skill `b` is removed',
      },
    })
  })

  it('takes what this host does differently since then for no change of the manifest', () => {
    const document = { card, route: 'gateway' }
    const moved = { ...registration, publicOrigin: 'https://new.example' }
    const latest = revisionOf(document, compileCard(document))
    const recompile = ({ document }: LocatedManifest) => ({ compiled: compileCard(document, undefined, moved) })
    const same = compareWithLatest(compileCard(document, undefined, moved), latest, recompile)
    const changes = Array(4).fill({ rule: 'interface-moved' })
    expect(same).toMatchObject({ changes: { class: 'breaking', changes } })
    expect(same).not.toHaveProperty('finding')
    const more = { ...document, card: { ...card, skills: [...card.skills, skill('c')] } }
    expect(compareWithLatest(compileCard(more, undefined, moved), latest, recompile)).toMatchObject({
      changes: { class: 'breaking' },
      finding: { use: '1.1.0', message: 'must be 1.1.0 or higher, because the change is additive: skill `c` is new' },
    })
  })

  it('takes what an upstream has changed for no change of the manifest, but reports it without one', () => {
    const document = { upstream: { card: 'https://a.example/card.json' } }
    const latest = revisionOf(document, compileCard(document, card))
    const internal = compileCard({ ...document, set: 'a' }, fewer)
    expect(compareWithLatest(internal, latest, recompileWith(fewer))).not.toHaveProperty('finding')
    expect(compareWithLatest(internal, latest)).toMatchObject({ finding: { use: '2.0.0' } })
  })

  it('compares with what was served where the earlier manifest can no longer be compiled', () => {
    const latest = revisionOf({ card }, compileCard({ card }))
    const finding = { use: '2.0.0' }
    expect(compareWithLatest(compileCard({ card: fewer }), latest, () => ({ errors: [] }))).toMatchObject({ finding })
    const invalid = { ...latest, manifest: '{"card":{},"gate":"none"}' }
    expect(compareWithLatest(compileCard({ card: fewer }), invalid, () => ({ errors: [] }))).toMatchObject({ finding })
  })

  it('compares nothing for a new agent, and none with a card that was never fetched', () => {
    const after = compileCard({ card })
    const { card: _, ...withoutCard } = revisionOf({ card }, after)
    expect(compareWithLatest(after, null)).toStrictEqual({})
    expect(compareWithLatest(after, withoutCard)).toStrictEqual({})
    expect(compareWithLatest(undefined, revisionOf({ card }, after))).toStrictEqual({})
  })
})
