import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { covers, formatPointer, jsonEquals, parseMediaRange } from '../../json/index.ts'
import type { AgentCard, AgentInterface, AgentSkill } from '../model/index.ts'
import { lineOf, majorMinor, modeMembers, wireVersionOf } from '../model/index.ts'
import { listAncestors, listNames } from '../read/index.ts'
import type { FoundChange, ItemPair, SkillPair } from './change-rules.ts'
import { change, changeIf, findNew, pairExtensions, pairMembers, pairSkills, quote, quoteList } from './change-rules.ts'
import { compareSecurity } from './security.ts'

/** Finds every change between canonical cards. Matches skills by id, schemes by name and extensions by URI. */
export const compareCards = (before: AgentCard, after: AgentCard): FoundChange[] => {
  if (jsonEquals(before as Json, after as Json)) return []
  const skills = pairSkills(before, after)
  const found: FoundChange[] = [
    ...compareInterfaces(before.supportedInterfaces, after.supportedInterfaces),
    ...skills.flatMap(({ before, after, pointer, name }) =>
      after
        ? changeIf(!before, 'skill-added', pointer, `${name} is new`)
        : change('skill-removed', pointer, `${name} is removed`),
    ),
    ...compareModes(before, after, skills),
    ...pairMembers<unknown>(before.capabilities, after.capabilities).flatMap(compareFlag),
    ...pairExtensions(before, after).flatMap(compareExtension),
    ...compareSecurity(before, after, skills),
  ]
  return [...found, ...compareFields(before, after, skills, found)]
}

/** Finds the interfaces that are removed, added, or have another address, version or binding. */
const compareInterfaces = (before: readonly AgentInterface[], after: readonly AgentInterface[]): FoundChange[] => {
  const [removed, added] = [new Map(before.entries()), new Map(after.entries())]
  const pointerOf = (index: number): Pointer => formatPointer('supportedInterfaces', index)
  const matched = interfaceMatches.flatMap(([keyOf, rule]) => {
    const indexes = groupBy([...added.keys()], index => keyOf(after[index] as AgentInterface))
    return [...removed].flatMap(([place, old]) => {
      const index = indexes.get(keyOf(old))?.shift()
      const current = index === undefined ? undefined : after[index]
      if (index === undefined || current === undefined) return []
      removed.delete(place)
      added.delete(index)
      return rule && !isFollowed(old, current)
        ? { rule, message: describeMatch[rule](old, current), pointer: pointerOf(index) }
        : []
    })
  })
  return [
    ...matched,
    ...[...removed].map(([index, item]) =>
      change('interface-removed', pointerOf(index), `the agent no longer offers ${describe(item)}`),
    ),
    ...[...added].map(([index, item]) =>
      change('interface-added', pointerOf(index), `the agent now also offers ${describe(item)}`),
    ),
  ]
}

/** Groups items by a key, as `Map.groupBy` does, which Node 20 lacks. */
const groupBy = <Item>(items: Iterable<Item>, keyOf: (item: Item) => string): Map<string, Item[]> => {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}

/** Returns whether an interface stays where it is, in a version that only adds to its own. */
const isFollowed = (before: AgentInterface, after: AgentInterface): boolean => {
  const [old, current] = [majorMinor(before.protocolVersion), wireVersionOf.get(majorMinor(after.protocolVersion))]
  const isKept = before.protocolBinding === after.protocolBinding && addressKey(before) === addressKey(after)
  return isKept && current !== undefined && lineOf(current).some(each => each === old && each !== current)
}

const protocolKey = ({ protocolBinding, protocolVersion }: AgentInterface): string =>
  JSON.stringify([protocolBinding, majorMinor(protocolVersion)])

const addressKey = ({ url, tenant = '' }: AgentInterface): string => JSON.stringify([url, tenant])

const describeMatch = {
  'interface-moved': (before: AgentInterface, after: AgentInterface) =>
    `the agent moves ${describeProtocol(after)} from ${describeAddress(before)} to ${describeAddress(after)}`,
  'protocol-changed': (before: AgentInterface, after: AgentInterface) =>
    `the agent speaks ${describeProtocol(after)} instead of ${describeProtocol(before)} at ${describeAddress(after)}`,
}

/** The ways in which an interface finds its counterpart in the other card: the first that applies. */
const interfaceMatches: readonly [keyOf: (item: AgentInterface) => string, rule?: keyof typeof describeMatch][] = [
  [item => protocolKey(item) + addressKey(item)],
  [protocolKey, 'interface-moved'],
  [item => item.protocolBinding + addressKey(item), 'protocol-changed'],
  [addressKey, 'protocol-changed'],
]

const describeProtocol = (item: AgentInterface): string =>
  `${quote(item.protocolBinding)} (A2A ${quote(majorMinor(item.protocolVersion))})`

const describe = (item: AgentInterface): string => `${describeProtocol(item)} at ${describeAddress(item)}`

const describeAddress = ({ url, tenant }: AgentInterface): string =>
  tenant === undefined ? quote(url) : `${quote(url)} for tenant ${quote(tenant)}`

/** Compares the modes of two cards and those that skills have instead. A range that becomes narrower is removed. */
const compareModes = (before: AgentCard, after: AgentCard, skills: readonly SkillPair[]): FoundChange[] => {
  const parse = createRangeParser()
  return modeMembers.flatMap(({ direction, defaults, own }) => {
    const verb = direction === 'input' ? 'accepts' : 'produces'
    const compare = (earlier: string[], later: string[], subject: string, pointer: Pointer): FoundChange[] => {
      const [lost, gained] = [findUncovered(earlier, later, parse), findUncovered(later, earlier, parse)]
      return [
        ...changeIf(lost.length > 0, 'mode-removed', pointer, `${subject} no longer ${verb} ${quoteList(lost)}`),
        ...changeIf(gained.length > 0, 'mode-added', pointer, `${subject} now also ${verb} ${quoteList(gained)}`),
      ]
    }
    const modesOf = (card: AgentCard, { [own]: modes = [] }: AgentSkill) => (modes.length > 0 ? modes : card[defaults])
    return [
      ...compare(before[defaults], after[defaults], 'the agent', formatPointer(defaults)),
      ...skills.flatMap(({ name, pointer, before: earlier, after: later }) => {
        if (!earlier || !later || !(earlier[own]?.length || later[own]?.length)) return []
        return compare(modesOf(before, earlier), modesOf(after, later), name, `${pointer}/${own}`)
      }),
    ]
  })
}

type ParseRange = typeof parseMediaRange

/** Returns a function that parses each mode once: skills often have the same. */
const createRangeParser = (): ParseRange => {
  const ranges = new Map<string, ReturnType<ParseRange>>()
  return mode => {
    const range = ranges.get(mode) ?? parseMediaRange(mode)
    ranges.set(mode, range)
    return range
  }
}

/** Returns the modes that no other covers: only one with the same range, or with a wildcard for its type, can. */
const findUncovered = (modes: readonly string[], others: readonly string[], parse: ParseRange): string[] => {
  const unlisted = new Set(findNew(modes, others))
  if (unlisted.size === 0) return []
  const wildcardOf = (range: string) => `${range.split('/', 1)[0]}/*`
  const ranges = others.map(parse).filter(({ excluded }) => !excluded)
  const index = groupBy(ranges, ({ range }) => (range.endsWith('/*') ? wildcardOf(range) : range))
  return [...unlisted].filter(mode => {
    const inner = parse(mode)
    const outer = [inner.range, wildcardOf(inner.range), '*/*'].flatMap(key => index.get(key) ?? [])
    return !inner.excluded && !outer.some(range => covers(range, inner))
  })
}

const compareFlag = ([name, before, after]: [name: string, before: unknown, after: unknown]): FoundChange[] => {
  const [had, has, pointer] = [before === true, after === true, formatPointer('capabilities', name)]
  return [
    ...changeIf(had && !has, 'capability-removed', pointer, `the agent no longer has the capability ${quote(name)}`),
    ...changeIf(has && !had, 'capability-added', pointer, `the agent now has the capability ${quote(name)}`),
  ]
}

type Extension = NonNullable<AgentCard['capabilities']['extensions']>[number]

const compareExtension = ({ before, after, pointer, name }: ItemPair<Extension>): FoundChange[] => {
  if (!after) return [change('extension-removed', pointer, `the agent no longer supports ${name}`)]
  const [wasRequired, isRequired] = [before?.required === true, after.required === true]
  const isChanged = before !== undefined && !jsonEquals(before.params, after.params)
  return [
    ...changeIf(!before && !isRequired, 'extension-added', pointer, `the agent now also supports ${name}`),
    ...changeIf(isRequired && !wasRequired, 'extension-required', pointer, `the agent now requires ${name}`),
    ...changeIf(wasRequired && !isRequired, 'extension-optional', pointer, `the agent no longer requires ${name}`),
    ...changeIf(isChanged, 'extension-changed', pointer, `${name} has other parameters`),
  ]
}

/** The members that people read, and models that choose between agents and skills. */
const texts = new Set(
  (['card', 'skill'] as const).flatMap(kind =>
    listNames(kind, ({ is, presence }) => presence !== undefined && (is === 'text' || is === 'link')),
  ),
)

/** Finds the differences besides those `found`, in all parts of the card. */
const compareFields = (
  before: AgentCard,
  after: AgentCard,
  skills: readonly SkillPair[],
  found: readonly FoundChange[],
): FoundChange[] => {
  const explained = new Set(found.flatMap(({ pointer }) => listAncestors(pointer)))
  const compare = (earlier: JsonObject, later: JsonObject, subject: string, place: Pointer): FoundChange[] =>
    pairMembers(earlier, later).flatMap(([name, old, current]) => {
      if (jsonEquals(old, current)) return []
      const pointer = place + formatPointer(name)
      if (explained.has(pointer)) return []
      const rule = pointer === '/version' ? 'version-changed' : texts.has(name) ? 'text-changed' : 'details-changed'
      return change(rule, pointer, `${subject} ${describeDifference(name, old, current)}`)
    })
  const inSkills = skills.flatMap(({ before, after, name, pointer }) =>
    before && after ? compare(before as JsonObject, after as JsonObject, name, pointer) : [],
  )
  if (inSkills.length > 0) explained.add('/skills')
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

/** Names of this length fit into a message twice. */
const MAX_SHOWN_LENGTH = 60

const isShort = (value: Json): value is string => typeof value === 'string' && value.length <= MAX_SHOWN_LENGTH
