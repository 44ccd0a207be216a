import { observedRules } from '../../src/card/diff/observed.ts'
import { rules } from '../../src/card/lint/index.ts'
import type { Severity } from '../../src/card/model/report.ts'
import type { Diagnostic } from '../manifests/index.ts'
import type { LintResult } from './lint-text.ts'

const LEVELS = { error: 'error', warning: 'warning', info: 'note' } as const satisfies Record<Severity, string>

/** The rule for files that are rejected before any lint rule runs. */
const INVALID_CARD = {
  id: 'invalid-card',
  severity: 'error',
  summary: 'The file can be read and has a valid card.',
} as const

/** Formats lint results as SARIF 2.1.0, for code scanning. */
export const lintSarif = (results: readonly LintResult[]): string =>
  JSON.stringify(
    {
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [{ tool: { driver: driver() }, columnKind: 'utf16CodeUnits', results: results.flatMap(toSarifResults) }],
    },
    null,
    2,
  )

const driver = () => ({
  name: 'sync-card',
  informationUri: 'https://a2a-protocol.org/latest/specification/',
  rules: [INVALID_CARD, ...rules, ...observedRules].map(({ id, severity, summary }) => ({
    id,
    shortDescription: { text: summary },
    defaultConfiguration: { level: LEVELS[severity] },
  })),
})

const toSarifResults = ({ problems, issues }: LintResult) => [
  ...problems.map(problem => toSarifResult(problem.rule ?? INVALID_CARD.id, 'error', problem)),
  ...issues.map(({ issue, at }) => toSarifResult(issue.rule, issue.severity, at)),
]

const toSarifResult = (ruleId: string, severity: Severity, diagnostic: Diagnostic) => {
  const { file, line, column, pointer, message } = diagnostic
  return {
    ruleId,
    level: LEVELS[severity],
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
  }
}
