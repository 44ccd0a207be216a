import Table from 'cli-table3'

/** Rows in columns, two spaces apart, and nothing else. */
export const bareTable = (rows: readonly (readonly string[])[], head: readonly string[] = []): string => {
  const table = new Table({ ...bare, head: [...head] })
  for (const row of rows) table.push([...row])
  return table.toString().replace(/ +$/gm, '')
}

const bare = {
  chars: Object.fromEntries(
    ['top', 'bottom', 'left', 'right', 'mid']
      .flatMap(side => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
      .concat('mid-mid', 'middle')
      .map(place => [place, place === 'middle' ? '  ' : '']),
  ),
  style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
}
