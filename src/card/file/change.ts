import { isMap, isPair, isScalar, isSeq, type Node, parse, parseDocument, stringify, type YAMLMap } from 'yaml'
import { formatPointer, type Json, type Pointer, parsePointer } from '../../json/index.ts'
import type { PatchOperation } from '../model/index.ts'
import { offsetOf } from './source-map.ts'

/**
 * Applies a change to the text of a card or manifest, in which everything else stays as it is written. To add a member
 * adds the objects around it, too. Returns undefined where that cannot be done, such as in what an alias repeats.
 */
export const applyChange = (text: string, { op, path, from, value = null }: PatchOperation): string | undefined => {
  // Of a text with front matter, this is the first document.
  const { contents } = parseDocument(text, { merge: true, uniqueKeys: false })
  const place = find(contents, op === 'move' ? from : path)
  if (op !== 'move') {
    if (op === 'remove') return place && removeMember(text, place)
    if (place) return replaceValue(text, place, value)
    return op === 'add' ? addMember(text, contents, parsePointer(path), value) : undefined
  }
  if (!place?.pair || find(contents, path)) return undefined
  const { key, value: node } = place.pair
  const name = parsePointer(path).at(-1) ?? ''
  if (find(contents, path.slice(0, path.lastIndexOf('/')))?.node === place.parent)
    return splice(text, [offsetOf(key), endOf(key)], write(name, /^["']/.test(text.slice(offsetOf(key)))))
  const removed = removeMember(text, place)
  const moved: Json = JSON.parse(JSON.stringify(node?.toJSON() ?? null))
  return removed && applyChange(removed, { op: 'add', path, value: moved })
}

type ObjectNode = YAMLMap<Node, Node | null>
type Member = ObjectNode['items'][number]

/** A node of a text, and the member that it is the value of, if it is one. */
type Place = { parent: Node | null; node: Node | null; pair?: Member }

const find = (contents: Node | null, pointer: Pointer = ''): Place | undefined =>
  parsePointer(pointer).reduce<Place | undefined>(
    (place, token) => {
      const parent = place?.node ?? null
      if (isSeq<Node>(parent)) return { parent, node: parent.items[Number(token)] ?? null }
      if (!isMap<Node, Node | null>(parent)) return undefined
      const pair = parent.items.find(({ key }) => isScalar(key) && String(key.value) === token)
      return pair && { parent, pair, node: pair.value }
    },
    { parent: null, node: contents },
  )

const splice = (text: string, [start, end]: readonly [number, number], inserted: string): string =>
  text.slice(0, start) + inserted + text.slice(end)

/** Writes a value as JSON on one line, which YAML includes. In YAML, a word needs no quotes. */
const write = (value: Json, isQuoted: boolean): string =>
  typeof value === 'string' && !isQuoted && /^[a-z][\w-]*$/i.test(value) && parse(value) === value
    ? value
    : JSON.stringify(value, null, 1).replace(/\n */g, ' ')

/** Returns where a node ends, without the comments and empty lines after it. */
const endOf = (node: Node | Member | null | undefined): number => {
  if (isPair(node)) return endOf(node.value ?? node.key)
  const last = (isMap(node) || isSeq(node)) && !node.flow ? node.items.at(-1) : undefined
  return last ? endOf(last as Node | Member) : (node?.range?.[1] ?? 0)
}

const replaceValue = (text: string, { parent, node }: Place, value: Json): string | undefined => {
  if (!node?.range || node.anchor !== undefined) return undefined
  const [start] = node.range
  const isQuoted = isFlow(parent) || /^["']/.test(text.slice(start))
  const end = endOf(node)
  const space = text[start - 1] === ':' ? ' ' : ''
  // A text in several lines ends with one of them.
  return splice(text, [start, end - (text[end - 1] === '\n' ? 1 : 0)], space + write(value, isQuoted))
}

const isFlow = (node: Node | null): boolean => (isMap(node) || isSeq(node)) && node.flow === true

/** Returns the white space before an offset, if there is nothing else in its line. */
const indentAt = (text: string, offset: number): string | undefined =>
  /(?:^|\n)([ \t]*)$/.exec(text.slice(0, offset))?.[1]

/** Returns where the line ends that an offset is in or after. */
const endOfLine = (text: string, offset: number): number => {
  if (text[offset - 1] === '\n') return offset
  const end = text.indexOf('\n', offset)
  return end < 0 ? text.length : end + 1
}

const removeMember = (text: string, { parent, pair }: Place): string | undefined => {
  if (!pair || !isMap<Node, Node | null>(parent) || parent.items.length === 1) return undefined
  const index = parent.items.indexOf(pair)
  const start = offsetOf(pair.key)
  const next = parent.items[index + 1]
  const indent = indentAt(text, start)
  if (!parent.flow && indent !== undefined)
    return splice(text, [start - indent.length, endOfLine(text, endOf(pair))], '')
  return splice(text, next ? [start, offsetOf(next.key)] : [endOf(parent.items[index - 1]), endOf(pair)], '')
}

/** Adds a member to the innermost object that exists, after its other members. */
const addMember = (text: string, contents: Node | null, path: readonly string[], value: Json): string | undefined => {
  const [name = '', ...outer] = path.toReversed()
  const { node: parent } = find(contents, formatPointer(...outer.toReversed())) ?? {}
  if (!parent) return outer.length === 0 ? undefined : addMember(text, contents, outer.toReversed(), { [name]: value })
  if (!isMap<Node, Node | null>(parent) || parent.anchor !== undefined) return undefined
  const last = parent.items.at(-1)
  const key = JSON.stringify(name)
  if (!last) return splice(text, [offsetOf(parent), endOf(parent)], `{ ${key}: ${write(value, true)} }`)
  const end = endOf(last)
  const indent = indentAt(text, offsetOf(last.key))
  if (!parent.flow) {
    const column = offsetOf(last.key) - text.lastIndexOf('\n', offsetOf(last.key)) - 1
    const lines = stringify({ [name]: value }, { lineWidth: 0 }).replace(/^(?=.)/gm, ' '.repeat(column))
    const at = endOfLine(text, end)
    return splice(text, [at, at], text[at - 1] === '\n' ? lines : `\n${lines}`)
  }
  const written = indent === undefined ? write(value, true) : JSON.stringify(value, null, 2)
  const separator = indent === undefined ? ' ' : `\n${indent}`
  return splice(text, [end, end], `,${separator}${key}: ${written.replaceAll('\n', separator)}`)
}
