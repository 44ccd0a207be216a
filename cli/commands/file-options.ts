import { type Command, InvalidArgumentError } from 'commander'
import type { Pointer } from '../../src/json/json.ts'
import type { Context } from '../context.ts'
import { type LoadedManifests, loadManifests, rejectNoCards, skippedText } from '../manifests/index.ts'

/** What the arguments of a command name that reads the owner's files. */
export const FILES_HELP = "files, folders or globs such as 'cards/team1-*.yaml'"

/** The options of every command that reads the owner's files. */
export type FileFlags = { allowSecret?: readonly Pointer[] }

/** Adds the options of a command that reads the owner's files. */
export const addFileOptions = (command: Command): Command =>
  command.option(
    '--allow-secret <pointer>',
    'accept what looks like a secret at this place of a card, such as /card/description; repeatable',
    parseAllowedPointer,
  )

const parseAllowedPointer = (text: string, before: readonly Pointer[] = []): readonly Pointer[] => {
  if (!/^(?:\/(?:[^~/]|~[01])*)+$/.test(text))
    throw new InvalidArgumentError('It must be a JSON Pointer such as /card/description.')
  return [...before, text]
}

/** Adds the option that chooses agents by their ids. */
export const addOnlyOption = (command: Command): Command =>
  command.option('--only <glob>', "only agents whose ids match, such as 'team1-*'; repeatable", collect)

/** Collects the values of a repeatable option. */
export const collect = (value: string, before: readonly string[] = []): string[] => [...before, value]

/** Reads the named files for the host at `origin`, and reports those that are skipped. */
export const readFiles = (
  named: readonly string[],
  origin: string,
  { allowSecret }: FileFlags,
  { cwd, terminal }: Context,
): LoadedManifests => {
  const loaded = loadManifests(named, origin, cwd, allowSecret)
  rejectNoCards(named, loaded)
  for (const skipped of loaded.skipped) terminal.info(skippedText(skipped))
  return loaded
}
