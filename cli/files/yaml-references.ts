import {
  type Alias,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  visit,
} from 'yaml'

/** What is wrong with a YAML document, and at which offset of its text. */
export type Flaw = { offset: number; message: string }

/** How often aliases may repeat what they name. */
export const mostRepeats = 100

/**
 * What makes no card of a document that is sound YAML: aliases without an anchor or within their own, merge keys without a map,
 * and keys that are no text. `excess` is where its aliases have repeated too much, should they.
 */
export const checkReferences = (document: Document): { flaws: Flaw[]; excess: number } => {
  const references = new References()
  visit(document, {
    Value: (_, node) => references.anchor(node),
    Alias: (_, alias, path) => references.alias(alias, path),
    Pair: (_, pair) => references.pair(pair),
  })
  return references
}

const offsetOf = (node: unknown): number => (node as Partial<Node> | null)?.range?.[0] ?? 0

/** Follows a document from its beginning, as an anchor holds for what comes after it, until there is another of its name. */
class References {
  readonly flaws: Flaw[] = []
  excess = 0
  #repeats = 0
  readonly #anchors = new Map<string, Node>()
  /** How many values an anchored node stands for, as far as it was read: one, and those of the aliases in it. */
  readonly #weights = new Map<unknown, number>()

  anchor(node: Node & { anchor?: string }): void {
    if (node.anchor === undefined) return
    this.#anchors.set(node.anchor, node)
    this.#weights.set(node, 1)
  }

  alias(alias: Alias, path: readonly unknown[]): void {
    const { source } = alias
    const named = this.#anchors.get(source)
    if (named === undefined) this.#refuse(alias, `No anchor &${source} stands before *${source}.`)
    else if (path.includes(named))
      this.#refuse(alias, `*${source} stands in &${source} itself: no card can hold itself.`)
    else this.#repeat(alias, this.#weights.get(named) ?? 1, path)
  }

  pair({ key, value }: Pair): void {
    if (isCollection(this.#named(key))) this.#refuse(key, 'A key must be text.')
    if (!isScalar(key) || typeof key.value !== 'symbol') return
    const merged = this.#named(value)
    const maps = isSeq(merged) ? merged.items.map(item => this.#named(item)) : [merged]
    // An alias of what stands in the same list is not known yet, and one of nothing is told as such.
    if (!maps.every(map => isMap(map) || isAlias(map)))
      this.#refuse(key, 'What goes after << is a map, or a list of maps.')
  }

  #named(node: unknown): unknown {
    return isAlias(node) ? (this.#anchors.get(node.source) ?? node) : node
  }

  #repeat(alias: Alias, weight: number, path: readonly unknown[]): void {
    for (const node of path) {
      const before = this.#weights.get(node)
      if (before !== undefined) this.#weights.set(node, before + weight)
    }
    if (this.#repeats <= mostRepeats) this.excess = offsetOf(alias)
    this.#repeats += weight
  }

  #refuse(node: unknown, message: string): void {
    this.flaws.push({ offset: offsetOf(node), message })
  }
}
