import { formatPointer, isJsonObject, type JsonObject, type Pointer } from '../../json/json.ts'
import { knownFields, type ObjectKind } from '../read/field-names.ts'
import {
  authoredSkills,
  type Finding,
  getAuthored,
  getAuthoredItems,
  type LintContext,
  type Rule,
  rule,
} from './rule.ts'

/** Where fields stand in a card. */
type Place = Exclude<ObjectKind, 'scheme'>

const words = (text: string): readonly string[] => text.split(/\s+/)

/** The fields that only SuperX, Shaman, Telex or a draft of A2A knows. */
const dialectFields: Record<Place, readonly string[]> = {
  card: words(`protocol authentication interfaces supportedProtocols metadata tags icon supportUrl inputSchema
    outputSchema additionalCapabilities rateLimits resources prompts`),
  capabilities: words(`stateHistory multiModal parallelToolCalls authentication rateLimit contextWindow tools resources
    prompts sampling`),
  provider: words('name email contactEmail'),
  skill: words('inputSchema outputSchema parameters'),
  interface: [],
}

/** Where a field belongs that is found on top of a card. */
const properPlace = (name: string): string | undefined => {
  if (/^(?:in|out)putModes$/.test(name)) return `default${name.charAt(0).toUpperCase()}${name.slice(1)}`
  const holder = (['capabilities', 'provider'] as const).find(of =>
    (knownFields[of] as readonly string[]).includes(name),
  )
  return holder && `${holder}.${name}`
}

/** By convention, a name that begins so is the author's own. */
const ownName = /^(?:x-|[_$@])/i

/** Whether two names differ in one spot only, by at most two letters (by one, or two exchanged, in a short name). */
const isTypo = (left: string, right: string): boolean => {
  const shorter = Math.min(left.length, right.length)
  let from = 0
  while (from < shorter && left[from] === right[from]) from++
  let to = 0
  while (to < shorter - from && left.at(-1 - to) === right.at(-1 - to)) to++
  const longest = Math.max(left.length, right.length) - from - to
  return longest <= (shorter > 6 ? 2 : 1) || (longest === 2 && left[from] === right[from + 1])
}

const suggestField = (name: string, of: Place, object: JsonObject): string | undefined => {
  const proper = of === 'card' ? properPlace(name) : undefined
  if (proper !== undefined) return proper
  const flat = name.toLowerCase().replace(/[^a-z\d]/g, '')
  const free = knownFields[of].filter(field => !Object.hasOwn(object, field))
  return (
    free.find(field => field.toLowerCase() === flat) ??
    free.find(field => Math.abs(field.length - flat.length) < 3 && isTypo(field.toLowerCase(), flat))
  )
}

const objects = (subject: LintContext): { object: JsonObject; of: Place; place: Pointer }[] => [
  { object: subject.authored, of: 'card', place: '' },
  ...(['capabilities', 'provider'] as const).flatMap(of => {
    const { value, place } = getAuthored(subject, formatPointer(of))
    return isJsonObject(value) ? [{ object: value, of, place }] : []
  }),
  ...['/supportedInterfaces', '/additionalInterfaces'].flatMap(name =>
    getAuthoredItems(subject, name).map(({ item, place }) => ({ object: item, of: 'interface' as const, place })),
  ),
  ...authoredSkills(subject).map(({ authored, place }) => ({ object: authored, of: 'skill' as const, place })),
]

/** The fields that no dialect knows, and what each was likely meant to be; of one that recurs in a list, the first. */
const unknownFields = (subject: LintContext): { place: Pointer; meant: string | undefined }[] => {
  const seen = new Set<string>()
  return objects(subject).flatMap(({ object, of, place }) =>
    Object.keys(object).flatMap(name => {
      const known = knownFields[of].includes(name) || dialectFields[of].includes(name) || ownName.test(name)
      if (known || seen.has(`${of} ${name}`)) return []
      seen.add(`${of} ${name}`)
      const meant = suggestField(name, of, object)
      const at = place + formatPointer(name)
      // A spelling that was read as the field that it means is no mistake.
      return meant !== undefined && subject.at(place + formatPointer(meant)) === at ? [] : [{ place: at, meant }]
    }),
  )
}

/** Names of fields. */
export const fields: readonly Rule[] = [
  {
    id: 'misspelt-field',
    severity: 'warning',
    summary: 'is not read by clients; did you mean another field',
    check: subject =>
      unknownFields(subject).flatMap(({ place, meant }): Finding[] =>
        meant ? [{ pointer: place, message: `is not read by clients; did you mean ${meant}?` }] : [],
      ),
  },
  rule('unknown-field', 'info', 'is known to no dialect: it is kept, but clients will not read it', subject =>
    unknownFields(subject).flatMap(({ place, meant }) => (meant ? [] : [place])),
  ),
]
