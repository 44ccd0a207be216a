import { type Document, isAlias, isMap, isScalar, isSeq, type LineCounter, type Node, type YAMLMap } from 'yaml'
import { type Pointer, parsePointer } from '../../src/json/json.ts'
import type { Position } from './problem.ts'

/** Finds where a JSON Pointer stands in the text of a YAML or JSON document: the key of a member, the start of an item. */
export const locator =
  (document: Document, lines: LineCounter) =>
  (place: Pointer): Position | undefined => {
    let node: unknown = document.contents
    let offset = (document.contents as Node | null)?.range?.[0] ?? 0
    for (const token of parsePointer(place)) {
      const step = into(document, node, token)
      if (step === undefined) return undefined
      offset = step.offset
      node = step.value
    }
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }

type Step = { offset: number; value: unknown }

const into = (document: Document, reference: unknown, token: string): Step | undefined => {
  const node = isAlias(reference) ? reference.resolve(document) : reference
  if (isMap(node)) {
    const pair = node.items.find(item => isScalar(item.key) && String(item.key.value) === token)
    return pair ? { offset: (pair.key as Node).range?.[0] ?? 0, value: pair.value } : merged(document, node, token)
  }
  const item: unknown = isSeq(node) && /^\d+$/.test(token) ? node.items[Number(token)] : undefined
  return item === undefined ? undefined : { offset: (item as Node).range?.[0] ?? 0, value: item }
}

/** A member that a merge key (`<<`) brings stands where it was written. */
const merged = (document: Document, node: YAMLMap, token: string): Step | undefined => {
  for (const { key, value } of node.items)
    if (isScalar(key) && typeof key.value === 'symbol')
      for (const source of isSeq(value) ? value.items : [value]) {
        const step = into(document, source, token)
        if (step) return step
      }
  return undefined
}
