import { type Command, Option } from 'commander'
import { type Context, localUrl } from '../config.ts'
import { ExitCode } from '../exit-codes.ts'
import { findCardFiles, loadManifests } from '../manifests/index.ts'
import { collectLintResults, type LintResult, lintJson, lintSarif, lintText } from '../reporters/index.ts'

const FORMATS = { text: lintText, json: lintJson, sarif: lintSarif }
type Format = keyof typeof FORMATS

/** Adds `lint`, which reports on files as the host would, without a host. */
export const addLint = (program: Command, context: Context, exit: (code: number) => void): void => {
  const { cwd } = context
  program
    .command('lint')
    .description('report on files as POST /lint does, without a host')
    .argument('[files...]', 'files or folders; default: the folder cards/')
    .addOption(
      new Option('--format <format>', 'the format of the report').choices(Object.keys(FORMATS)).default('text'),
    )
    .action((files: string[], { format }: { format: Format }) => {
      const results = collectLintResults(loadManifests(findCardFiles(files, cwd), localUrl({}), cwd))
      print(results, format, context)
      exit(lintExitCode(results))
    })
}

const print = (results: readonly LintResult[], format: Format, { terminal }: Context): void => {
  const text = FORMATS[format](results)
  if (format === 'text') terminal.report(text)
  else terminal.out(text)
}

const lintExitCode = (results: readonly LintResult[]): number => {
  if (results.some(({ problems }) => problems.length > 0)) return ExitCode.rejected
  const hasError = results.some(({ issues }) => issues.some(({ issue }) => issue.severity === 'error'))
  return hasError ? ExitCode.outOfDate : ExitCode.ok
}
