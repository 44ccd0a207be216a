import { decodeProtectedHeader } from 'jose'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { minimalCard } from '../../support/cards/cards.ts'
import { type NodeHost, startNodeHost } from '../../support/node-host.ts'
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
    expect([await signersOf(), await signersOf('news')]).toEqual([
      [coming, old],
      [coming, old],
    ])
    expect(await roles()).toEqual({ current: coming, previous: old })
  })

  it('keeps the alarm of an outbox that an earlier object has left', async () => {
    await host.put('news', minimalCard)
    await host.deploy({ SIGNING_KEY_2: secretOf(second, start + 600_000) })
    await host.deploy({})
    await advance(2000)
    expect(await getKeys()).toMatchObject({ unsigned: 0 })
    await advance(600_000)
    expect((await getKeys()).unsigned).toBe(0)
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

  it('removes the signatures of a key that is deleted, and counts the agents until then', async () => {
    const { current: old } = await roles()
    await host.deploy({ SIGNING_KEY_2: secretOf(second, start - 60_000) })
    await advance(1000)
    await host.deploy({ SIGNING_KEY: undefined })
    const { current = '' } = await roles()
    expect(current).not.toBe(old)
    expect((await getKeys()).unsigned).toBe(1)
    await advance(1000)
    await advance(31_000)
    expect([await signersOf(), (await getKeys()).unsigned]).toEqual([[current], 0])
  })
})

describe('the time from which on the previous key can be deleted', () => {
  const retirable = async () => (await getKeys()).keys.find(({ role }) => role === 'previous')?.retirable

  it('is when no cache serves a card any more that it signed alone', async () => {
    await host.deploy({ SIGNING_KEY_2: secretOf(second, start + 600_000) })
    await advance(600_000)
    // A minute fresh, a day stale, and a minute in the caches of this host.
    expect(await retirable()).toBe(new Date(start + 600_000 + 120_000 + 86_400_000).toISOString())
  })

  it('counts from when the last card was signed again, if that was late', async () => {
    await host.deploy({ SIGNING_KEY_2: secretOf(second, start + 600_000) })
    await advance(3 * 3_600_000)
    expect(await retirable()).toBe(new Date(start + 3 * 3_600_000 + 120_000 + 86_400_000).toISOString())
  })
})
