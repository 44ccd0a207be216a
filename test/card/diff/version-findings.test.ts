import { describe, expect, it } from 'vitest'
import { findVersionFinding } from '../../../src/card/diff/client-changes.ts'
import type { ChangeClass } from '../../../src/card/model/registration-report.ts'

describe('findVersionFinding', () => {
  it('names the lowest version that the class of the change allows', () => {
    const rows: [changeClass: ChangeClass, before: string, after: string, use: string | undefined][] = [
      ['breaking', '1.2.3', '2.0.0', undefined],
      ['breaking', '1.2.3', '1.3.0', '2.0.0'],
      ['breaking', '0.4.0', '0.4.1', '0.5.0'],
      ['breaking', '0.4.0', '0.5.0', undefined],
      ['additive', '0.4.0', '0.4.0', '0.4.1'],
      ['additive', '0.4.0', '0.4.1', undefined],
      ['breaking', '2.0.0-beta.1', '2.0.0-beta.2', undefined],
      ['breaking', '2.0.0-beta.1', '2.0.0-beta.1', '2.0.0'],
      ['breaking', '2.0.0-beta.1', '1.9.0', '2.0.0'],
      ['breaking', '1.0.0+build.1', '1.0.0+build.2', '2.0.0'],
      ['breaking', '1.9', '2.0', undefined],
      ['breaking', 'v1.0.0', 'v2.0.0-beta.1', undefined],
      ['breaking', '1.0.0', 'next', '2.0.0'],
      ['breaking', '9.0.0', `${'9'.repeat(30)}.0.0`, '10.0.0'],
      ['additive', '1.2.3', '1.3.0', undefined],
      ['additive', '1.9.0', '1.10.0', undefined],
      ['additive', '1.2.3', '1.2.4', '1.3.0'],
      ['additive', '2.1.0', '1.9.0', '2.2.0'],
      ['cosmetic', '1.2.3', '1.2.3', undefined],
    ]
    for (const [changeClass, before, after, use] of rows) {
      const message = `must be ${use} or higher, because the change is ${changeClass}`
      const found = findVersionFinding(changeClass, before, after)
      expect([before, after, found]).toEqual([before, after, use === undefined ? undefined : { use, message }])
    }
  })

  it('accepts any other version where the one before is no number', () => {
    expect(findVersionFinding('breaking', 'spring', 'summer')).toBeUndefined()
    expect(findVersionFinding('breaking', 'spring', 'spring')).toStrictEqual({
      message: 'must differ from the one before, because the change is breaking',
    })
  })
})
