/** Whether all combinations are tested, and many more generated cards: `npm run test:nightly`. */
export const isNightly = process.env.NIGHTLY !== undefined

/**
 * Combines values of several axes, such as versions and bindings, into rows that have each pair of values at least once: most
 * faults depend on two values at most. A nightly run has all combinations.
 */
export const combine = <const Axes extends readonly (readonly unknown[])[]>(...axes: Axes): Row<Axes>[] => {
  const rows = axes.reduce<unknown[][]>((rows, axis) => rows.flatMap(row => axis.map(value => [...row, value])), [[]])
  if (isNightly) return rows as Row<Axes>[]
  const missing = new Set(rows.flatMap(pairsOf))
  const chosen: unknown[][] = []
  // Rows with many missing pairs first.
  for (let most = (axes.length * (axes.length - 1)) / 2; most > 0; most--)
    for (const row of rows) {
      const added = pairsOf(row).filter(pair => missing.has(pair))
      if (added.length < most) continue
      chosen.push(row)
      for (const pair of added) missing.delete(pair)
    }
  return chosen as Row<Axes>[]
}

type Row<Axes extends readonly (readonly unknown[])[]> = { -readonly [Axis in keyof Axes]: Axes[Axis][number] }

const pairsOf = (row: readonly unknown[]): string[] =>
  row.flatMap((value, axis) =>
    row.slice(axis + 1).map((other, offset) => JSON.stringify([axis, value, axis + 1 + offset, other])),
  )
