import type { Pointer } from '../../json/index.ts'
import type { AgentCard, AgentSkill } from '../model/index.ts'
import { quote } from './change-rules.ts'

type Pair<Key, Value> = [key: Key, before: Value | undefined, after: Value | undefined]

/** Pairs the values of two maps by their keys: the earlier ones, then those that are new. */
export const pairValues = <Key, Value>(before: ReadonlyMap<Key, Value>, after: ReadonlyMap<Key, Value>) => [
  ...[...before].map(([key, value]): Pair<Key, Value> => [key, value, after.get(key)]),
  ...[...after].flatMap(([key, value]): Pair<Key, Value>[] => (before.has(key) ? [] : [[key, undefined, value]])),
]

/** Returns every name that one of two objects has, with its value in each. */
export const pairMembers = <Value>(
  before: Readonly<Record<string, Value>> = {},
  after: Readonly<Record<string, Value>> = {},
) => pairValues(new Map(Object.entries(before)), new Map(Object.entries(after)))

/** An item of one or both of two lists: its name in messages, and its place in the later list, else in the earlier. */
export type ItemPair<Item> = { name: string; pointer: Pointer; before: Item | undefined; after: Item | undefined }
/** A skill of one or both of two cards. */
export type SkillPair = ItemPair<AgentSkill>

/** Pairs the items of two lists by a member: those that are removed, then the later ones. */
const pairItems = <Key extends string, Item extends Record<Key, string>>(
  [before = [], after = []]: readonly [Item[] | undefined, Item[] | undefined],
  key: Key,
  describe: (key: string, index: number) => { name: string; pointer: Pointer },
): ItemPair<Item>[] => {
  const earlier = new Map(before.map(item => [item[key], item]))
  const later = new Set(after.map(item => item[key]))
  const removed = before.map((item, index) => ({ ...describe(item[key], index), before: item, after: undefined }))
  return [
    ...removed.filter(({ before }) => !later.has(before[key])),
    ...after.map((item, index) => ({ ...describe(item[key], index), before: earlier.get(item[key]), after: item })),
  ]
}

/** Pairs the skills of two cards by their ids. */
export const pairSkills = ({ skills: before }: AgentCard, { skills: after }: AgentCard): SkillPair[] =>
  pairItems([before, after], 'id', (id, index) => ({ name: `skill ${quote(id)}`, pointer: `/skills/${index}` }))

/** Pairs the extensions of two cards by their URIs. */
export const pairExtensions = ({ capabilities: before }: AgentCard, { capabilities: after }: AgentCard) =>
  pairItems([before.extensions, after.extensions], 'uri', (uri, index) => ({
    name: `the extension ${quote(uri)}`,
    pointer: `/capabilities/extensions/${index}`,
  }))

/** Returns the items of a list whose key none of another list has. */
export const findNew = <Item>(
  items: readonly Item[],
  others: readonly Item[],
  keyOf: (item: Item) => unknown = item => item,
): Item[] => {
  const known = new Set(others.map(keyOf))
  return items.filter(item => !known.has(keyOf(item)))
}
