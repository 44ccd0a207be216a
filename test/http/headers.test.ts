import { expect, it } from 'vitest'
import { isCardHost, userAgent } from '../../src/http/headers.ts'

it.each([
  [userAgent(), true],
  [userAgent('https://cards.example.com'), true],
  ['Mozilla/5.0 (compatible; CallingCard)', false],
  [undefined, false],
])('isCardHost recognizes the User-Agent of a host of this project: %j is one: %s', (value, expected) => {
  expect(isCardHost(new Headers(value === undefined ? {} : { 'User-Agent': value }))).toBe(expected)
})
