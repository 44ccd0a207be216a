/** The longest text that is matched against a schema's patterns, in characters. */
export const longestMatched = 256

/** A part of a pattern: how many ways there are through it, at most. */
type Group = { ways: number; alternatives: number }

/**
 * How many steps a regular expression may take with a text of that length, at most, roughly: the choices that it has are
 * multiplied. Infinity where that cannot be told so easily: for what repeats a group, or refers back to one.
 */
export const patternCost = (pattern: string): number => {
  const open: Group[] = [{ ways: 1, alternatives: 1 }]
  // A pattern that may begin anywhere is tried everywhere.
  let cost = pattern.startsWith('^') ? 1 : longestMatched
  let last: Group | undefined
  for (const [token, quantifier] of pattern.matchAll(tokens)) {
    const group = open.at(-1)
    if (group === undefined || /^\\[1-9k]/.test(token)) return Number.POSITIVE_INFINITY
    if (token.startsWith('(')) open.push({ ways: 1, alternatives: 1 })
    else if (token === '|') group.alternatives++
    else if (token === ')') {
      last = open.pop()
      const outer = open.at(-1)
      if (last === undefined || outer === undefined) return Number.POSITIVE_INFINITY
      outer.ways *= last.ways * last.alternatives
      continue
    } else if (quantifier !== undefined) {
      const { least, lengths } = repetition(quantifier)
      if (last !== undefined && lengths > 2) return Number.POSITIVE_INFINITY
      group.ways *= lengths * (last ? (last.ways * last.alternatives) ** Math.max(least + lengths - 2, 0) : 1)
    }
    last = undefined
  }
  cost *= open.reduce((ways, group) => ways * group.ways * group.alternatives, 1)
  return open.length === 1 ? cost : Number.POSITIVE_INFINITY
}

/** An escape, a class of characters, the beginning of a group, a quantifier, or a character. */
const tokens =
  /\\(?:u\{[^}]*\}|[pP]\{[^}]*\}|.)|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?|([*+?]|\{\d*,?\d*\})\??|./gsu

/** How often at least, and among how many lengths, a quantifier repeats. */
const repetition = (quantifier: string): { least: number; lengths: number } => {
  if (quantifier === '?') return { least: 0, lengths: 2 }
  const [, least, comma, most] = /^\{(\d*)(,?)(\d*)\}$/.exec(quantifier) ?? []
  if (least === undefined || (comma === ',' && most === ''))
    return { least: Number(least ?? 0), lengths: longestMatched }
  return { least: Number(least), lengths: comma === '' ? 1 : Number(most) - Number(least) + 1 }
}
