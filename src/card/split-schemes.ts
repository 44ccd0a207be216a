/** More alternatives than this, in all of a card, would tell a person nothing, and be a way to make a host work. */
const mostAlternatives = 256

/** The security schemes of a card that were split, because v1.0 allows each one OAuth flow only. */
export class SplitSchemes {
  readonly #parts = new Map<string, readonly string[]>()
  #left = mostAlternatives

  /** Says that a scheme was split into schemes of these names, the first of which is its own. */
  add(name: string, parts: readonly string[]): void {
    this.#parts.set(name, parts)
  }

  /** The names to choose from for each scheme of one requirement; where there were too many combinations, `cut`. */
  choices(names: readonly string[]): { parts: (readonly string[])[]; count: number; cut: boolean } {
    let count = 1
    let cut = false
    const parts = names.map(name => {
      const all = this.#parts.get(name) ?? [name]
      const fits = all.length === 1 || count * all.length * names.length <= this.#left
      cut ||= !fits
      if (fits) count *= all.length
      return fits ? all : all.slice(0, 1)
    })
    if (count > 1) this.#left -= count * names.length
    return { parts, count, cut }
  }
}
