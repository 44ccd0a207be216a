import { expect, it } from 'vitest'
import { MAX_SEALED_LENGTH, openPageToken, sealPageToken } from '../../../src/gateway/tasks/page-tokens.ts'
import { MAX_PAGE_TOKEN_LENGTH } from '../../../src/limits.ts'

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

it('rejects a token of another caller or agent, and one that was changed or is none', async () => {
  const sealed = await sealPageToken(key, 'token:a', position)
  const otherKey = crypto.getRandomValues(new Uint8Array(32))
  expect([
    await openPageToken(key, 'token:b', sealed),
    await openPageToken(otherKey, 'token:a', sealed),
    await openPageToken(key, 'token:a', `${sealed.slice(2)}AA`),
    await openPageToken(key, 'token:a', 'dGFzaw'),
    await openPageToken(key, 'token:a', '%'),
  ]).toEqual(Array(5).fill(undefined))
})
