import { expect, it } from 'vitest'
import { isCardHost, userAgent } from '../../src/http/headers.ts'

it.each([
  [userAgent(), true],
  [userAgent('https://cards.example.com'), true],
  ['Mozilla/5.0 (compatible; CallingCard)', false],
  [undefined, false],
])('%j is a card host that asks for a card of its own: %s', (agent, expected) => {
  expect(isCardHost(new Headers(agent === undefined ? {} : { 'User-Agent': agent }))).toBe(expected)
})
