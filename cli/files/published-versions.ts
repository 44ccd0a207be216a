import { type Document, isAlias, isScalar, type Node, Scalar, visit } from 'yaml'

/** The members of a card that are versions: text, although YAML takes `1.10` for the number 1.1. */
const versionNames = ['version', 'protocolVersion', 'protocol_version']

/** Gives the versions of a document back as they were written, wherever in it they stand, where YAML made numbers of them. */
export const keepVersions = (document: Document): void => {
  const written = (node: unknown): string | undefined => {
    const scalar = isAlias(node) ? node.resolve(document) : node
    return isScalar(scalar) && typeof scalar.value === 'number' ? scalar.source : undefined
  }
  visit(document, {
    Pair: (_, pair) => {
      const text = isScalar(pair.key) && versionNames.includes(String(pair.key.value)) ? written(pair.value) : undefined
      // A scalar of its own: an anchor's number is elsewhere a number still.
      if (text !== undefined) pair.value = placed(new Scalar(text), pair.value as Node)
    },
  })
}

const placed = (scalar: Scalar, { range, ...node }: Node & { anchor?: string }): Scalar => {
  if (range) scalar.range = range
  if (node.anchor !== undefined) scalar.anchor = node.anchor
  return scalar
}
