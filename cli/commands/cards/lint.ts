import pMap from 'p-map'
import type { HostClient, Proposal } from '../../client/index.ts'
import type { Context } from '../../context.ts'
import { ExitCode, UsageError } from '../../exit-codes.ts'
import { onRejection } from '../../failure.ts'
import { localUrl } from '../../hosts/index.ts'
import { type Draft, defaultToCardsFolder, locateInCard } from '../../manifests/index.ts'
import {
  type AddCommand,
  addConnectionOptions,
  addFileOptions,
  addOnlyOption,
  choiceOption,
  connect,
  FILES_HELP,
  type FileFlags,
  type HostFlags,
  readFiles,
  STRICT_HELP,
} from '../../options.ts'
import {
  collectLintResults,
  isFailure,
  type LintReport,
  type LocatedProposal,
  lintJson,
  lintSarif,
  lintText,
  type ObservedResult,
} from '../../reporters/index.ts'
import { selectFiles } from '../../sync/index.ts'

/** The formats for programs. */
const FORMATS = { json: lintJson, sarif: lintSarif }
type Format = 'text' | keyof typeof FORMATS

type Flags = HostFlags &
  FileFlags & { format: Format; observed?: true; strict?: true; quiet?: true; only?: readonly string[] }

/** Requests to the host at a time. */
const CONCURRENCY = 4

/** Adds `lint`, which reports on files as the host would; only with `--observed`, it asks a host. */
export const addLint: AddCommand = (program, context, exit) => {
  const command = program
    .command('lint')
    .description('report what could be better in the files, without a host')
    .argument('[files...]', `${FILES_HELP}; default: the folder cards/`)
    .addOption(
      choiceOption('--format <format>', 'the format of the report', ['text', ...Object.keys(FORMATS)]).default('text'),
    )
    .option('--strict', STRICT_HELP)
    .option('--quiet', 'print only what makes the exit code other than 0')
    .option('--observed', "compare the cards with what their agents' calls have shown on the host")
  addConnectionOptions(addOnlyOption(addFileOptions(command)), 'write').action(
    async (files: string[], flags: Flags) => {
      rejectUnusedFlags(flags)
      const { skipped, ...read } = readFiles(defaultToCardsFolder(files), localUrl({}), flags, context)
      const loaded = { ...selectFiles(read, flags.only), skipped }
      const observed = flags.observed ? await fetchObserved(loaded.drafts, connect(flags, context)) : undefined
      const report = collectLintResults(loaded, observed)
      print(report, flags, context)
      exit(lintExitCode(report, flags.strict === true))
    },
  )
}

const rejectUnusedFlags = ({ observed, host, url, token }: Flags): void => {
  if (!observed && (host !== undefined || url !== undefined || token !== undefined))
    throw new UsageError('--host, --url and --token need --observed: without it, lint asks no host.')
}

/** Fetches what the calls of each agent have shown. */
const fetchObserved = async (
  drafts: readonly Draft[],
  client: HostClient,
): Promise<ReadonlyMap<Draft, ObservedResult>> => {
  const fetchOne = async (draft: Draft): Promise<[Draft, ObservedResult]> => {
    const rejected = onRejection(detail => ({ state: 'rejected', detail }) as const)
    const observed = await client.getObserved(draft.id).catch(rejected)
    if (observed === undefined) return [draft, { state: 'not registered' }]
    if ('state' in observed) return [draft, observed]
    const { proposals, ...counts } = observed
    if (observed.calls === 0) return [draft, { state: 'never called' }]
    if (proposals === undefined) return [draft, { state: 'no card', ...counts }]
    return [draft, { state: 'observed', ...counts, proposals: proposals.map(each => locateProposal(draft, each)) }]
  }
  return new Map(await pMap(drafts, fetchOne, { concurrency: CONCURRENCY }))
}

const locateProposal = (draft: Draft, proposal: Proposal): LocatedProposal => ({
  ...proposal,
  severity: 'warning',
  at: locateInCard(draft, proposal),
})

const print = (report: LintReport, { format, quiet, strict }: Flags, { terminal }: Context): void => {
  if (format !== 'text') terminal.out(FORMATS[format](report))
  else terminal.report(lintText(report, { quiet: quiet === true, strict: strict === true }))
}

const lintExitCode = ({ results }: LintReport, strict: boolean): number => {
  if (results.some(({ problems, observed }) => problems.length > 0 || observed?.state === 'rejected'))
    return ExitCode.rejected
  const hasFailure = results.some(({ issues }) => issues.some(({ issue }) => isFailure(issue, strict)))
  return hasFailure ? ExitCode.outOfDate : ExitCode.ok
}
