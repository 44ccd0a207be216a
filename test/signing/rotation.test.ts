import { verifyAgentCardSignature } from '@a2a-js/sdk'
import { base64url, createLocalJWKSet, flattenedVerify, importJWK, type JSONWebKeySet } from 'jose'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { readKeys, verifySignatures } from '../../src/card/signatures/index.ts'
import { type Json, type JsonObject, omit } from '../../src/json/json.ts'
import { canonicalJson } from '../../src/json/tree.ts'
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
  /** When each card was last served. */
  readonly #held = new Map<string, number>()
  /** The keys with which each card was verified. */
  readonly #verified = new Map<string, string>()
  readonly failures: string[] = []
  /** How many pairs of a card and keys were verified. */
  verified = 0

  constructor(host: KeysHost, id: string) {
    this.#host = host
    this.#id = id
  }

  /** Fetches the card, as some client does at any time. */
  async fetch(): Promise<void> {
    const card = await (await this.#host.fetch(`/agents/${this.#id}/.well-known/agent-card.json`)).text()
    this.#held.set(card, Date.now())
  }

  /** Verifies each card that some client or cache may still have: a day and a minute after it was served. */
  async verify(): Promise<void> {
    const keySet = await (await this.#host.fetch('/.well-known/jwks.json')).text()
    for (const [card, served] of this.#held)
      if (served < Date.now() - 24 * HOUR - MINUTE) this.#held.delete(card)
      else if (this.#verified.get(card) !== keySet) {
        this.#verified.set(card, keySet)
        this.verified++
        for (const [name, verify] of Object.entries(verifiers))
          if (!(await verify(JSON.parse(card), JSON.parse(keySet))))
            this.failures.push(
              `${name} refuses at ${new Date().toISOString()} what was served at ${new Date(served).toISOString()}`,
            )
      }
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
    /** Lets time pass while clients fetch the card. */
    const pass = async (steps: number, ms: number) => {
      for (let step = 0; step < steps; step++) {
        await host.advance(ms)
        await clients.fetch()
        await clients.verify()
      }
    }
    /** The owner changes the card every few hours. */
    const passHours = async (hours: number) => {
      for (let left = hours; left > 0; left -= 6) {
        await pass(1, Math.min(left, 6) * HOUR)
        await host.put('rotated', card(Date.now()))
      }
    }
    await note('create')
    await passHours(6)
    for (let rotation = 0; rotation < 2; rotation++) {
      expect(await host.run(['rotate'])).toMatchObject({ code: 0 })
      await note('rotate')
      await pass(3, 3 * MINUTE)
      await pass(3, MINUTE)
      await note('promotion')
      expect(await host.run(['retire'])).toMatchObject({ code: 1 })
      let hours = 22
      await passHours(hours)
      while ((await host.run(['retire'])).code !== 0) {
        await pass(1, HOUR)
        hours++
      }
      await note(`retired after ${hours} hours`)
      await pass(3, MINUTE)
      await passHours(3)
    }
    expect(clients.failures).toEqual([])
    expect(clients.verified).toBeGreaterThan(20)
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
