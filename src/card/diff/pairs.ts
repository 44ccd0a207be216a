import type { Pointer } from '../../json/index.ts'
import type { AgentCard } from '../model/index.ts'
import { quote } from './change-rules.ts'

/** Pairs the values of two maps by their keys: the earlier ones, then those that are new. */
export const pairValues = <Key, Value>(
  before: ReadonlyMap<Key, Value>,
  after: ReadonlyMap<Key, Value>,
): [key: Key, before: Value | undefined, after: Value | undefined][] =>
  [...new Set([...before.keys(), ...after.keys()])].map(key => [key, before.get(key), after.get(key)])

/** Returns every name that one of two objects has, with its value in each. */
export const pairMembers = <Value>(
  before: Readonly<Record<string, Value>> = {},
  after: Readonly<Record<string, Value>> = {},
) => pairValues(new Map(Object.entries(before)), new Map(Object.entries(after)))

/** An item of one or both of two lists: its name in messages, and its place in the later list, else in the earlier. */
export type ItemPair<Item> = { name: string; pointer: Pointer; before: Item | undefined; after: Item | undefined }

/** Pairs the items of two lists by a member: those that are removed, then the later ones. */
const pairItems = <Key extends string, Item extends Record<Key, string>>(
  [before = [], after = []]: readonly [Item[] | undefined, Item[] | undefined],
  key: Key,
  noun: string,
  place: Pointer,
): ItemPair<Item>[] => {
  const earlier = new Map(before.map(item => [item[key], item]))
  const later = new Set(after.map(item => item[key]))
  const pair = (item: Item, index: number, before: Item | undefined, after: Item | undefined) => ({
    name: `${noun} ${quote(item[key])}`,
    pointer: `${place}/${index}`,
    before,
    after,
  })
  return [
    ...before.flatMap((item, index) => (later.has(item[key]) ? [] : [pair(item, index, item, undefined)])),
    ...after.map((item, index) => pair(item, index, earlier.get(item[key]), item)),
  ]
}

/** Pairs the skills of two cards by their ids. */
export const pairSkills = ({ skills: before }: AgentCard, { skills: after }: AgentCard) =>
  pairItems([before, after], 'id', 'skill', '/skills')

/** Pairs the extensions of two cards by their URIs. */
export const pairExtensions = ({ capabilities: before }: AgentCard, { capabilities: after }: AgentCard) =>
  pairItems([before.extensions, after.extensions], 'uri', 'the extension', '/capabilities/extensions')

/** Returns the items of a list whose key none of another list has. */
export const findNew = <Item>(
  items: readonly Item[],
  others: readonly Item[],
  keyOf: (item: Item) => unknown = item => item,
): Item[] => {
  const known = new Set(others.map(keyOf))
  return items.filter(item => !known.has(keyOf(item)))
}
