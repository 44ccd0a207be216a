import { collectStrings, formatPointer, isJsonObject, type JsonObject, type Pointer } from '../../json/index.ts'
import { dialects } from '../dialects/index.ts'
import { type Issue, modeMembers, relocate, severities } from '../model/index.ts'
import { aliases, cardTransports, interfaceTransports, listNames } from '../read/index.ts'
import { content, texts } from './content-rules.ts'
import { protocol, urls } from './endpoint-rules.ts'
import type { Found, LintContext, Rule } from './rule.ts'
import { closestExisting, getAuthored, getAuthoredItems, getAuthoredSkills, info, warning } from './rule.ts'
import { secrets } from './secrets.ts'
import { security } from './security-rules.ts'

export * from './secrets.ts'

/** The objects whose fields are checked. Schemes have fields that no specification lists. */
const checkedKinds = ['card', 'capabilities', 'provider', 'skill', 'interface'] as const
type CheckedKind = (typeof checkedKinds)[number]

/** The fields of A2A and GopherHole, those that another dialect has for itself, and its other names for them. */
const knownFields = new Set([
  ...checkedKinds.flatMap(kind => listNames(kind).map(name => `${kind} ${name}`)),
  ...Object.values(dialects).flatMap(({ own = {} }) =>
    Object.entries(own).flatMap(([kind, entries]) => Object.keys(entries).map(name => `${kind} ${name}`)),
  ),
  ...aliases.map(({ kind, alias }) => `${kind} ${alias}`),
])

/** By convention, such a name marks a field of the author's own. */
const extensionName = /^(?:x-|[_$@])/i

/** Returns the fields of no dialect, each with the field that was likely meant; a name that recurs, only once. */
const findUnknownFields = (context: LintContext): { pointer: Pointer; suggestion: string | undefined }[] => {
  const seen = new Set<string>()
  return checkedObjects(context).flatMap(({ object, kind, pointer, canonical = pointer }) => {
    // Fields that name a transport are read, or rules about transports report them.
    const read = kind === 'card' ? cardTransports(object) : kind === 'interface' ? interfaceTransports(object) : []
    return Object.keys(object).flatMap(name => {
      const key = `${kind} ${name}`
      if (knownFields.has(key) || seen.has(key) || extensionName.test(name) || read.some(field => field.name === name))
        return []
      seen.add(key)
      const suggestion = suggestField(name, kind, object)
      const at = pointer + formatPointer(name)
      // A spelling that was read as the suggested field is no mistake.
      const isRead = suggestion !== undefined && context.sourceOf(canonical + formatPointer(suggestion)) === at
      return isRead ? [] : [{ pointer: at, suggestion }]
    })
  })
}

/** An object whose fields are checked, its place, and its place in the canonical card where that differs. */
type CheckedObject = { object: JsonObject; kind: CheckedKind; pointer: Pointer; canonical?: Pointer }

const checkedObjects = (context: LintContext): CheckedObject[] => [
  { object: context.authored, kind: 'card', pointer: '' },
  ...(['capabilities', 'provider'] as const).flatMap(kind => {
    const { value, pointer } = getAuthored(context, formatPointer(kind))
    return isJsonObject(value) ? [{ object: value, kind, pointer }] : []
  }),
  ...['/supportedInterfaces', '/additionalInterfaces'].flatMap(name =>
    getAuthoredItems(context, name).map(({ item, pointer }): CheckedObject => {
      return { object: item, kind: 'interface', pointer, canonical: name + pointer.slice(pointer.lastIndexOf('/')) }
    }),
  ),
  ...getAuthoredSkills(context).map(({ authored, pointer }) => ({ object: authored, kind: 'skill' as const, pointer })),
]

/** Returns the field that an unknown name likely means and that the object does not have yet. */
const suggestField = (name: string, kind: CheckedKind, object: JsonObject): string | undefined => {
  const normalized = name.toLowerCase().replace(/[^a-z\d]/g, '')
  const candidates = listNames(kind).filter(field => !Object.hasOwn(object, field))
  return (
    (kind === 'card' ? findNestedField(name) : undefined) ??
    candidates.find(field => field.toLowerCase() === normalized) ??
    candidates.find(field => Math.abs(field.length - normalized.length) < 3 && isTypo(field.toLowerCase(), normalized))
  )
}

/** Returns the right place of a field that belongs in another object, or has another name, at the top of a card. */
const findNestedField = (name: string): string | undefined => {
  const parent = (['capabilities', 'provider'] as const).find(kind => listNames(kind).includes(name))
  return modeMembers.find(({ own }) => own === name)?.defaults ?? (parent && `${parent}.${name}`)
}

/** Returns the place of an unknown field, with its change to the one that is meant if the card does not have that. */
const renameTo = (suggestion: string, pointer: Pointer, context: LintContext): Found => {
  const parent = pointer.slice(0, pointer.lastIndexOf('/'))
  const meant = formatPointer(...suggestion.split('.'))
  const path = parent === '' ? getAuthored(context, meant).pointer : parent + meant
  const isMissing = closestExisting(context.authored, path).value === undefined
  return { pointer, ...(isMissing && { change: { op: 'move', from: pointer, path } }) }
}

/** Returns whether two names differ in one place, by at most two letters; in a short name by one letter or a swap. */
const isTypo = (left: string, right: string): boolean => {
  const shorter = Math.min(left.length, right.length)
  let start = 0
  while (start < shorter && left[start] === right[start]) start++
  let end = 0
  while (end < shorter - start && left.at(-1 - end) === right.at(-1 - end)) end++
  const difference = Math.max(left.length, right.length) - start - end
  return difference <= (shorter > 6 ? 2 : 1) || (difference === 2 && left[start] === right[start + 1])
}

/** Every rule, in the order of the report. */
export const rules: readonly Rule[] = [
  ...[secrets, urls, security, content, protocol, texts].flat(),
  /**
   * No field is a likely misspelling of another, or in the wrong place. Reason: Clients do not read it, although its
   * author believes that they do.
   */
  warning('misspelt-field', 'is not read by clients; did you mean another field?', context =>
    findUnknownFields(context).flatMap(({ pointer, suggestion }) =>
      suggestion
        ? [
            {
              message: `is not read by clients; did you mean ${suggestion}?`,
              ...renameTo(suggestion, pointer, context),
            },
          ]
        : [],
    ),
  ),
  /**
   * Every field is known to some dialect, or begins with `x-`, `_` or `$`. Reason: It is kept and served, but clients
   * do not read it.
   */
  info(
    'unknown-field',
    'is a field of no dialect: it is served, but clients will not read it; begin a field of your own with x-',
    context => findUnknownFields(context).flatMap(({ pointer, suggestion }) => (suggestion ? [] : [pointer])),
  ),
]

/** Runs every rule on a card, the most severe first. Each pointer is to a place in the authored card, or below one. */
export const lint = (card: Omit<LintContext, 'strings'>): Issue[] => {
  const context = { ...card, strings: collectStrings(card.authored) }
  return severities
    .flatMap(severity => rules.filter(rule => rule.severity === severity))
    .flatMap(({ id, severity, check }) =>
      relocate(check(context), pointer => closestExisting(context.authored, pointer).pointer).map(found => {
        return { rule: id, severity, ...found }
      }),
    )
}
