import { type Document, isAlias, isMap, isScalar, isSeq, type LineCounter, type Node, type YAMLMap } from 'yaml'
import { type Json, type Pointer, parsePointer } from '../../json/index.ts'
import type { Finding } from '../model/index.ts'

/** A position in a file; both numbers start at 1. */
export type Position = { line: number; column: number }

/** A problem of a file. `pointer` is into the document of the file; `rule` is the linter's, if one found it. */
export type Diagnostic = Position & { file: string; pointer: Pointer; message: string; rule?: string }

/** A file, or a part of one, that cannot be sent. `id` is the agent it would be, if that is known. */
export type InvalidFile = { file: string; id?: string; problems: Diagnostic[] }

/** Returns the position of the key of a member, or of the start of an item. */
export type Locator = (pointer: Pointer) => Position | undefined

/** A parsed text: its document, and where each part of it is. */
export type ParsedDocument = { value: Json; locate: Locator }

/** A parsed file. */
export type ParsedFile = ParsedDocument & { file: string; markdown: boolean }

/** Maps a pointer into the manifest that is sent to pointers into the document where that part may be written. */
export type PointerMapping = (pointer: Pointer) => Pointer[]

/** Maps the card of a manifest to any of these pointers, and everything else to itself. */
export const mapCardTo =
  (cardPointers: readonly Pointer[]): PointerMapping =>
  pointer => {
    const inner = pointerInCard(pointer)
    return inner === undefined ? [pointer] : cardPointers.map(root => root + inner)
  }

/** Returns a pointer into the card for a pointer into the manifest; undefined if it is not in the card. */
export const pointerInCard = (pointer: Pointer): Pointer | undefined =>
  /^\/card(?=\/|$)/.test(pointer) ? pointer.slice('/card'.length) : undefined

/** Turns an error with a pointer into the manifest into a diagnostic of the file where that part is written. */
export type SourceMap = ReturnType<typeof createSourceMap>

/** Creates the map of a file and its defaults, the innermost first. Locates a missing part at its nearest ancestor. */
export const createSourceMap = (file: ParsedFile, mapping: PointerMapping, defaults: readonly ParsedFile[]) => {
  type Place = Omit<Diagnostic, 'message'>
  const list = (pointer: Pointer): [ParsedFile, Pointer][] => [
    ...mapping(pointer).map((authored): [ParsedFile, Pointer] => [file, authored]),
    ...defaults.map((inherited): [ParsedFile, Pointer] => [inherited, pointer]),
  ]
  const find = (pointer: Pointer): Place | undefined =>
    list(pointer).flatMap(([source, authored]) => {
      const position = source.locate(authored)
      return position ? [{ file: source.file, ...position, pointer: authored }] : []
    })[0]
  const findAncestor = (pointer: Pointer): Place => {
    for (let end = pointer.lastIndexOf('/'); end > 0; end = pointer.lastIndexOf('/', end - 1)) {
      const found = find(pointer.slice(0, end))
      if (found) return { ...found, pointer: found.pointer + pointer.slice(end) }
    }
    const [root = ''] = mapping('')
    const start = (root && file.locate(root)) || { line: 1, column: 1 }
    return { file: file.file, ...start, pointer: list(pointer)[0]?.[1] ?? pointer }
  }
  const locateError = ({ pointer, message }: Finding): Diagnostic => ({
    ...(find(pointer) ?? findAncestor(pointer)),
    message,
  })
  return { locateError }
}

/** Creates the locator of a YAML or JSON document. */
export const createLocator =
  (document: Document, lines: LineCounter): Locator =>
  pointer => {
    let step: Step | undefined = { offset: offsetOf(document.contents), value: document.contents }
    for (const token of parsePointer(pointer)) step = step && descend(document, step.value, token)
    return step && toPosition(step.offset, lines)
  }

/** Returns the position of an offset in a text. */
export const toPosition = (offset: number, lines: LineCounter): Position => {
  const { line, col } = lines.linePos(offset)
  return { line, column: col }
}

type Step = { offset: number; value: unknown }

const descend = (document: Document, reference: unknown, token: string): Step | undefined => {
  const node = isAlias(reference) ? reference.resolve(document) : reference
  if (isMap(node)) {
    const pair = node.items.find(item => isScalar(item.key) && String(item.key.value) === token)
    return pair ? { offset: offsetOf(pair.key), value: pair.value } : descendMerged(document, node, token)
  }
  const item: unknown = isSeq(node) && /^\d+$/.test(token) ? node.items[Number(token)] : undefined
  return item === undefined ? undefined : { offset: offsetOf(item), value: item }
}

/** Finds a member that a merge key (`<<`) adds, in the map where it is written. */
const descendMerged = (document: Document, node: YAMLMap, token: string): Step | undefined => {
  for (const { key, value } of node.items)
    if (isScalar(key) && typeof key.value === 'symbol')
      for (const source of isSeq(value) ? value.items : [value]) {
        const step = descend(document, source, token)
        if (step) return step
      }
  return undefined
}

/** Returns where a node starts in the text. */
export const offsetOf = (node: unknown): number => (node as Partial<Node> | null)?.range?.[0] ?? 0
