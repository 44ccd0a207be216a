import { expect, it } from 'vitest'
import { ANONYMOUS, type Authentication } from '../../../src/auth/principal.ts'
import { issueHandle, openHandle } from '../../../src/mcp/server/tasks.ts'
import { makeSigningKey } from '../../support/signing-key.ts'

const [first, second] = [makeSigningKey(), makeSigningKey()].map(key => JSON.stringify(key)) as [string, string]
const envOf = (secrets: object) => secrets as Env
const env = envOf({ SIGNING_KEY: first })
const task = { agent: 'weather', tool: 'rain', task: 't', context: 'c' }
const caller = (subject: string, more: object = {}): Authentication => ({
  ...{ authenticated: true, subject, scopes: ['read'], agents: ['*'], tiers: [], strippedHeaders: [] },
  ...more,
})
const alice = caller('token:alice')
const issueFor = (caller: Authentication, env: Env, issued?: number) => issueHandle(task, { caller, env }, issued)
/** Returns what is in a handle, or the message of the error. */
const open = (handle: string, caller: Authentication, env: Env) =>
  openHandle(handle, { caller, env }).catch(({ message }: Error) => message)
const unknown = 'Unknown or expired task. Call the tool again.'
const day = 86_400_000

it('opens a handle for its caller, for a day', async () => {
  const now = Date.now()
  const issue = (issued?: number) => issueFor(alice, env, issued)
  expect(await open(`${await issue(now)}`, alice, env)).toEqual({ ...task, issued: now })
  const handle = `${await issue()}`
  expect(handle).toMatch(/^[\w-]+$/)
  const expired = `${await issue(now - day)}`
  for (const [text, by] of [
    [expired, alice],
    [handle, caller('token:bob')],
    [handle, ANONYMOUS],
    [`${handle}A`, alice],
    [handle.slice(1), alice],
    ['', alice],
    ['x'.repeat(10_000), alice],
  ] as const)
    expect(await open(text, by, env), `${text.slice(0, 9)} ${JSON.stringify(by)}`).toBe(unknown)
  // A JWT that names no user is like no credentials.
  const anonymous = `${await issueFor(ANONYMOUS, env)}`
  expect(await open(anonymous, caller('jwt:x', { oidcSubject: 'none' }), env)).toMatchObject(task)
})

it('opens handles of the key before, and none without signing keys', async () => {
  const handle = `${await issueFor(alice, env)}`
  const rotated = envOf({ SIGNING_KEY: first, SIGNING_KEY_2: second })
  expect(await open(handle, alice, rotated)).toMatchObject(task)
  expect(await open(`${await issueFor(alice, rotated)}`, alice, rotated)).toMatchObject(task)
  expect(await open(handle, alice, envOf({ SIGNING_KEY: second }))).toBe(unknown)
  expect(await issueFor(alice, envOf({}))).toBeUndefined()
  expect(await open(handle, alice, envOf({}))).toBe(unknown)
})
