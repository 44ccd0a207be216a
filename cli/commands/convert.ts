import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import type { Compiled } from '../../src/card/compile/index.ts'
import { dialectNames, type RepresentationName, representationNames } from '../../src/card/model/constants.ts'
import type { Report } from '../../src/card/model/report.ts'
import { exitCodes } from '../exit-codes.ts'
import { cardFiles } from '../files/card-files.ts'
import type { Draft } from '../files/draft.ts'
import { load } from '../files/load.ts'
import type { Problem } from '../files/problem.ts'
import { distinct, problemText } from '../report/findings-text.ts'
import { localUrl, readUrl } from '../settings.ts'
import { UsageError } from '../usage-error.ts'

type Flags = { to: RepresentationName; out?: string; url?: string }

/** Adds `convert`, which writes cards in another dialect. */
export const addConvert = (command: Command): Command => {
  command
    .command('convert')
    .description('write cards in another dialect, as the host would serve them')
    .argument('<files...>', 'files or folders')
    .addOption(
      new Option('--to <dialect>', `${dialectNames.join(', ')}; or a well-known path's document`)
        .choices(representationNames)
        .makeOptionMandatory(),
    )
    .option('--out <folder>', 'write a file for each card there; without it, one card goes to stdout')
    .option('--url <url>', 'the host that gateway addresses in the card name')
    .action((named: string[], flags: Flags) => {
      const { drafts, bad } = load(cardFiles(named), flags.url === undefined ? localUrl({}) : readUrl(flags.url))
      const { to, out } = flags
      const sound = drafts.filter(isCompiled)
      if (out === undefined && sound.length > 1) throw new UsageError('For more than one card, name a folder: --out.')
      for (const draft of sound) convert(draft, to, out)
      const problems = [...bad.flatMap(file => file.problems), ...drafts.filter(isFetched).map(unfetched)]
      for (const line of distinct(problems.map(problemText))) process.stderr.write(`${line}\n`)
      process.exitCode = problems.length > 0 ? exitCodes.refused : exitCodes.ok
    })
  return command
}

type CompiledDraft = Draft & { compiled: Compiled }

const isCompiled = (draft: Draft): draft is CompiledDraft => draft.compiled !== undefined

const isFetched = (draft: Draft): boolean => !isCompiled(draft)

const unfetched = ({ places }: Draft): Problem =>
  places.problem({ pointer: '/upstream', message: 'says where the card is: only the host can fetch it' })

const convert = ({ id, file, compiled }: CompiledDraft, to: RepresentationName, out: string | undefined): void => {
  write(`${JSON.stringify(compiled.documents[to], null, 2)}\n`, id, out)
  const lost = lostIn(compiled.report, to)
  if (lost.length > 0) process.stderr.write(`${file}: ${to} has no place for ${lost.join(', ')}\n`)
}

const write = (text: string, id: string, out: string | undefined): void => {
  if (out === undefined) {
    process.stdout.write(text)
    return
  }
  try {
    mkdirSync(out, { recursive: true })
    writeFileSync(join(out, `${id}.json`), text)
  } catch {
    throw new UsageError(`Nothing can be written to the folder ${out}.`)
  }
}

const lostIn = ({ dropped }: Report, to: RepresentationName): string[] => dropped[to] ?? []
