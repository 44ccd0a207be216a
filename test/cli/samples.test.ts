import { describe, expect, it } from 'vitest'
import { loadManifests } from '../../cli/manifests/load.ts'

const { drafts, invalid } = loadManifests(['examples/cards'], 'https://cards.example.com')
/** Only the host can fetch the other cards. */
const written = drafts.filter(draft => draft.compiled !== undefined)

describe('examples/cards/', () => {
  it('has no invalid file', () => {
    expect(invalid).toEqual([])
    expect(drafts.length).toBeGreaterThanOrEqual(6)
  })

  it('has no lint errors', () => {
    const issues = written.flatMap(({ compiled }) => compiled?.report.issues ?? [])
    expect(issues.filter(({ severity }) => severity === 'error')).toEqual([])
  })

  it('has a card in every dialect', () => {
    const dialects = new Set(written.map(draft => draft.compiled?.report.dialect))
    expect([...dialects].sort()).toEqual(['0.3', '1.0', 'gopherhole', 'shaman', 'superx', 'telex'])
  })
})
