import { join } from 'node:path'
import { type RepresentationName, representationNames } from '../../../src/card/model/index.ts'
import type { Context } from '../../context.ts'
import { ExitCode, UsageError } from '../../errors.ts'
import { localUrl, parseHostUrl } from '../../hosts/index.ts'
import { replaceFile } from '../../manifests/index.ts'
import { type AddCommand, addFileOptions, choiceOption, type FileFlags, readFiles } from '../../options.ts'
import { distinct, problemText } from '../../sync/index.ts'

type Flags = FileFlags & { to: RepresentationName; out?: string; url?: string }

/** Adds `convert`, which writes cards in another dialect. */
export const addConvert: AddCommand = (program, context, exit) => {
  const toHelp = 'a dialect, or the document of a well-known path'
  addFileOptions(program.command('convert'), '<files...>', '')
    .description('write cards in another dialect, as the host would serve them')
    .addOption(choiceOption('--to <dialect>', toHelp, representationNames).makeOptionMandatory())
    .option('--out <folder>', 'write each card to a file in this folder; default: one card to stdout')
    .option('--url <url>', 'the host that gateway URLs in the card name')
    .action((named: string[], flags: Flags) => exit(convertCards(named, flags, context)))
}

const convertCards = (named: readonly string[], flags: Flags, context: Context): number => {
  const { to, out, url } = flags
  const { cwd, terminal } = context
  const { drafts, invalid } = readFiles(named, url === undefined ? localUrl({}) : parseHostUrl(url), flags, context)
  const problems = invalid.flatMap(file => file.problems)
  const count = drafts.filter(({ compiled }) => compiled).length
  if (out === undefined && count > 1) throw new UsageError('More than one card: name a folder with --out.')
  for (const { file, id, compiled, sourceMap } of drafts) {
    if (compiled === undefined) {
      const message = 'names where the card is: only the host can fetch it'
      problems.push(sourceMap.locateError({ pointer: '/upstream', message }))
      continue
    }
    const text = JSON.stringify(compiled.documents[to], null, 2)
    if (out === undefined) terminal.out(text)
    else replaceFile(join(out, `${id}.json`), `${text}\n`, cwd)
    const dropped = compiled.report.dropped[to] ?? []
    if (dropped.length > 0) terminal.info(`${file}: ${to} has no field for ${dropped.join(', ')}`)
  }
  terminal.info(distinct(problems.map(problemText)))
  return problems.length > 0 ? ExitCode.rejected : ExitCode.ok
}
