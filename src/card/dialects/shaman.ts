import * as v from 'valibot'
import { asObject, hasItems, isJsonObject, type JsonObject, mapMembers, omit, toText } from '../../json/index.ts'
import { link, looseObject, stringList } from '../model/index.ts'
import { absentMeansFalse, shamanFlags } from '../read/index.ts'
import { type Dialect, defineV0Dialect } from './dialect.ts'

const object = v.nullish(looseObject({}))

const base = defineV0Dialect(
  {
    card: {
      ...v.entriesFromList(['additionalCapabilities', 'rateLimits', 'inputSchema', 'outputSchema'], object),
      tags: v.nullish(stringList),
      ...v.entriesFromList(['icon', 'supportUrl'], v.nullish(link)),
    },
    capabilities: v.entriesFromList(shamanFlags, v.nullish(v.boolean())),
  },
  'shaman',
)

/** Shaman's card: v0.3 with aliases and fields of its own, whose skills have no id. */
export const shaman: Dialect = {
  ...base,
  detect: card =>
    hasAny(card.capabilities, ['stateHistory', 'multiModal', 'parallelToolCalls']) ||
    (hasAny(card.provider, ['name']) && !hasAny(card.provider, ['organization'])) ||
    ['additionalCapabilities', 'inputSchema', 'outputSchema', 'supportUrl'].some(name => name in card) ||
    // Skills without ids.
    (/^v?0\.3/i.test(toText(card.protocolVersion)) &&
      hasItems(card.skills) &&
      card.skills.every(skill => isJsonObject(skill) && !('id' in skill) && 'name' in skill)),
  capabilityDefaults: () => absentMeansFalse('Shaman'),
  writeAuthored: (authored, card) => ({ ...authored, ...generatedFields(authored, base.write(card).document) }),
}

/** Returns the fields that Shaman adds to each card whose front matter omits them. */
const generatedFields = (authored: JsonObject, { version, preferredTransport, capabilities }: JsonObject) => {
  const known = ['stateHistory', ...shamanFlags, 'streaming', 'pushNotifications']
  const flags = mapMembers(asObject(capabilities), (flag, name) => (known.includes(name) ? flag : undefined))
  return omit({ version, preferredTransport, capabilities: flags }, ...Object.keys(authored))
}

const hasAny = (value: unknown, names: readonly string[]): boolean =>
  isJsonObject(value) && names.some(name => Object.hasOwn(value, name))
