import pMap from 'p-map'
import type { HostClient } from '../../client/index.ts'
import type { Context } from '../../context.ts'
import { ExitCode, onRejection, UsageError } from '../../errors.ts'
import { localUrl } from '../../hosts/index.ts'
import { type Draft, defaultToCardsFolder, locateInCard } from '../../manifests/index.ts'
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
import { collectResults, isFailure, lintJson, lintSarif, lintText, type ObservedResult } from '../../reporters/index.ts'
import { selectFiles } from '../../sync/index.ts'

const FORMATS = { json: lintJson, sarif: lintSarif }

type Flags = HostFlags &
  FileFlags & { format: 'text' | keyof typeof FORMATS; observed?: true; strict?: true; quiet?: true; only?: string[] }

/** Adds `lint`, which reports on files as the host would; only with `--observed`, it asks a host. */
export const addLint: AddCommand = (program, context, exit) => {
  const formats = ['text', ...Object.keys(FORMATS)]
  addConnectionOptions(addOnlyOption(addFileOptions(program.command('lint'))), 'write')
    .description('report what could be better in the files, without a host')
    .addOption(choiceOption('--format <format>', 'the format of the report', formats).default('text'))
    .option('--strict', STRICT_HELP)
    .option('--quiet', 'print only what makes the exit code other than 0')
    .option('--observed', "compare the cards with what their agents' calls have shown on the host")
    .action(async (files: string[], flags: Flags) => exit(await lint(files, flags, context)))
}

const lint = async (files: readonly string[], flags: Flags, context: Context): Promise<number> => {
  const { observed, host, url, token, format, quiet = false, strict = false } = flags
  if (!observed && (host !== undefined || url !== undefined || token !== undefined))
    throw new UsageError('--host, --url and --token need --observed: without it, lint asks no host.')
  const { skipped, ...read } = readFiles(defaultToCardsFolder(files), localUrl({}), flags, context)
  const loaded = { ...selectFiles(read, flags.only), skipped }
  const calls = observed ? await fetchObserved(loaded.drafts, connect(flags, context).client) : undefined
  const report = collectResults(loaded, calls)
  if (format !== 'text') context.terminal.out(FORMATS[format](report))
  else context.terminal.report(lintText(report, { quiet, strict }))
  const { results } = report
  if (results.some(each => each.problems.length > 0 || each.observed?.state === 'rejected')) return ExitCode.rejected
  const hasFailure = results.some(({ issues }) => issues.some(({ issue }) => isFailure(issue, strict)))
  return hasFailure ? ExitCode.outOfDate : ExitCode.ok
}

const fetchObserved = async (drafts: readonly Draft[], client: HostClient) => {
  const fetchOne = async (draft: Draft): Promise<ObservedResult> => {
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
  return new Map(await pMap(drafts, async draft => [draft, await fetchOne(draft)] as const, { concurrency: 4 }))
}
