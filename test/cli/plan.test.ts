import { expect, it } from 'vitest'
import type { Draft } from '../../cli/manifests/draft.ts'
import { describeOtherOwner, planStep } from '../../cli/sync/push.ts'

const draft = (manifest: object): Draft => ({ file: 'a.json', id: 'a', manifest, sourceMap: {} }) as unknown as Draft
const registeredAs = (manifest: object | undefined) => (manifest && { manifest, etag: '"1"' }) as never

it('planStep compares a manifest with what is registered, in any order of members', () => {
  const card = { url: 'u', name: 'A' }
  const rows: [registered: object | undefined, todo: string][] = [
    [undefined, 'create'],
    [{ card }, 'nothing'],
    // A bare card that was registered with curl.
    [{ name: 'A', url: 'u' }, 'nothing'],
    [{ id: 'a', card: { name: 'A', url: 'u' } }, 'nothing'],
    [{ card: { name: 'B', url: 'u' } }, 'update'],
    [{ card, hosts: ['*'] }, 'update'],
  ]
  for (const [registered, todo] of rows)
    expect(planStep(draft({ card: { name: 'A', url: 'u' } }), registeredAs(registered))).toMatchObject({ todo })
})

it('describeOtherOwner names the set that an agent belongs to', () => {
  const owner = (set: string | undefined, registered?: object) =>
    describeOtherOwner(draft({ card: {}, ...(set && { set }) }), registeredAs(registered))
  const theirs = { card: {}, set: 'theirs' }
  const advice = 'choose another id, or take it over with --force'
  for (const registered of [undefined, { card: {}, set: 'mine' }, { card: {} }])
    expect(owner('mine', registered)).toBeUndefined()
  expect(owner(undefined, { card: {} })).toBeUndefined()
  expect(owner('mine', theirs)).toBe(`it belongs to the set theirs, and this file is of the set mine: ${advice}`)
  expect(owner(undefined, theirs)).toBe(`it belongs to the set theirs, and this file names no set: ${advice}`)
})
