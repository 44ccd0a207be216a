import colors from 'picocolors'
import type { Report } from '../../src/card/model/report.ts'
import { distinct, issueText, problemText } from './findings-text.ts'
import type { Reading } from './reading.ts'

/** What `lint` found, for people: first what is wrong, then what the host does to the card. */
export const lintText = (readings: readonly Reading[]): string =>
  readings
    .flatMap(({ file, problems, findings, report }) => [
      colors.bold(file) + (report ? colors.dim(` ${report.dialect}`) : ''),
      ...[
        ...distinct([...problems.map(problemText), ...findings.map(({ issue, at }) => issueText(issue, at))]),
        ...(report ? done(report) : []),
      ].map(line => `  ${line}`),
    ])
    .concat(sum(readings))
    .join('\n')

const done = ({ filled, converted, dropped }: Report): string[] =>
  [
    ...filled.map(({ pointer, message }) => `filled ${pointer} ${message}`),
    ...converted.map(({ pointer, message }) => `converted ${pointer} ${message}`),
    ...Object.entries(dropped).map(([dialect, places]) => `not in ${dialect}: ${places.join(' ')}`),
  ].map(colors.dim)

const sum = (readings: readonly Reading[]): string => {
  const issues = readings.flatMap(reading => reading.findings.map(({ issue }) => issue.severity))
  const count = (severity: string) => issues.filter(found => found === severity).length
  const bad = readings.filter(reading => reading.problems.length > 0).length
  return `${readings.length} files: ${bad} bad, ${count('error')} errors, ${count('warning')} warnings, ${count('info')} infos`
}
