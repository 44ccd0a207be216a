import { describe, expect, it } from 'vitest'
import type { Draft } from '../../cli/manifests/draft.ts'
import { describeOtherOwner, planStep } from '../../cli/sync/plan.ts'

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

describe('describeOtherOwner', () => {
  it.each([
    ['an unregistered agent', 'mine', undefined, undefined],
    ['an agent of the same set', 'mine', { card: {}, set: 'mine' }, undefined],
    ['an agent without a set', 'mine', { card: {} }, undefined],
    ['an agent without a set, for a file without one', undefined, { card: {} }, undefined],
    [
      'an agent of another set',
      'mine',
      { card: {}, set: 'theirs' },
      'it belongs to the set theirs, and this file is of the set mine: choose another id, or take it over with --force',
    ],
    [
      'an agent of a set, for a file without one',
      undefined,
      { card: {}, set: 'theirs' },
      'it belongs to the set theirs, and this file names no set: choose another id, or take it over with --force',
    ],
  ])('returns who owns %s', (_, set, registered, expected) => {
    const current = registered && { manifest: registered, etag: '"1"' }
    expect(describeOtherOwner(draft({ card: {}, ...(set && { set }) }), current)).toBe(expected)
  })
})
