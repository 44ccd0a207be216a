import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../../src/json/json.ts'

const folder = join(import.meta.dirname, '../../fixtures/seeds')

/** An example card of the documents that define the mission. */
export const seed = (name: string): JsonObject => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))

/** The names of all of them. */
export const seedNames = readdirSync(folder).map(file => file.replace('.json', ''))

/** One of them as its owner registers it: those that do not say where the agent is need a manifest that does. */
export const registered = (name: string): JsonObject => {
  const card = seed(name)
  return typeof card.url === 'string' ? card : { card, upstream: { url: 'https://agent.example/a2a' } }
}
