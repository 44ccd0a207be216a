import { rules } from '../../src/card/lint/index.ts'
import type { Severity } from '../../src/card/model/report.ts'
import type { Problem } from '../files/problem.ts'
import type { Reading } from './reading.ts'

const levels = { error: 'error', warning: 'warning', info: 'note' } as const satisfies Record<Severity, string>

/** The rule of documents that are refused before any rule is asked. */
const invalidCard = {
  id: 'invalid-card',
  severity: 'error',
  summary: 'The file can be read, and holds a sound card.',
} as const

/** What `lint` found as SARIF 2.1.0, for code scanning. */
export const lintSarif = (readings: readonly Reading[]): string =>
  JSON.stringify(
    {
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [{ tool: { driver: driver() }, columnKind: 'utf16CodeUnits', results: readings.flatMap(resultsOf) }],
    },
    null,
    2,
  )

const driver = () => ({
  name: 'sync-card',
  informationUri: 'https://a2a-protocol.org/latest/specification/',
  rules: [invalidCard, ...rules].map(({ id, severity, summary }) => ({
    id,
    shortDescription: { text: summary },
    defaultConfiguration: { level: levels[severity] },
  })),
})

const resultsOf = ({ problems, findings }: Reading) => [
  ...problems.map(problem => result(invalidCard.id, 'error', problem)),
  ...findings.map(({ issue, at }) => result(issue.rule, issue.severity, at)),
]

const result = (ruleId: string, severity: Severity, { file, line, column, pointer, message }: Problem) => ({
  ruleId,
  level: levels[severity],
  message: { text: `${pointer} ${message}`.trimStart() },
  locations: [
    {
      physicalLocation: {
        artifactLocation: { uri: encodeURI(file.replaceAll('\\', '/')), uriBaseId: '%SRCROOT%' },
        region: { startLine: line, startColumn: column },
      },
      logicalLocations: [{ fullyQualifiedName: pointer || '/', kind: 'member' }],
    },
  ],
})
