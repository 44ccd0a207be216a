import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { covers, formatPointer, jsonEquals, parseMediaRange } from '../../json/index.ts'
import { type AgentCard, type AgentInterface, type AgentSkill, majorMinor } from '../model/index.ts'
import { change, changeIf, type FoundChange, pairMembers, pairSkills, quote, quoteList } from './change-rules.ts'
import { compareSecurity } from './security-changes.ts'

/** Finds every change between canonical cards. Matches skills by id, schemes by name and extensions by URI. */
export const compareCards = (before: AgentCard, after: AgentCard): FoundChange[] => {
  if (jsonEquals(before as Json, after as Json)) return []
  const found: FoundChange[] = [
    ...compareInterfaces(before.supportedInterfaces, after.supportedInterfaces),
    ...compareSkills(before, after),
    ...modeFields.flatMap(fields => compareModes(before, after, fields)),
    ...compareFlags(before.capabilities, after.capabilities),
    ...compareExtensions(before.capabilities.extensions, after.capabilities.extensions),
    ...compareSecurity(before, after),
  ]
  return [...found, ...compareFields(before, after, found)]
}

/** Finds the interfaces that are removed, added, or have another address, version or binding. */
const compareInterfaces = (before: readonly AgentInterface[], after: readonly AgentInterface[]): FoundChange[] => {
  const pointerOf = (index: number): Pointer => formatPointer('supportedInterfaces', index)
  const changes: FoundChange[] = []
  const added = new Map(after.entries())
  let removed = [...before.entries()]
  for (const { isSame, report } of interfaceMatches)
    removed = removed.filter(([, item]) => {
      const [index, match] = [...added].find(([, other]) => isSame(item, other)) ?? []
      if (index === undefined || match === undefined) return true
      added.delete(index)
      if (report) changes.push({ ...report(item, match), pointer: pointerOf(index) })
      return false
    })
  for (const [index, item] of removed)
    changes.push(change('interface-removed', pointerOf(index), `the agent no longer offers ${describeInterface(item)}`))
  for (const [index, item] of added)
    changes.push(change('interface-added', pointerOf(index), `the agent now also offers ${describeInterface(item)}`))
  return changes
}

type InterfaceMatch = {
  isSame: (before: AgentInterface, after: AgentInterface) => boolean
  report?: (before: AgentInterface, after: AgentInterface) => Omit<FoundChange, 'pointer'>
}

const hasSameBinding = (one: AgentInterface, other: AgentInterface): boolean =>
  one.protocolBinding === other.protocolBinding

const hasSameProtocol = (one: AgentInterface, other: AgentInterface): boolean =>
  hasSameBinding(one, other) && majorMinor(one.protocolVersion) === majorMinor(other.protocolVersion)

const hasSameAddress = (one: AgentInterface, other: AgentInterface): boolean =>
  one.url === other.url && (one.tenant ?? '') === (other.tenant ?? '')

const reportProtocol: InterfaceMatch['report'] = (before, after) => {
  const protocols = `${describeProtocol(after)} instead of ${describeProtocol(before)}`
  return { rule: 'protocol-changed', message: `the agent speaks ${protocols} at ${describeAddress(after)}` }
}

/** The ways in which an interface finds its counterpart in the other card: the first that applies. */
const interfaceMatches: readonly InterfaceMatch[] = [
  { isSame: (one, other) => hasSameProtocol(one, other) && hasSameAddress(one, other) },
  {
    isSame: hasSameProtocol,
    report: (before, after) => {
      const addresses = `from ${describeAddress(before)} to ${describeAddress(after)}`
      return { rule: 'interface-moved', message: `the agent moves ${describeProtocol(after)} ${addresses}` }
    },
  },
  { isSame: (one, other) => hasSameBinding(one, other) && hasSameAddress(one, other), report: reportProtocol },
  { isSame: hasSameAddress, report: reportProtocol },
]

const describeProtocol = (item: AgentInterface): string =>
  `${quote(item.protocolBinding)} (A2A ${quote(majorMinor(item.protocolVersion))})`

const describeInterface = (item: AgentInterface): string => `${describeProtocol(item)} at ${describeAddress(item)}`

const describeAddress = ({ url, tenant }: AgentInterface): string =>
  tenant === undefined ? quote(url) : `${quote(url)} for tenant ${quote(tenant)}`

const compareSkills = ({ skills: before }: AgentCard, { skills: after }: AgentCard): FoundChange[] => {
  const findMissing = (skills: AgentSkill[], others: AgentSkill[], rule: FoundChange['rule'], clause: string) => {
    const known = new Set(others.map(({ id }) => id))
    return skills.flatMap(({ id }, index) =>
      changeIf(!known.has(id), rule, formatPointer('skills', index), `skill ${quote(id)} ${clause}`),
    )
  }
  return [
    ...findMissing(before, after, 'skill-removed', 'is removed'),
    ...findMissing(after, before, 'skill-added', 'is new'),
  ]
}

const modeFields = [
  { defaults: 'defaultInputModes', own: 'inputModes', verb: 'accepts' },
  { defaults: 'defaultOutputModes', own: 'outputModes', verb: 'produces' },
] as const

/** Compares the modes of two cards and those that skills have instead. A range that becomes narrower is removed. */
const compareModes = (
  before: AgentCard,
  after: AgentCard,
  { defaults, own, verb }: (typeof modeFields)[number],
): FoundChange[] => {
  const modesOf = (card: AgentCard) => [...card[defaults], ...card.skills.flatMap(skill => skill[own] ?? [])]
  const [all, allBefore] = [modesOf(after), modesOf(before)]
  const [findLost, findGained] = [createModeFinder(allBefore, all), createModeFinder(all, allBefore)]
  const compare = (earlier: string[], later: string[], subject: string, pointer: Pointer): FoundChange[] => {
    const [lost, gained] = [findLost(earlier, later), findGained(later, earlier)]
    return [
      ...changeIf(lost.length > 0, 'mode-removed', pointer, `${subject} no longer ${verb} ${quoteList(lost)}`),
      ...changeIf(gained.length > 0, 'mode-added', pointer, `${subject} now also ${verb} ${quoteList(gained)}`),
    ]
  }
  return [
    ...compare(before[defaults], after[defaults], 'the agent', formatPointer(defaults)),
    ...pairSkills(before, after).flatMap(({ name, pointer, before: earlier, after: later }) => {
      const [old = [], current = []] = [earlier[own], later[own]]
      if (old.length + current.length === 0) return []
      const orDefault = (modes: string[], card: AgentCard) => (modes.length > 0 ? modes : card[defaults])
      return compare(orDefault(old, before), orDefault(current, after), name, `${pointer}/${own}`)
    }),
  ]
}

/** Creates a function that finds the modes that no other covers. Compares each pair once: many skills may have them. */
const createModeFinder = (modes: readonly string[], others: readonly string[]) => {
  const ranges = listRanges(others)
  const findCovering = (range: MediaRange) => ranges.filter(other => covers(other.range, range)).map(({ mode }) => mode)
  const coveredBy = new Map(listRanges(modes).map(({ mode, range }) => [mode, findCovering(range)]))
  return (modes: readonly string[], others: readonly string[]): string[] => {
    const present = new Set(others)
    return [...new Set(modes)].filter(mode => coveredBy.get(mode)?.every(other => !present.has(other)))
  }
}

type MediaRange = ReturnType<typeof parseMediaRange>

const listRanges = (modes: readonly string[]) =>
  [...new Set(modes)].map(mode => ({ mode, range: parseMediaRange(mode) })).filter(({ range }) => !range.excluded)

type Capabilities = AgentCard['capabilities']

const compareFlags = (before: Capabilities, after: Capabilities): FoundChange[] =>
  pairMembers<unknown>(before, after).flatMap(([name, old, current]) => {
    const [had, has, pointer] = [old === true, current === true, formatPointer('capabilities', name)]
    return [
      ...changeIf(had && !has, 'capability-removed', pointer, `the agent no longer has the capability ${quote(name)}`),
      ...changeIf(has && !had, 'capability-added', pointer, `the agent now has the capability ${quote(name)}`),
    ]
  })

type Extensions = NonNullable<Capabilities['extensions']>

const compareExtensions = (before: Extensions = [], after: Extensions = []): FoundChange[] => {
  const earlier = new Map(before.map(extension => [extension.uri, extension]))
  const later = new Set(after.map(({ uri }) => uri))
  const pointerOf = (index: number): Pointer => formatPointer('capabilities', 'extensions', index)
  return [
    ...before.flatMap(({ uri }, index) => {
      const message = `the agent no longer supports the extension ${quote(uri)}`
      return changeIf(!later.has(uri), 'extension-removed', pointerOf(index), message)
    }),
    ...after.flatMap(({ uri, required: isRequired = false, params }, index) => {
      const [previous, pointer, name] = [earlier.get(uri), pointerOf(index), `the extension ${quote(uri)}`]
      const wasRequired = previous?.required === true
      const isChanged = previous !== undefined && !jsonEquals(previous.params, params)
      return [
        ...changeIf(!previous && !isRequired, 'extension-added', pointer, `the agent now also supports ${name}`),
        ...changeIf(isRequired && !wasRequired, 'extension-required', pointer, `the agent now requires ${name}`),
        ...changeIf(wasRequired && !isRequired, 'extension-optional', pointer, `the agent no longer requires ${name}`),
        ...changeIf(isChanged, 'extension-changed', pointer, `${name} has other parameters`),
      ]
    }),
  ]
}

/** The fields that people read, and models that choose between agents and skills. */
const texts = new Set(['name', 'description', 'provider', 'documentationUrl', 'iconUrl', 'tags', 'examples'])

/** Finds the differences besides those `found`, in all parts of the card. */
const compareFields = (before: AgentCard, after: AgentCard, found: readonly FoundChange[]): FoundChange[] => {
  const explained = new Set(found.flatMap(({ pointer }) => ancestorsOf(pointer)))
  const compare = (earlier: JsonObject, later: JsonObject, subject: string, place: Pointer): FoundChange[] =>
    pairMembers(earlier, later).flatMap(([name, old, current]) => {
      const pointer = place + formatPointer(name)
      const isVersion = pointer === '/version'
      const rule = isVersion ? 'version-changed' : texts.has(name) ? 'text-changed' : 'details-changed'
      const isChanged = !explained.has(pointer) && !jsonEquals(old, current)
      return isChanged ? [change(rule, pointer, `${subject} ${describeDifference(name, old, current)}`)] : []
    })
  const inSkills = pairSkills(before, after).flatMap(skill =>
    compare(skill.before as JsonObject, skill.after as JsonObject, skill.name, skill.pointer),
  )
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
  if (!Array.isArray(before) || !Array.isArray(after)) return false
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

const isShort = (value: Json): value is string => typeof value === 'string' && value.length <= MAX_SHOWN_LENGTH
