import { beforeEach, expect, it, vi } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { message } from '../support/calls.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { type NodeHost, startNodeHost } from '../support/node-host.ts'
import { token } from '../support/runtime.ts'
import { makeSigningKey } from '../support/signing-key.ts'

const result = { message: { messageId: 'r', role: 'ROLE_AGENT', parts: [{ text: 'Yes.' }] } }
const card = { ...minimalCard, url: 'https://agent.example.com/a2a' }

let host: NodeHost
let send: (method: string, path: string, body?: Json) => Promise<{ status: number; body: JsonObject }>
beforeEach(async () => {
  for (const level of ['info', 'warn', 'error'] as const) vi.spyOn(console, level).mockReturnValue()
  host = await startNodeHost({ answer: { jsonrpc: '2.0', id: 1, result } })
  send = async (method, path, body) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'A2A-Version': '1.0' }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const response = await host.fetch(path, init)
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
  }
  await host.put('full-a', { card, route: 'gateway', upstream: { service: 'AGENT' } })
  await host.put('full-a', { card: { ...card, version: '2.0.0' }, route: 'gateway', upstream: { service: 'AGENT' } })
  for (let index = 0; index < 5; index++)
    await host.put(`full-b-${index}`, { ...card, description: 'A long text. '.repeat(300) })
  // As the platform has it at 10 GB: no page can be added.
  const { sql } = host.storage
  const { page_count: pages } = sql.exec<{ page_count: number }>('PRAGMA page_count').one()
  sql.exec(`PRAGMA max_page_count = ${pages}`)
})

/** Registers agents until there is no room for another one, and returns the response to that. */
const fill = async (): Promise<{ id: string; status: number; body: JsonObject }> => {
  for (let index = 0; index < 20; index++) {
    const id = `filler-${index}`
    const response = await send('PUT', `/agents/${id}`, card)
    if (response.status !== 201) return { id, ...response }
  }
  throw new Error('There is room for 20 agents')
}

it('refuses a write to a full Registry with 507, and has changed nothing', async () => {
  const { id, status, body } = await fill()
  expect([status, body.code, body.detail]).toEqual([
    507,
    'storage-full',
    'Nothing was written: the storage of this host is full. Cards and calls still work. Remove agents to make room.',
  ])
  expect(await send('GET', `/agents/${id}/revisions`)).toMatchObject({ status: 404 })
  const before = await send('GET', '/agents/full-a/manifest')
  const large = { card: { ...card, description: 'x'.repeat(15_000) }, route: 'gateway', upstream: { service: 'AGENT' } }
  expect(await send('PUT', '/agents/full-a', large)).toMatchObject({ status: 507 })
  expect(await send('GET', '/agents/full-a/manifest')).toEqual(before)
})

it('serves cards and calls from a full Registry, reads the history, and removes agents, which makes room', async () => {
  await fill()
  // No page has room for another row of these, when the object starts with a key that is to sign all agents.
  for (const insert of [
    "INSERT INTO outbox (key, version) VALUES ('refresh:' || ?, 1)",
    "INSERT INTO revisions (id, seq, created, made_by, author) VALUES (?, 1, 0, 'removal', 'admin')",
  ])
    expect(() => {
      for (let index = 0; ; index++) host.storage.sql.exec(insert, `gone-${index}`)
    }).toThrow('full')
  await host.deploy({ SIGNING_KEY: JSON.stringify(makeSigningKey()) })
  const paths = ['/agents/full-a', '/agents', '/agents?q=agent', '/agents/full-a/manifest', '/agents/full-a/revisions']
  for (const path of [...paths, '/agents/full-a/revisions/1', '/agents/full-a/revisions/2/diff', '/audit', '/health'])
    expect([path, (await send('GET', path)).status]).toEqual([path, 200])
  const call = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: message() }
  expect(await send('POST', '/agents/full-a/a2a', call)).toMatchObject({ status: 200, body: { result } })
  await host.ringAlarm()
  expect(await send('GET', '/agents/full-a')).toMatchObject({ status: 200, body: { version: '2.0.0' } })
  for (let index = 0; index < 5; index++)
    expect(await send('DELETE', `/agents/full-b-${index}`)).toMatchObject({ status: 204 })
  expect(await send('GET', '/agents/full-b-1')).toMatchObject({ status: 404 })
  expect(await send('PUT', '/agents/full-new', card)).toMatchObject({ status: 201 })
})

it('reports a write as published even if the outbox cannot be written after its commit', async () => {
  const { sql } = host.storage
  sql.exec('PRAGMA max_page_count = 100000')
  const exec = sql.exec.bind(sql)
  vi.spyOn(sql, 'exec').mockImplementation((query: string, ...values) => {
    if (/^(?:UPDATE|DELETE FROM) outbox/.test(query)) throw new Error('database or disk is full')
    return exec(query, ...values) as never
  })
  expect(await send('PUT', '/agents/full-new', card)).toMatchObject({ status: 201, body: { published: true } })
  expect(await send('PUT', '/agents/full-new', card)).toMatchObject({ status: 200, body: { published: true } })
})
