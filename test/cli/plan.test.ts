import { describe, expect, it } from 'vitest'
import type { Draft } from '../../cli/files/draft.ts'
import { plan, strays } from '../../cli/sync/plan.ts'

const draft = (manifest: object): Draft => ({ file: 'a.json', id: 'a', manifest, places: {} }) as unknown as Draft

describe('what has to be done about a file', () => {
  it.each([
    ['creates what is not registered', undefined, 'create'],
    ['leaves what says the same, in whatever order', { card: { url: 'u', name: 'A' } }, 'nothing'],
    ['leaves a bare card that somebody registered with curl', { name: 'A', url: 'u' }, 'nothing'],
    ['leaves a manifest that names its id', { id: 'a', card: { name: 'A', url: 'u' } }, 'nothing'],
    ['updates what says something else', { card: { name: 'B', url: 'u' } }, 'update'],
    ['updates what is hosted otherwise', { card: { name: 'A', url: 'u' }, hosts: ['*'] }, 'update'],
  ])('%s', (_, registered, todo) => {
    const there = registered && { manifest: registered, etag: '"1"' }
    expect(plan(draft({ card: { name: 'A', url: 'u' } }), there as never)).toMatchObject({ todo })
  })

  it('finds what no file describes', () => {
    expect(strays(['a', 'b', 'c'], ['b'])).toEqual(['a', 'c'])
  })
})
