import { verifyAgentCardSignature } from '@a2a-js/sdk'
import { base64url, createLocalJWKSet, flattenedVerify, importJWK, type JSONWebKeySet } from 'jose'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { readKeys, verifySignatures } from '../../src/card/signatures/index.ts'
import { canonicalJson } from '../../src/json/canonical.ts'
import { type Json, type JsonObject, omit } from '../../src/json/json.ts'
import { KeysHost } from '../cli/keys-host.ts'
import { agentCard } from '../support/cards/cards.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

type Signature = { protected: string; signature: string }

/** Whether some signature of a card is valid with these keys, for each verifier. */
const verifiers: Record<string, (card: JsonObject, keySet: JSONWebKeySet) => Promise<boolean>> = {
  jose: async (card, keySet) => {
    const payload = base64url.encode(canonicalJson(omit(card, 'signatures')))
    const results = await Promise.allSettled(
      (card.signatures as Signature[]).map(entry => flattenedVerify({ ...entry, payload }, createLocalJWKSet(keySet))),
    )
    return results.some(({ status }) => status === 'fulfilled')
  },
  'the JavaScript SDK': async (card, { keys }) => {
    const verify = verifyAgentCardSignature(async kid => {
      const key = keys.find(key => key.kid === kid)
      if (key === undefined) throw new Error(`unknown key ${kid}`)
      return (await importJWK(key, 'ES256')) as CryptoKey
    })
    return verify(card as never).then(
      () => true,
      () => false,
    )
  },
  'our verifier': async (card, keySet) => {
    const read = await readKeys(keySet as unknown as Json, hostName)
    return 'keys' in read && (await verifySignatures(card, read.keys)).some(({ valid }) => valid)
  },
}
const hostName = 'cards.example.com'

/** What clients have, and how they verify it with the keys that the host publishes now. */
class Clients {
  readonly #host: KeysHost
  readonly #id: string
  #held: { at: number; card: string }[] = []
  readonly #verified = new Map<string, string[]>()
  failures: string[] = []

  constructor(host: KeysHost, id: string) {
    this.#host = host
    this.#id = id
  }

  /** Fetches the card, as some client does at any time. */
  async fetch(): Promise<void> {
    const card = await (await this.#host.fetch(`/agents/${this.#id}/.well-known/agent-card.json`)).text()
    this.#held.push({ at: Date.now(), card })
  }

  /** Verifies each card that some client or cache may still have: a day and a minute after it was served. */
  async verify(): Promise<void> {
    this.#held = this.#held.filter(({ at }) => at >= Date.now() - 24 * HOUR - MINUTE)
    const keySet = await (await this.#host.fetch('/.well-known/jwks.json')).text()
    for (const { at, card } of this.#held)
      for (const verifier of await this.#refusing(card, keySet))
        this.failures.push(
          `${verifier} refuses at ${new Date().toISOString()} what was served at ${new Date(at).toISOString()}`,
        )
  }

  /** How many different cards some client has. */
  get cards(): number {
    return new Set(this.#held.map(({ card }) => card)).size
  }

  async #refusing(card: string, keySet: string): Promise<string[]> {
    const key = `${card} ${keySet}`
    const known = this.#verified.get(key)
    if (known) return known
    const results = await Promise.all(
      Object.entries(verifiers).map(async ([name, verify]) =>
        (await verify(JSON.parse(card), JSON.parse(keySet))) ? [] : [name],
      ),
    )
    this.#verified.set(key, results.flat())
    return results.flat()
  }
}

const card = (version: number): JsonObject => ({ ...agentCard('https://agent.example'), version: `${version}.0.0` })

let host: KeysHost
beforeEach(async () => {
  vi.spyOn(console, 'debug').mockReturnValue()
  host = await KeysHost.start()
  expect(await host.run(['create'])).toMatchObject({ code: 0 })
  await host.fetch('/health')
})

describe('a card that was served in the last day', () => {
  it('is verified with the keys that are published now, through two rotations', async () => {
    await host.put('rotated', card(1))
    const clients = new Clients(host, 'rotated')
    const steps: string[] = []
    const note = async (step: string) => void steps.push(`${step}: ${Object.keys(await host.roles()).join(', ')}`)
    /** Lets time pass while clients fetch the card, and an owner changes it now and then. */
    const pass = async (hours: number) => {
      for (let minute = 0; minute < hours * 60; minute += 30) {
        await host.advance(30 * MINUTE)
        await clients.fetch()
        if (minute % 420 === 0) await host.put('rotated', card(Date.now()))
        await clients.verify()
      }
    }
    const passMinutes = async (minutes: number) => {
      for (let minute = 0; minute < minutes; minute++) {
        await host.advance(MINUTE)
        await clients.fetch()
        await clients.verify()
      }
    }
    await note('create')
    await pass(20)
    for (let rotation = 0; rotation < 2; rotation++) {
      expect(await host.run(['rotate'])).toMatchObject({ code: 0 })
      await note('rotate')
      await passMinutes(12)
      await note('promotion')
      expect(await host.run(['retire'])).toMatchObject({ code: 1 })
      let hours = 22
      await pass(hours)
      while ((await host.run(['retire'])).code !== 0) {
        await pass(1)
        hours++
      }
      await note(`retired after ${hours} hours`)
      await passMinutes(5)
      await pass(3)
    }
    expect(clients.failures).toEqual([])
    expect(clients.cards).toBeGreaterThan(3)
    expect(steps).toEqual([
      'create: current',
      ...['rotate: current, next', 'promotion: current, previous', 'retired after 24 hours: current'],
      ...['rotate: current, next', 'promotion: current, previous', 'retired after 24 hours: current'],
    ])
  })

  it('is refused if only a key has signed it that has leaked, and what is served now is verified', async () => {
    await host.put('leaked', card(1))
    const before = new Clients(host, 'leaked')
    await before.fetch()
    const { current = '' } = await host.roles()
    expect(await host.run(['retire', current, '--now'])).toMatchObject({ code: 0 })
    await before.verify()
    expect(before.failures.map(failure => failure.split(' refuses')[0])).toEqual(Object.keys(verifiers))
    await host.advance(MINUTE)
    const after = new Clients(host, 'leaked')
    await after.fetch()
    await after.verify()
    expect(after.failures).toEqual([])
  })
})
