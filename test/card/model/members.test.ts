import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { known, member, membersOf, message, optional, plain, required } from '../../../src/card/model/members.ts'
import { record, validate } from '../../../src/card/model/validation.ts'

const text = v.string()
const Part = message({ text: required(text, 'What it says.'), note: plain(text), author: known('Who wrote it.') })
const Whole = message({
  parts: required(v.pipe(v.array(Part), v.nonEmpty())),
  main: optional(Part),
  byName: plain(record(Part)),
  either: optional(v.lazy(() => Part)),
  count: member('required', v.optional(v.number())),
  old: known('An older list.', { shape: v.array(Part) }),
})

describe('message', () => {
  it.each<[name: string, value: object, errors: string[]]>([
    ['required members', { parts: [{ text: 'x' }] }, []],
    [
      'a missing one, and one of a wrong type',
      { main: { text: 1 } },
      ['/parts is missing', '/main/text must be a string'],
    ],
    ['members of other versions, in any form', { parts: [{ text: 'x', author: 7 }], old: 7, further: 7 }, []],
    ['a list in place of an object', { parts: [[]] }, ['/parts/0 must be an object']],
  ])('validates %s', (_, value, errors) => {
    const result = validate(Whole, value)
    expect('errors' in result ? result.errors.map(({ pointer, message }) => `${pointer} ${message}`) : []).toEqual(
      errors,
    )
  })

  it('finds the members of objects in lists, maps, pipes and schemas that depend on the value', () => {
    const members = membersOf(Whole)
    expect([...members].map(([name, { presence, type }]) => [name, presence, type])).toEqual([
      ['parts', 'required', 'array'],
      ['main', 'optional', 'object'],
      ['byName', 'plain', 'record'],
      ['either', 'optional', 'object'],
      ['count', 'required', 'number'],
      ['old', undefined, 'array'],
    ])
    const part = membersOf(Part)
    expect([...part.values()].map(({ about, presence }) => [about, presence])).toEqual([
      ['What it says.', 'required'],
      [undefined, 'plain'],
      ['Who wrote it.', undefined],
    ])
    for (const name of ['parts', 'main', 'either', 'old'])
      expect([name, members.get(name)?.inner]).toEqual([name, part])
    // A map has one member for all names.
    expect(members.get('byName')?.inner?.get('*')?.inner).toBe(part)
    expect(membersOf(text).size).toBe(0)
  })
})
