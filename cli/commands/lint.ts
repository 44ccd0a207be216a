import { type Command, Option } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import { cardFiles } from '../files/card-files.ts'
import { load } from '../files/load.ts'
import { lintJson } from '../report/lint-json.ts'
import { lintSarif } from '../report/lint-sarif.ts'
import { lintText } from '../report/lint-text.ts'
import { type Reading, readingsOf } from '../report/reading.ts'
import { localUrl } from '../settings.ts'

const formats = { text: lintText, json: lintJson, sarif: lintSarif }
type Format = keyof typeof formats

/** Adds `lint`, which tells what the host would say of the files, without a host. */
export const addLint = (command: Command): Command => {
  command
    .command('lint')
    .description('report on files as POST /lint does, without a host')
    .argument('[files...]', 'files or folders; the folder cards/ where none is named')
    .addOption(new Option('--format <format>', 'how to report').choices(Object.keys(formats)).default('text'))
    .action((files: string[], { format }: { format: Format }) => {
      const readings = readingsOf(load(cardFiles(files), localUrl({})))
      process.stdout.write(`${formats[format](readings)}\n`)
      process.exitCode = lintExitCode(readings)
    })
  return command
}

const lintExitCode = (readings: readonly Reading[]): number => {
  if (readings.some(({ problems }) => problems.length > 0)) return exitCodes.refused
  const errors = readings.some(({ findings }) => findings.some(({ issue }) => issue.severity === 'error'))
  return errors ? exitCodes.outOfDate : exitCodes.ok
}
