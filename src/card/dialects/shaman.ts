import * as v from 'valibot'
import { isJsonObject, type JsonObject, mapMembers, omit, toText } from '../../json/index.ts'
import { link, looseObject, stringList } from '../model/index.ts'
import { absentMeansFalse, fieldAliases } from '../read/index.ts'
import { type Dialect, defineV0Dialect, members } from './dialect.ts'

const markerFlags = ['stateHistory', 'multiModal', 'parallelToolCalls']
const ownFlags = [...markerFlags, 'authentication', 'rateLimit']
const object = v.nullish(looseObject({}))
const flag = v.nullish(v.boolean())

const fields = {
  capabilities: members({ multiModal: flag, parallelToolCalls: flag, authentication: flag, rateLimit: flag }),
  additionalCapabilities: object,
  rateLimits: object,
  inputSchema: object,
  outputSchema: object,
  tags: v.nullish(stringList),
  icon: v.nullish(link),
  supportUrl: v.nullish(link),
}

const base = defineV0Dialect(fieldAliases.shaman, fields)

/** Shaman's card: v0.3 with aliases and fields of its own, whose skills have no id. */
export const shaman: Dialect = {
  ...base,
  detect: card =>
    hasAny(card.capabilities, markerFlags) ||
    (hasAny(card.provider, ['name']) && !hasAny(card.provider, ['organization'])) ||
    ['additionalCapabilities', 'inputSchema', 'outputSchema', 'supportUrl'].some(name => name in card) ||
    (/^v?0\.3/i.test(toText(card.protocolVersion)) && hasSkillsWithoutIds(card)),
  capabilityDefaults: () => absentMeansFalse('Shaman'),
  writeAuthored: (authored, card) => ({ ...authored, ...generatedFields(authored, base.write(card).document) }),
  ownFields: {
    card: ['tags', 'icon', 'supportUrl', 'inputSchema', 'outputSchema', 'additionalCapabilities', 'rateLimits'],
    capabilities: ownFlags,
    provider: ['name'],
  },
}

/** Returns the fields that Shaman adds to each card whose front matter omits them. */
const generatedFields = (authored: JsonObject, { version, preferredTransport, capabilities }: JsonObject) => {
  const known = [...ownFlags, 'streaming', 'pushNotifications']
  const flags = isJsonObject(capabilities)
    ? mapMembers(capabilities, (flag, name) => (known.includes(name) ? flag : undefined))
    : undefined
  return omit({ version, preferredTransport, capabilities: flags }, ...Object.keys(authored))
}

const hasAny = (value: unknown, names: readonly string[]): boolean =>
  isJsonObject(value) && names.some(name => Object.hasOwn(value, name))

const hasSkillsWithoutIds = (card: JsonObject): boolean =>
  Array.isArray(card.skills) &&
  card.skills.length > 0 &&
  card.skills.every(skill => isJsonObject(skill) && !('id' in skill) && 'name' in skill)
