import * as v from 'valibot'
import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { link, looseObject, stringList } from '../model/schema.ts'
import { fieldAliases } from '../read/field-names.ts'
import { type Dialect, members } from './dialect.ts'
import { defineV0Dialect } from './v0-base.ts'

const flags = ['stateHistory', 'multiModal', 'parallelToolCalls']
const allFlags = [...flags, 'streaming', 'pushNotifications', 'authentication', 'rateLimit']
const object = v.nullish(looseObject({}))

const fields = {
  capabilities: members(
    Object.fromEntries(
      ['multiModal', 'parallelToolCalls', 'authentication', 'rateLimit'].map(n => [n, v.nullish(v.boolean())]),
    ),
  ),
  additionalCapabilities: object,
  rateLimits: object,
  inputSchema: object,
  outputSchema: object,
  tags: v.nullish(stringList),
  icon: v.nullish(link),
  supportUrl: v.nullish(link),
}

const words = defineV0Dialect(fieldAliases.shaman, fields)

/** Shaman's card: v0.3 with words of its own, and skills that have no id. */
export const shaman: Dialect = {
  ...words,
  writeAuthored: (authored, card) => ({ ...authored, ...generated(authored, words.write(card).document) }),
  detect: card =>
    has(card.capabilities, flags) ||
    (has(card.provider, ['name']) && !has(card.provider, ['organization'])) ||
    ['additionalCapabilities', 'inputSchema', 'outputSchema', 'supportUrl'].some(name => name in card) ||
    (/^0\.3/.test(String(card.protocolVersion)) && skillsWithoutIds(card)),
}

/** What Shaman itself says of every agent, where its front matter does not: readers count on it. */
const generated = (authored: JsonObject, written: JsonObject): JsonObject => {
  const { version, preferredTransport, capabilities } = written
  const told = isJsonObject(capabilities)
    ? Object.fromEntries(Object.entries(capabilities).filter(([name]) => allFlags.includes(name)))
    : undefined
  const all = Object.entries({ version, preferredTransport, capabilities: told })
  return Object.fromEntries(
    all.filter((entry): entry is [string, Json] => entry[1] !== undefined && !(entry[0] in authored)),
  )
}

const has = (value: unknown, names: readonly string[]): boolean =>
  isJsonObject(value) && names.some(name => Object.hasOwn(value, name))

const skillsWithoutIds = (card: JsonObject): boolean =>
  Array.isArray(card.skills) &&
  card.skills.length > 0 &&
  card.skills.every(skill => isJsonObject(skill) && !('id' in skill) && 'name' in skill)
