import { formatPointer, type Json, type JsonObject, jsonEquals, type Pointer } from '../../json/index.ts'
import { type AgentCard, type AgentInterface, majorMinor } from '../model/index.ts'
import { change, type FoundChange, quote } from './change-rules.ts'
import { compareModes } from './mode-changes.ts'
import { compareSecurity } from './security-changes.ts'

/**
 * Finds every change from one canonical card to another, in no order. Equal cards have none. Skills are matched by id, schemes by name,
 * extensions by URI.
 */
export const compareCards = (before: AgentCard, after: AgentCard): FoundChange[] => {
  if (jsonEquals(before as Json, after as Json)) return []
  const found: FoundChange[] = [
    ...compareInterfaces(before.supportedInterfaces, after.supportedInterfaces),
    ...compareSkills(before, after),
    ...compareModes(before, after),
    ...compareCapabilities(before, after),
    ...compareSecurity(before, after),
  ]
  return [...found, ...compareFields(before, after, found)]
}

/** Finds the interfaces that are removed, added, or have another address, version or binding. */
const compareInterfaces = (before: readonly AgentInterface[], after: readonly AgentInterface[]): FoundChange[] => {
  const changes: FoundChange[] = []
  let removed = before.map((item, index) => ({ item, pointer: formatPointer('supportedInterfaces', index) }))
  let added = after.map((item, index) => ({ item, pointer: formatPointer('supportedInterfaces', index) }))
  for (const { keyOf, report } of interfaceMatches) {
    // `Map.groupBy` is not in Node 20, on which sync-card runs.
    const unmatched = new Map<string, typeof added>()
    for (const entry of added) {
      const same = unmatched.get(keyOf(entry.item))
      if (same) same.push(entry)
      else unmatched.set(keyOf(entry.item), [entry])
    }
    removed = removed.filter(({ item }) => {
      const match = unmatched.get(keyOf(item))?.shift()
      if (match) changes.push(...report(item, match.item).map(change => ({ ...change, pointer: match.pointer })))
      return match === undefined
    })
    added = [...unmatched.values()].flat()
  }
  return [
    ...changes,
    ...removed.map(({ item, pointer }) =>
      change('interface-removed', pointer, `the agent no longer offers ${describeInterface(item)}`),
    ),
    ...added.map(({ item, pointer }) =>
      change('interface-added', pointer, `the agent now also offers ${describeInterface(item)}`),
    ),
  ]
}

type InterfaceMatch = {
  keyOf: (item: AgentInterface) => string
  report: (before: AgentInterface, after: AgentInterface) => Omit<FoundChange, 'pointer'>[]
}

const protocolOf = ({ protocolBinding, protocolVersion }: AgentInterface): string[] => [
  protocolBinding,
  majorMinor(protocolVersion),
]
const addressOf = ({ url, tenant = '' }: AgentInterface): string[] => [url, tenant]

const reportProtocol: InterfaceMatch['report'] = (before, after) => [
  {
    rule: 'protocol-changed',
    message: `the agent speaks ${describeProtocol(after)} instead of ${describeProtocol(before)} at ${describeAddress(after)}`,
  },
]

/** How an interface finds its counterpart in the other card: the first that applies. */
const interfaceMatches: readonly InterfaceMatch[] = [
  { keyOf: item => JSON.stringify([protocolOf(item), addressOf(item)]), report: () => [] },
  {
    keyOf: item => JSON.stringify(protocolOf(item)),
    report: (before, after) => [
      {
        rule: 'interface-moved',
        message: `the agent moves ${describeProtocol(after)} from ${describeAddress(before)} to ${describeAddress(after)}`,
      },
    ],
  },
  { keyOf: item => JSON.stringify([item.protocolBinding, addressOf(item)]), report: reportProtocol },
  { keyOf: item => JSON.stringify(addressOf(item)), report: reportProtocol },
]

const describeProtocol = (item: AgentInterface): string =>
  `${quote(item.protocolBinding)} (A2A ${quote(majorMinor(item.protocolVersion))})`

const describeInterface = (item: AgentInterface): string => `${describeProtocol(item)} at ${describeAddress(item)}`

const describeAddress = ({ url, tenant }: AgentInterface): string =>
  tenant === undefined ? quote(url) : `${quote(url)} for tenant ${quote(tenant)}`

/** Finds the skills that are removed or added. */
const compareSkills = ({ skills: before }: AgentCard, { skills: after }: AgentCard): FoundChange[] => [
  ...findMissing(before, after).map(({ id, pointer }) =>
    change('skill-removed', pointer, `skill ${quote(id)} is removed`),
  ),
  ...findMissing(after, before).map(({ id, pointer }) => change('skill-added', pointer, `skill ${quote(id)} is new`)),
]

/** Returns the ids that only the first list has, with their places there. */
const findMissing = (skills: AgentCard['skills'], others: AgentCard['skills']): { id: string; pointer: Pointer }[] => {
  const known = new Set(others.map(({ id }) => id))
  return skills
    .map(({ id }, index) => ({ id, pointer: formatPointer('skills', index) }))
    .filter(({ id }) => !known.has(id))
}

type Capabilities = AgentCard['capabilities']

/** Compares the flags of the capabilities, and the extensions. */
const compareCapabilities = (
  { capabilities: before }: AgentCard,
  { capabilities: after }: AgentCard,
): FoundChange[] => [...compareFlags(before, after), ...compareExtensions(before.extensions, after.extensions)]

const compareFlags = (before: Capabilities, after: Capabilities): FoundChange[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap(name => {
    const [had, has] = [ownValue(before, name) === true, ownValue(after, name) === true]
    const pointer = formatPointer('capabilities', name)
    if (had && !has)
      return change('capability-removed', pointer, `the agent no longer has the capability ${quote(name)}`)
    return has && !had ? change('capability-added', pointer, `the agent now has the capability ${quote(name)}`) : []
  })

type Extensions = NonNullable<Capabilities['extensions']>

const compareExtensions = (before: Extensions = [], after: Extensions = []): FoundChange[] => {
  const earlier = new Map(before.map(extension => [extension.uri, extension]))
  const later = new Set(after.map(({ uri }) => uri))
  const pointerOf = (index: number): Pointer => formatPointer('capabilities', 'extensions', index)
  return [
    ...before.flatMap(({ uri }, index) => {
      const message = `the agent no longer supports the extension ${quote(uri)}`
      return later.has(uri) ? [] : change('extension-removed', pointerOf(index), message)
    }),
    ...after.flatMap((extension, index) => compareExtension(earlier.get(extension.uri), extension, pointerOf(index))),
  ]
}

const compareExtension = (
  before: Extensions[number] | undefined,
  after: Extensions[number],
  pointer: Pointer,
): FoundChange[] => {
  const name = `the extension ${quote(after.uri)}`
  if (!before && !after.required) return [change('extension-added', pointer, `the agent now also supports ${name}`)]
  const isChanged = before !== undefined && !jsonEquals(before.params, after.params)
  const [wasRequired, isRequired] = [before?.required === true, after.required === true]
  return [
    ...(isRequired && !wasRequired ? [change('extension-required', pointer, `the agent now requires ${name}`)] : []),
    ...(wasRequired && !isRequired
      ? [change('extension-optional', pointer, `the agent no longer requires ${name}`)]
      : []),
    ...(isChanged ? [change('extension-changed', pointer, `${name} has other parameters`)] : []),
  ]
}

/** The fields that people read, and models that choose between agents and skills. */
const texts = new Set(['name', 'description', 'provider', 'documentationUrl', 'iconUrl', 'tags', 'examples'])

/** Finds what differs besides what was `found`: in the card, its skills, interfaces and extensions, and its capabilities. */
const compareFields = (before: AgentCard, after: AgentCard, found: readonly FoundChange[]): FoundChange[] => {
  const explained = new Set(found.flatMap(({ pointer }) => ancestorsOf(pointer)))
  const compare = (earlier: JsonObject, later: JsonObject, subject: string, place: Pointer): FoundChange[] =>
    [...new Set([...Object.keys(earlier), ...Object.keys(later)])].flatMap(name => {
      const [old, current] = [ownValue(earlier, name), ownValue(later, name)]
      const pointer = place + formatPointer(name)
      if (explained.has(pointer) || jsonEquals(old, current)) return []
      const message = `${subject} ${describeDifference(name, old, current)}`
      const rule =
        place === '' && name === 'version' ? 'version-changed' : texts.has(name) ? 'text-changed' : 'details-changed'
      return change(rule, pointer, message)
    })
  const skills = new Map(before.skills.map(skill => [skill.id, skill]))
  const inSkills = after.skills.flatMap((skill, index) => {
    const previous = skills.get(skill.id)
    return previous
      ? compare(previous as JsonObject, skill as JsonObject, `skill ${quote(skill.id)}`, formatPointer('skills', index))
      : []
  })
  for (const { pointer } of inSkills) for (const ancestor of ancestorsOf(pointer)) explained.add(ancestor)
  return [...compare(before as JsonObject, after as JsonObject, 'the agent', ''), ...inSkills]
}

const describeDifference = (name: string, before: Json | undefined, after: Json | undefined): string => {
  if (before === undefined) return `now has ${quote(name)}`
  if (after === undefined) return `no longer has ${quote(name)}`
  if (isReordered(before, after)) return `lists its ${quote(name)} in another order`
  const values = isShort(before) && isShort(after) ? ` from ${quote(before)} to ${quote(after)}` : ''
  return `changes its ${quote(name)}${values}`
}

const isReordered = (before: Json, after: Json): boolean => {
  if (!Array.isArray(before) || !Array.isArray(after) || before.length !== after.length) return false
  const [sorted, other] = [before, after].map(list => list.map(item => JSON.stringify(item)).toSorted())
  return jsonEquals(sorted, other)
}

/** Returns a pointer and the pointers to what contains its target. */
const ancestorsOf = (pointer: Pointer): Pointer[] => {
  const tokens = pointer.split('/')
  return tokens.slice(1).map((_, index) => tokens.slice(0, index + 2).join('/'))
}

/** Names of this length fit into a message twice. */
const MAX_SHOWN_LENGTH = 60

const isShort = (value: Json | undefined): value is string =>
  typeof value === 'string' && value.length <= MAX_SHOWN_LENGTH

const ownValue = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined
