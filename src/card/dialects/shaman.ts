import { isObject, type JsonObject } from '../json.ts'
import type { Dialect } from './dialect.ts'
import { inOtherWords } from './v0-3.ts'

const flags = ['stateHistory', 'multiModal', 'parallelToolCalls']

/** Shaman's card: v0.3 with words of its own, and skills that have no id. */
export const shaman: Dialect = {
  ...inOtherWords(
    {
      card: [['icon', 'iconUrl']],
      capabilities: [['stateHistory', 'stateTransitionHistory']],
      provider: [['name', 'organization']],
    },
    '0.3',
  ),
  detect: card =>
    has(card.capabilities, flags) ||
    (has(card.provider, ['name']) && !has(card.provider, ['organization'])) ||
    ['additionalCapabilities', 'inputSchema', 'outputSchema', 'supportUrl', 'icon'].some(name => name in card) ||
    skillsWithoutIds(card),
}

const has = (value: unknown, names: readonly string[]): boolean =>
  isObject(value) && names.some(name => Object.hasOwn(value, name))

const skillsWithoutIds = (card: JsonObject): boolean =>
  Array.isArray(card.skills) &&
  card.skills.length > 0 &&
  card.skills.every(skill => isObject(skill) && !('id' in skill) && 'name' in skill)
