import { decodeProtectedHeader } from 'jose'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { packDocuments, unpackDocuments } from '../../../src/registry/documents.ts'
import { groupByEtag } from '../../../src/registry/kv-format.ts'
import { selectAllDocuments, storeDocuments } from '../../../src/registry/tables/document-table.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { type NodeHost, startNodeHost } from '../../support/node-host.ts'
import { receiptOf } from '../../support/registrations.ts'
import { token } from '../../support/runtime.ts'
import { makeSigningKey } from '../../support/signing-key.ts'

const start = Date.parse('2026-11-26T12:00:00Z')
const [first, second] = [makeSigningKey(), makeSigningKey()]
const secretOf = (key: object, nbf?: number) =>
  JSON.stringify({ ...key, ...(nbf !== undefined && { nbf: nbf / 1000 }) })

let host: NodeHost
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: start })
  host = await startNodeHost({
    vars: { PUBLIC_URL: 'https://cards.example.com', SIGNING_KEY: secretOf(first, start - 86_400_000) },
  })
  await host.put('weather', minimalCard)
})

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** Advances the time, and runs the alarm if it is due. */
const advance = async (ms: number): Promise<void> => {
  vi.setSystemTime(Date.now() + ms)
  await host.ringAlarm()
}

/** Returns which keys have signed the card that clients get, each once. */
const signersOf = async (id = 'weather'): Promise<string[]> => {
  const card = (await (await host.fetch(`/agents/${id}`)).json()) as { signatures?: { protected: string }[] }
  return [...new Set((card.signatures ?? []).map(signature => decodeProtectedHeader(signature).kid ?? ''))]
}
type Keys = { keys: { kid: string; role: string; retirable?: string }[]; unsigned: number }
const getKeys = async (): Promise<Keys> => {
  const response = await host.fetch('/keys', { headers: { Authorization: `Bearer ${token}` } })
  return (await response.json()) as Keys
}
const roles = async () => Object.fromEntries((await getKeys()).keys.map(({ role, kid }) => [role, kid]))

describe('a Registry whose keys change', () => {
  it('signs all cards again when the next key begins to sign, whatever was written in the meantime', async () => {
    const { current: old = '' } = await roles()
    await host.deploy({ SIGNING_KEY_2: secretOf(second, start + 600_000) })
    const { next: coming = '' } = await roles()
    await advance(2000)
    // A write sets the alarm to an earlier time.
    await host.put('news', minimalCard)
    await advance(2000)
    await advance(590_000)
    expect([await signersOf(), await signersOf('news')]).toEqual([[old], [old]])
    await advance(10_000)
    await advance(31_000)
    for (const id of ['weather', 'news']) expect(await signersOf(id)).toEqual([coming, old])
    expect(await roles()).toEqual({ current: coming, previous: old })
  })

  it('signs what was registered with the keys of just before a minute later', async () => {
    await host.deploy({ SIGNING_KEY_2: secretOf(second, start + 600_000) })
    await advance(600_000)
    // A location whose clock is slow.
    vi.setSystemTime(start + 599_000)
    await host.put('late', minimalCard)
    vi.setSystemTime(start + 600_000)
    expect((await getKeys()).unsigned).toBe(1)
    await advance(60_000)
    expect((await getKeys()).unsigned).toBe(0)
    await advance(31_000)
    expect(await signersOf('late')).toHaveLength(2)
  })

  it('has nothing to sign of an agent whose remote card was never fetched', async () => {
    await host.put('remote', { upstream: { card: 'https://agent.test/card', service: 'AGENT' } })
    expect((await getKeys()).unsigned).toBe(0)
  })

  it('removes a signature by a key that is gone, and adds none to a card without any, if a manifest is not valid now', async () => {
    await host.put('stripped', { card: minimalCard, signatures: 'strip' })
    const { sql } = host.storage
    const read = () =>
      ['weather', 'stripped'].flatMap(id =>
        selectAllDocuments(sql, id).flatMap(card =>
          groupByEtag(unpackDocuments(card)).map(({ bytes }) => decode(bytes)),
        ),
      )
    const before = read()
    sql.exec("UPDATE revisions SET manifest = json_object('card', json(manifest), 'narrowSignature', json('true'))")
    const added = { protected: 'eyJhbGciOiJFUzI1NiIsImtpZCI6ImEifQ', signature: 'AAAA' }
    for (const { tier, ...card } of selectAllDocuments(sql, 'weather')) {
      const documents = unpackDocuments(card)
      for (const { names, bytes } of groupByEtag(documents)) {
        const { signatures, ...document } = JSON.parse(decode(bytes))
        const text = JSON.stringify({ ...document, signatures: [...(signatures ?? []), added] })
        const changed = { etag: `"${names}"`, bytes: new TextEncoder().encode(text) as Uint8Array<ArrayBuffer> }
        if (signatures) for (const name of names) documents[name] = changed
      }
      storeDocuments(sql, 'weather', { tier, ...packDocuments(documents) })
    }
    sql.exec("UPDATE card_signatures SET signers = signers || ' a'")
    const withAdded = "json_insert(signatures, '$.digest', 'AAAA')"
    sql.exec(`UPDATE card_signatures SET signatures = ${withAdded} WHERE id = 'weather'`)
    expect(read().filter(body => body.includes('"AAAA"'))).toHaveLength(3)
    await host.deploy({})
    await advance(1000)
    expect([read(), (await getKeys()).unsigned]).toEqual([before, 0])
  })
})

it('an unchanged agent has no new revision after its key was removed, replaced or joined by another one', async () => {
  const manifest = { card: minimalCard, extended: { description: 'More for those who may' } }
  const currentSigners = async () => ((await getKeys()).keys ?? []).map(({ kid }) => kid)
  for (const [number, [secrets, keys]] of [
    [{ SIGNING_KEY_2: secretOf(second, start - 60_000) }, 2] as const,
    [{ SIGNING_KEY: undefined }, 1] as const,
    [{ SIGNING_KEY_2: secretOf(first) }, 1] as const,
    [{ SIGNING_KEY_2: undefined }, 0] as const,
  ].entries()) {
    const id = `tiered-${number}`
    const etagOf = async () => (await host.fetch(`/agents/${id}`)).headers.get('ETag')
    await host.put(id, manifest)
    await host.deploy(secrets)
    expect(await host.put(id, manifest)).toMatchObject({ changed: false, seq: 1 })
    const etag = await etagOf()
    expect(await currentSigners()).toHaveLength(keys)
    expect(await signersOf(id)).toEqual(await currentSigners())
    await advance(2000)
    // The memory of an isolate serves what it has for half a minute.
    await advance(31_000)
    expect(await etagOf()).toBe(etag)
    expect(await signersOf(id)).toEqual(await currentSigners())
    expect(await host.put(id, manifest)).toMatchObject({ changed: false, seq: 1 })
    expect(await host.registry.revisions(id, 1000, 10)).toHaveLength(1)
    expect(await host.put('weather', minimalCard)).toMatchObject({ changed: false, seq: 1 })
  }
})

describe('the outbox of a Registry whose keys change', () => {
  /** Counts the rows of the outbox that are inserted or replaced from now on. */
  const countAdditions = (): (() => number) => {
    const { sql } = host.storage
    const exec = sql.exec.bind(sql)
    let added = 0
    vi.spyOn(sql, 'exec').mockImplementation((query: string, ...values) => {
      const cursor = exec(query, ...values)
      if (/^INSERT (?:OR IGNORE )?INTO outbox/.test(query)) added += cursor.rowsWritten
      return cursor as never
    })
    return () => added
  }

  it('gets one row for each of 250 agents, although each alarm looks for agents to sign', async () => {
    const { sql } = host.storage
    const agents = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
      INSERT INTO`
    for (const [table, columns] of Object.entries({
      agents: 'seq, published, visibility, listed, origin, modified, manifest_etag, summary, search_fields, profile',
      revisions: 'seq, created, origin, manifest, made_by, author',
    }))
      sql.exec(
        `${agents} ${table} (id, ${columns}) SELECT 'copy-' || i, ${columns} FROM n, ${table} WHERE id = 'weather'`,
      )
    sql.exec(`${agents} card_signatures SELECT 'copy-' || i, 'other keys', '{}', 0 FROM n`)
    const added = countAdditions()
    await host.deploy({})
    for (let alarms = 0; alarms < 2; alarms++) await advance(1000)
    expect(sql.exec("SELECT COUNT(*) AS count FROM card_signatures WHERE signers = 'other keys'").one()).toEqual({
      count: 0,
    })
    expect(added()).toBe(250)
  })

  it('keeps the failures of an agent that cannot be signed, so that its retries become rare', async () => {
    const { sql } = host.storage
    const failures: number[] = []
    vi.spyOn(console, 'error').mockImplementation(() => void failures.push(Math.floor((Date.now() - start) / 1000)))
    sql.exec("UPDATE card_signatures SET signers = 'other keys'")
    sql.exec("UPDATE revisions SET manifest = 'no JSON'")
    await host.deploy({})
    for (let second = 0; second < 200; second++) {
      // Other writes set the alarm, too.
      await host.registry.revokeToken('unknown', 'admin')
      await host.registry.endCheck('weather', receiptOf('weather'))
      await advance(1000)
    }
    expect(failures).toEqual([1, 2, 4, 8, 16, 32, 64, 124, 184])
    expect(sql.exec("SELECT key, version, attempts FROM outbox WHERE key = 'sign:weather'").toArray()).toEqual([
      { key: 'sign:weather', version: 1, attempts: 9 },
    ])
  })

  it('keeps the failures of a key that each write changes', async () => {
    const failures: number[] = []
    vi.spyOn(console, 'error').mockImplementation(() => void failures.push(Math.floor((Date.now() - start) / 1000)))
    host.env.EVENTS.getByName = () => {
      throw new Error('No.')
    }
    await host.put('weather', { ...minimalCard, name: 'Another' })
    await vi.waitFor(() => expect(failures).toEqual([0]))
    for (let second = 0; second < 20; second++) await advance(1000)
    await host.put('weather', { ...minimalCard, name: 'Yet another' })
    await vi.waitFor(() => expect(failures).toHaveLength(6))
    for (let second = 0; second < 40; second++) await advance(1000)
    expect(failures).toEqual([0, 1, 3, 7, 15, 20, 52])
  })
})

it('the previous key can be deleted some time after the last card was signed again', async () => {
  const retirable = async () => (await getKeys()).keys.find(({ role }) => role === 'previous')?.retirable
  await host.deploy({ SIGNING_KEY_2: secretOf(second, start + 600_000) })
  await advance(3 * 3_600_000)
  expect(await retirable()).toBe(new Date(start + 3 * 3_600_000 + 120_000 + 86_400_000).toISOString())
})
