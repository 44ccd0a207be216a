import { formatTable as alignColumns } from '../cli/terminal.ts'
import type { Figure, Interval } from './stats.ts'

/** Formats figures as a table, with their notes below it. */
export const formatTable = (figures: readonly Figure[]): string => {
  const head = ['', 'median', '95% interval', 'by CPU time', 'per second', 'busy', 'bound', 'verdict']
  const rows = figures.map(({ name, unit, value, cpu, rate, busy, bound, verdict }) => [
    name,
    formatNumber(value.median, unit),
    value.low === value.high ? '' : formatRange(value, unit),
    cpu ? `${formatNumber(cpu.median, 'ratio')}  ${formatRange(cpu, 'ratio')}` : '',
    rate === undefined ? '' : Math.round(rate).toLocaleString('en'),
    busy === undefined ? '' : `${Math.round(busy * 100)}%`,
    bound === undefined
      ? ''
      : 'min' in bound
        ? `≥ ${formatNumber(bound.min, unit)}`
        : `≤ ${formatNumber(bound.max, unit)}`,
    verdict ?? '',
  ])
  const notes = figures.flatMap(({ name, note }) => (note === undefined ? [] : [`${name}: ${note}.`]))
  return [...alignColumns([head, ...rows]), ...notes].join('\n')
}

const formatNumber = (value: number, unit: Figure['unit']): string => {
  if (unit === 'bytes') return `${Math.round(value).toLocaleString('en')} bytes`
  return unit === 'ms' ? `${value.toFixed(2)} ms` : value.toFixed(3)
}

const formatRange = ({ low, high }: Interval, unit: Figure['unit']): string =>
  `${formatNumber(low, unit)} … ${formatNumber(high, unit)}`
