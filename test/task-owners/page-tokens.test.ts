import { expect, it } from 'vitest'
import { MAX_PAGE_TOKEN_LENGTH } from '../../src/limits.ts'
import { MAX_SEALED_LENGTH, openPageToken, sealPageToken } from '../../src/task-owners/page-tokens.ts'

const key = crypto.getRandomValues(new Uint8Array(32))
const position = { token: 'task-of-another-caller', skip: 1, seen: 3 }

it('opens a token for the caller that it was sealed for', async () => {
  const sealed = await sealPageToken(key, 'token:a', position)
  expect(sealed).toMatch(/^[\w-]+$/)
  expect(await openPageToken(key, 'token:a', sealed)).toEqual(position)
})

it('seals the longest token that an agent may have, whatever its characters', async () => {
  const longest = { ...position, token: '\ud800'.repeat(MAX_PAGE_TOKEN_LENGTH) }
  const sealed = await sealPageToken(key, 'token:a', longest)
  expect(await openPageToken(key, 'token:a', sealed)).toEqual(longest)
  expect(sealed.length).toBeLessThan(MAX_SEALED_LENGTH)
  expect(await openPageToken(key, 'token:a', sealed.padEnd(MAX_SEALED_LENGTH + 1, 'A'))).toBeUndefined()
})

it("reveals nothing of the agent's token, and is different each time", async () => {
  const tokens = await Promise.all([1, 2].map(() => sealPageToken(key, 'token:a', position)))
  expect(tokens[0]).not.toBe(tokens[1])
  expect(tokens.map(each => Buffer.from(each, 'base64url').includes('task'))).toEqual([false, false])
})

it.each<[string, (sealed: string) => [Uint8Array<ArrayBuffer>, string, string]]>([
  ['of another caller', sealed => [key, 'token:b', sealed]],
  ['of another agent', sealed => [crypto.getRandomValues(new Uint8Array(32)), 'token:a', sealed]],
  ['that was changed', sealed => [key, 'token:a', `${sealed.slice(2)}AA`]],
  ['of the agent itself', () => [key, 'token:a', 'dGFzaw']],
  ['that is no base64', () => [key, 'token:a', '%']],
])('rejects a token %s', async (_, change) => {
  expect(await openPageToken(...change(await sealPageToken(key, 'token:a', position)))).toBeUndefined()
})
