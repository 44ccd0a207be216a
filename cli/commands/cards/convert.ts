import { join } from 'node:path'
import type { Compiled } from '../../../src/card/compile/index.ts'
import { type RepresentationName, representationNames } from '../../../src/card/model/index.ts'
import type { Context } from '../../context.ts'
import { ExitCode, UsageError } from '../../exit-codes.ts'
import { localUrl, parseHostUrl } from '../../hosts/index.ts'
import { type Diagnostic, type Draft, replaceFile } from '../../manifests/index.ts'
import { type AddCommand, addFileOptions, choiceOption, FILES_HELP, type FileFlags, readFiles } from '../../options.ts'
import { distinct, problemText } from '../../reporters/index.ts'

type Flags = FileFlags & { to: RepresentationName; out?: string; url?: string }

/** Adds `convert`, which writes cards in another dialect. */
export const addConvert: AddCommand = (program, context, exit) => {
  addFileOptions(program.command('convert'))
    .description('write cards in another dialect, as the host would serve them')
    .argument('<files...>', FILES_HELP)
    .addOption(
      choiceOption(
        '--to <dialect>',
        'a dialect, or the document of a well-known path',
        representationNames,
      ).makeOptionMandatory(),
    )
    .option('--out <folder>', 'write each card to a file in this folder; default: one card to stdout')
    .option('--url <url>', 'the host that gateway URLs in the card name')
    .action((named: string[], flags: Flags) => exit(convertCards(named, flags, context)))
}

const convertCards = (named: readonly string[], flags: Flags, context: Context): number => {
  const { to, out, url } = flags
  const { cwd, terminal } = context
  const origin = url === undefined ? localUrl({}) : parseHostUrl(url)
  const { drafts, invalid } = readFiles(named, origin, flags, context)
  const compiled = drafts.filter(isCompiled)
  if (out === undefined && compiled.length > 1) throw new UsageError('More than one card: name a folder with --out.')
  for (const draft of compiled) {
    const text = JSON.stringify(draft.compiled.documents[to], null, 2)
    if (out === undefined) terminal.out(text)
    else replaceFile(join(out, `${draft.id}.json`), `${text}\n`, cwd)
    const dropped = draft.compiled.report.dropped[to] ?? []
    if (dropped.length > 0) terminal.info(`${draft.file}: ${to} has no field for ${dropped.join(', ')}`)
  }
  const problems = [
    ...invalid.flatMap(file => file.problems),
    ...drafts.filter(draft => !isCompiled(draft)).map(describeRemote),
  ]
  terminal.info(distinct(problems.map(problemText)))
  return problems.length > 0 ? ExitCode.rejected : ExitCode.ok
}

type CompiledDraft = Draft & { compiled: Compiled }

const isCompiled = (draft: Draft): draft is CompiledDraft => draft.compiled !== undefined

const describeRemote = ({ sourceMap }: Draft): Diagnostic =>
  sourceMap.locateError({ pointer: '/upstream', message: 'names where the card is: only the host can fetch it' })
