import Table from 'cli-table3'
import type { Figure } from './figure.ts'
import type { Interval } from './interval.ts'

/** The figures as a table for people. */
export const table = (figures: readonly Figure[]): string => {
  const head = ['', 'figure', '95% interval', 'by CPU time', 'a second', 'busy', 'bound', 'verdict']
  const rows = new Table({ head, style: { head: [], border: [] } })
  for (const figure of figures)
    rows.push([
      figure.name,
      number(figure.value.median, figure.unit),
      figure.value.low === figure.value.high ? '' : range(figure.value, figure.unit),
      figure.cpu ? `${number(figure.cpu.median, 'ratio')}  ${range(figure.cpu, 'ratio')}` : '',
      figure.rate === undefined ? '' : Math.round(figure.rate).toLocaleString('en'),
      figure.busy === undefined ? '' : `${Math.round(figure.busy * 100)}%`,
      boundText(figure),
      figure.verdict ?? '',
    ])
  const notes = figures.flatMap(({ name, note }) => (note === undefined ? [] : [`${name}: ${note}.`]))
  return [rows.toString(), ...notes].join('\n')
}

const number = (value: number, unit: Figure['unit']): string =>
  unit === 'ratio' ? value.toFixed(3) : unit === 'ms' ? `${value.toFixed(2)} ms` : `${value.toLocaleString('en')} bytes`

const range = ({ low, high }: Interval, unit: Figure['unit']): string => `${number(low, unit)} … ${number(high, unit)}`

const boundText = ({ bound, unit }: Figure): string => {
  if (!bound) return ''
  return 'least' in bound ? `≥ ${number(bound.least, unit)}` : `≤ ${number(bound.most, unit)}`
}
