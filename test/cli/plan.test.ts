import { describe, expect, it } from 'vitest'
import type { Draft } from '../../cli/manifests/draft.ts'
import { findOrphans, planStep } from '../../cli/sync/plan.ts'

const draft = (manifest: object): Draft => ({ file: 'a.json', id: 'a', manifest, sourceMap: {} }) as unknown as Draft

describe('planStep', () => {
  it.each([
    ['creates an unregistered agent', undefined, 'create'],
    ['leaves an equal manifest in any order of members', { card: { url: 'u', name: 'A' } }, 'nothing'],
    ['leaves a bare card that was registered with curl', { name: 'A', url: 'u' }, 'nothing'],
    ['leaves a manifest with its id', { id: 'a', card: { name: 'A', url: 'u' } }, 'nothing'],
    ['updates a different card', { card: { name: 'B', url: 'u' } }, 'update'],
    ['updates a different hosting', { card: { name: 'A', url: 'u' }, hosts: ['*'] }, 'update'],
  ])('%s', (_, registered, todo) => {
    const current = registered && { manifest: registered, etag: '"1"' }
    expect(planStep(draft({ card: { name: 'A', url: 'u' } }), current as never)).toMatchObject({ todo })
  })
})

describe('findOrphans', () => {
  it('returns the agents that no file describes', () => {
    expect(findOrphans(['a', 'b', 'c'], ['b'])).toEqual(['a', 'c'])
  })
})
