import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../../src/json/json.ts'

const folder = join(import.meta.dirname, '../../fixtures/seeds')

/** Reads an example card by its name. */
export const readSeed = (name: string): JsonObject => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))

/** The names of all example cards. */
export const seedNames = readdirSync(folder).map(file => file.replace('.json', ''))

/** Returns an example card, in a manifest with the agent's URL if the card has none. */
export const readSeedManifest = (name: string): JsonObject => {
  const card = readSeed(name)
  return typeof card.url === 'string' ? card : { card, upstream: { url: 'https://agent.example/a2a' } }
}
