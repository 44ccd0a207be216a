import type { ArtifactLocation, Log, Notification, Result, ToolComponent } from 'sarif'
import { rules } from '../../src/card/lint/index.ts'
import type { Severity } from '../../src/card/model/index.ts'
import { observedRules } from '../../src/conformance/shared.ts'
import { VERSION } from '../../src/version.ts'
import { type Diagnostic, type SkippedFile, skippedText } from '../manifests/index.ts'
import type { LintReport, LintResult } from './lint-text.ts'

const LEVELS = { error: 'error', warning: 'warning', info: 'note' } as const satisfies Record<Severity, string>

/** The rule for files that are rejected before any lint rule runs. */
const INVALID_CARD = {
  id: 'invalid-card',
  severity: 'error',
  summary: 'The file can be read and has a valid card.',
} as const

/** Formats lint results as SARIF 2.1.0, for code scanning. Files that were not read are notifications of the run. */
export const lintSarif = ({ results, skipped }: LintReport): string => {
  const log: Log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: driver() },
        columnKind: 'utf16CodeUnits',
        invocations: [{ executionSuccessful: true, toolExecutionNotifications: skipped.map(toNotification) }],
        results: results.flatMap(toSarifResults),
      },
    ],
  }
  return JSON.stringify(log, null, 2)
}

const driver = (): ToolComponent => ({
  name: 'sync-card',
  version: VERSION,
  informationUri: 'https://a2a-protocol.org/latest/specification/',
  rules: [INVALID_CARD, ...rules, ...observedRules].map(({ id, severity, summary }) => ({
    id,
    shortDescription: { text: summary },
    defaultConfiguration: { level: LEVELS[severity] },
  })),
})

const toNotification = (skipped: SkippedFile): Notification => ({
  level: 'note',
  message: { text: skippedText(skipped) },
  locations: [{ physicalLocation: { artifactLocation: toArtifactLocation(skipped.file) } }],
})

const toArtifactLocation = (file: string): ArtifactLocation => ({
  uri: encodeURI(file.replaceAll('\\', '/')),
  uriBaseId: '%SRCROOT%',
})

const toSarifResults = ({ problems, issues }: LintResult): Result[] => [
  ...problems.map(problem => toSarifResult(problem.rule ?? INVALID_CARD.id, 'error', problem)),
  ...issues.map(({ issue, at }) => toSarifResult(issue.rule, issue.severity, at)),
]

const toSarifResult = (ruleId: string, severity: Severity, diagnostic: Diagnostic): Result => {
  const { file, line, column, pointer, message } = diagnostic
  return {
    ruleId,
    level: LEVELS[severity],
    message: { text: `${pointer} ${message}`.trimStart() },
    locations: [
      {
        physicalLocation: {
          artifactLocation: toArtifactLocation(file),
          region: { startLine: line, startColumn: column },
        },
        logicalLocations: [{ fullyQualifiedName: pointer || '/', kind: 'member' }],
      },
    ],
  }
}
