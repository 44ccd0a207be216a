import * as v from 'valibot'
import { expect, it } from 'vitest'
import { validate } from '../../../src/card/model/validation.ts'

it('a value of another type has an error with its place and the type that it must have', () => {
  const schema = v.object({ list: v.array(v.string()), flag: v.boolean(), object: v.object({}), text: v.string() })
  expect(validate(schema, { list: [1], flag: 1, object: 1 })).toEqual({
    errors: [
      { pointer: '/list/0', message: 'must be a string' },
      { pointer: '/flag', message: 'must be true or false' },
      { pointer: '/object', message: 'must be an object' },
      { pointer: '/text', message: 'is missing' },
    ],
  })
  expect(validate(schema, { list: 1, flag: true, object: {}, text: '' })).toEqual({
    errors: [{ pointer: '/list', message: 'must be a list' }],
  })
})
