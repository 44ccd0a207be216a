import pMap from 'p-map'
import type { ArtifactLocation, Result, Run } from 'sarif'
import type { Diagnostic, InvalidFile } from '../../../src/card/file/index.ts'
import { rules } from '../../../src/card/lint/index.ts'
import { hiddenByDefault } from '../../../src/card/manifest/index.ts'
import type { Issue, Report, Severity } from '../../../src/card/model/index.ts'
import { observedRules } from '../../../src/conformance/shared.ts'
import { VERSION } from '../../../src/version.ts'
import type { HostClient, ResponseOf } from '../../client/index.ts'
import type { Context } from '../../context.ts'
import { ExitCode, onRejection, UsageError } from '../../errors.ts'
import { localUrl } from '../../hosts/index.ts'
import type { CardFiles, Draft, LocatedIssue } from '../../manifests/index.ts'
import { defaultToCardsFolder, locateInCard, locateIssues, skippedText } from '../../manifests/index.ts'
import {
  type AddCommand,
  addConnectionOptions,
  addFileOptions,
  addOnlyOption,
  choiceOption,
  connect,
  type FileFlags,
  type HostFlags,
  readFiles,
  STRICT_HELP,
} from '../../options.ts'
import { distinct, INFOS_HINT, issueText, problemText, selectFiles } from '../../sync/index.ts'
import { colors, formatCount } from '../../terminal.ts'

type Flags = HostFlags &
  FileFlags & { format: 'text' | keyof typeof FORMATS; observed?: true; strict?: true; quiet?: true; only?: string[] }

/** Adds `lint`, which reports on files as the host would; only with `--observed`, it asks a host. */
export const addLint: AddCommand = (program, context, exit) => {
  const formats = ['text', ...Object.keys(FORMATS)]
  addConnectionOptions(addOnlyOption(addFileOptions(program.command('lint'))), 'write, for --observed')
    .description('report what could be better in the files, without a host')
    .addOption(choiceOption('--format <format>', 'the format of the report', formats).default('text'))
    .option('--strict', STRICT_HELP)
    .option('--quiet', 'print only what makes the exit code nonzero')
    .option('--observed', "compare the cards with what their agents' calls have shown on the host")
    .action(async (files: string[], flags: Flags) => exit(await lint(files, flags, context)))
}

const lint = async (files: readonly string[], flags: Flags, context: Context): Promise<number> => {
  const { observed, host, url, token, format, quiet = false, strict = false } = flags
  if (!observed && (host !== undefined || url !== undefined || token !== undefined))
    throw new UsageError('--host, --url and --token need --observed: without it, lint asks no host.')
  const { skipped, ...read } = readFiles(defaultToCardsFolder(files), localUrl({}), flags, context)
  const { drafts, invalid } = selectFiles(read, flags.only)
  const client = observed && connect(flags, context).client
  const lintDraft = async (draft: Draft) => toResult(draft, client && (await fetchObserved(draft, client)))
  const results = await pMap(drafts, lintDraft, { concurrency: 4 })
  results.push(...invalid.map(file => ({ ...file, issues: [] })))
  results.sort((one, other) => (one.file < other.file ? -1 : 1))
  if (format !== 'text') context.terminal.out(FORMATS[format]({ results, skipped }))
  else context.terminal.report(lintText(results, { quiet, strict }))
  if (results.some(each => each.problems.length > 0 || each.observed?.state === 'rejected')) return ExitCode.rejected
  const hasFailure = results.some(({ issues }) => issues.some(({ issue }) => isFailure(issue, strict)))
  return hasFailure ? ExitCode.outOfDate : ExitCode.ok
}

const fetchObserved = async (draft: Draft, client: HostClient): Promise<ObservedResult> => {
  const rejected = onRejection(({ message: detail }) => ({ state: 'rejected', detail }) as const)
  const options = { params: { id: draft.id }, ignore: 'agent-not-found' } as const
  const observed = await client.call('GET /agents/:id/observed', options).catch(rejected)
  if (observed === undefined) return { state: 'not registered' }
  if ('state' in observed) return observed
  const { proposals, calls, since, lastSeen } = observed
  const counts = { calls, since, lastSeen }
  if (calls === 0) return { state: 'never called' }
  if (proposals === undefined) return { state: 'no card', ...counts }
  const located = proposals.map(each => ({ ...each, severity: 'warning' as const, at: locateInCard(draft, each) }))
  return { state: 'observed', ...counts, proposals: located }
}

type Observed = ResponseOf<'GET /agents/:id/observed'>

/** The findings of `lint` in one file. `issues` includes the proposals of `observed`. */
type LintResult = InvalidFile & { report?: Report; issues: LocatedIssue[]; observed?: ObservedResult }

type LocatedProposal = NonNullable<Observed['proposals']>[number] & { severity: Severity; at: Diagnostic }

/** The calls of an agent, as a host knows them. `no card`: it has no valid card to compare them with. */
type ObservedResult =
  | { state: 'not registered' }
  | { state: 'never called' }
  | { state: 'rejected'; detail: string }
  | ({ state: 'no card' } & ObservedCalls)
  | ({ state: 'observed'; proposals: LocatedProposal[] } & ObservedCalls)

type ObservedCalls = Pick<Observed, 'calls' | 'since' | 'lastSeen'>

type LintReport = { results: LintResult[]; skipped: CardFiles['skipped'] }

const toResult = (draft: Draft, observed: ObservedResult | undefined): LintResult => {
  const { file, id, compiled, unexposed } = draft
  const proposals = observed?.state === 'observed' ? observed.proposals : []
  const issues = [...locateIssues(draft), ...proposals.map(issue => ({ issue, at: issue.at }))]
  // The host reports the same if it gets the whole front matter.
  const filled = [unexposed ? hiddenByDefault : [], compiled?.report.filled ?? []].flat()
  const report = compiled && { report: { ...compiled.report, filled } }
  return { file, id, problems: [], issues, ...(observed && { observed }), ...report }
}

/** Checks whether a finding makes `lint` fail. */
const isFailure = ({ severity }: Issue, strict: boolean): boolean =>
  severity === 'error' || (strict && severity === 'warning')

/**
 * Formats lint results for people: a block for each file with errors or warnings, then a count. A single file also has
 * its infos, and what the host changes in the card. With `quiet`, only failures are shown; with `strict`, warnings too.
 */
const lintText = (results: readonly LintResult[], { quiet, strict }: { quiet: boolean; strict: boolean }): string[] => {
  const blocks = results.flatMap(({ file, problems, issues, report, observed }) => {
    const isShown = ({ issue }: LocatedIssue): boolean =>
      quiet ? isFailure(issue, strict) : results.length === 1 || issue.severity !== 'info'
    const findings = issues.filter(isShown).map(({ issue, at }) => issueText(issue, at))
    const lines = [
      ...distinct([...problems.map(problemText), ...findings]),
      ...(observed && (!quiet || observed.state === 'rejected') ? [observedText(observed)] : []),
      ...(report && results.length === 1 && !quiet ? reportLines(report) : []),
    ]
    const title = colors.bold(file) + (report ? colors.dim(` ${report.dialect}`) : '')
    return lines.length === 0 ? [] : [title, ...lines.map(line => `  ${line}`)]
  })
  return quiet ? blocks : [...blocks, summaryText(results)]
}

const observedText = (observed: ObservedResult): string => {
  if (observed.state === 'not registered') return colors.yellow('not registered on the host')
  if (observed.state === 'never called') return colors.dim('never called through the host')
  if (observed.state === 'rejected') return colors.red(`the host does not report its calls: ${observed.detail}`)
  const { calls, since, lastSeen } = observed
  const period = since === undefined || lastSeen === undefined ? '' : ` from ${since} to ${lastSeen}`
  const callsText = `${formatCount(calls, 'call')}${period}`
  return observed.state === 'no card'
    ? colors.yellow(`${callsText}; the host has no valid card to compare them with`)
    : colors.dim(`${callsText}: ${formatCount(observed.proposals.length, 'difference')} from the card`)
}

const reportLines = (report: Report): string[] => {
  const notes = (['filled', 'converted', 'lossy', 'signatures'] as const).flatMap(name =>
    report[name].map(({ pointer, message }) => `${name} ${pointer} ${message}`),
  )
  const dropped = Object.entries(report.dropped).map(([dialect, names]) => `not in ${dialect}: ${names.join(' ')}`)
  return [...notes, ...dropped].map(colors.dim)
}

const summaryText = (results: readonly LintResult[]): string => {
  if (results.length === 0) return 'No file was checked.'
  const files = formatCount(results.length, 'file')
  const issues = results.flatMap(result => result.issues)
  const invalid = results.filter(({ problems }) => problems.length > 0).length
  const clean = results.filter(result => result.problems.length + result.issues.length === 0).length
  if (clean === results.length) return `${files} without findings`
  const findings = (['error', 'warning', 'info'] as const).flatMap(severity => {
    const count = issues.filter(({ issue }) => issue.severity === severity).length
    const hint = severity === 'info' && results.length > 1 ? ` (${INFOS_HINT})` : ''
    return count > 0 ? [formatCount(count, severity) + hint] : []
  })
  const counts = [invalid > 0 ? `${invalid} invalid` : [], findings, clean > 0 ? `${clean} without findings` : []]
  return `${files}: ${counts.flat().join(', ')}`
}

/** Formats lint results as one JSON object: for each file what `POST /lint` returns, with positions in the file. */
const lintJson = ({ results, skipped }: LintReport): string => {
  const withPosition = ({ at: { file, line, column }, ...rest }: LocatedProposal) => ({ ...rest, file, line, column })
  const files = results.map(({ file, id, problems, report, observed }) => ({
    ...{ file, id, valid: problems.length === 0, errors: problems },
    ...report,
    observed:
      observed?.state === 'observed' ? { ...observed, proposals: observed.proposals.map(withPosition) } : observed,
  }))
  return JSON.stringify({ files, skipped }, null, 2)
}

const LEVELS = { error: 'error', warning: 'warning', info: 'note' } as const satisfies Record<Severity, string>

/** The rule for files that are rejected before any lint rule runs. */
const INVALID_CARD = {
  id: 'invalid-card',
  severity: 'error',
  summary: 'The file can be read and has a valid card.',
} as const

/** Formats lint results as SARIF 2.1.0, for code scanning. Files that were not read are notifications of the run. */
export const lintSarif = ({ results, skipped }: LintReport): string => {
  const notifications = skipped.map(file => ({
    level: 'note' as const,
    message: { text: skippedText(file) },
    locations: [{ physicalLocation: { artifactLocation: toArtifactLocation(file.file) } }],
  }))
  const descriptors = [INVALID_CARD, ...rules, ...observedRules].map(({ id, severity, summary }) => ({
    id,
    shortDescription: { text: summary },
    defaultConfiguration: { level: LEVELS[severity] },
  }))
  const informationUri = 'https://a2a-protocol.org/latest/specification/'
  const run: Run = {
    tool: { driver: { name: 'sync-card', version: VERSION, informationUri, rules: descriptors } },
    columnKind: 'utf16CodeUnits',
    invocations: [{ executionSuccessful: true, toolExecutionNotifications: notifications }],
    results: results.flatMap(({ problems, issues }) => [
      ...problems.map(problem => toSarifResult(problem.rule ?? INVALID_CARD.id, 'error', problem)),
      ...issues.map(({ issue, at }) => toSarifResult(issue.rule, issue.severity, at)),
    ]),
  }
  const $schema = 'https://json.schemastore.org/sarif-2.1.0.json'
  return JSON.stringify({ $schema, version: '2.1.0', runs: [run] }, null, 2)
}

const toArtifactLocation = (file: string): ArtifactLocation => ({
  uri: encodeURI(file.replaceAll('\\', '/')),
  uriBaseId: '%SRCROOT%',
})

const toSarifResult = (ruleId: string, severity: Severity, at: Diagnostic): Result => {
  const { file, line, column, pointer, message } = at
  const region = { startLine: line, startColumn: column }
  const physicalLocation = { artifactLocation: toArtifactLocation(file), region }
  const logicalLocations = [{ fullyQualifiedName: pointer || '/', kind: 'member' }]
  const text = `${pointer} ${message}`.trimStart()
  return { ruleId, level: LEVELS[severity], message: { text }, locations: [{ physicalLocation, logicalLocations }] }
}

const FORMATS = { json: lintJson, sarif: lintSarif }
