import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parse } from 'yaml'
import { compile } from '../../src/card/compile/index.ts'
import { agentIdPattern, toSlug } from '../../src/card/model/constants.ts'
import { type Context, foldersOfRepository } from '../context.ts'
import { ExitCode, UsageError } from '../exit-codes.ts'
import { findHost, isLoopback, localUrl } from '../hosts/index.ts'
import {
  addMissingLines,
  CARDS_FOLDER,
  createFile,
  DEFAULTS_NAMES,
  isCardFileName,
  isFolder,
  isUneditedStarter,
  loadManifests,
  rejectLinkOutside,
  STARTER_DEFAULTS,
  type StarterAnswers,
  starterCard,
  starterDefaults,
} from '../manifests/index.ts'
import type { AddCommand } from '../options.ts'
import { colors, type Question } from '../terminal.ts'

type Answers = Required<Pick<StarterAnswers, 'name' | 'description' | 'url'>>

type Flags = Partial<Answers> & { host?: string }

/** What is asked for, and where the answers are in the manifest of a new card. */
const FIELDS = {
  name: { label: 'name', question: 'What is the agent called?', pointer: '/card/name' },
  description: {
    label: 'description',
    question: 'What does it do, for whom, and what does it need to know?',
    pointer: '/card/description',
  },
  url: { label: 'URL', question: 'Which URL do clients call?', pointer: '/card/supportedInterfaces/0/url' },
} satisfies Record<keyof Answers, { label: string; question: string; pointer: string }>

const FIELD_NAMES = Object.keys(FIELDS) as (keyof Answers)[]

/** Adds `init`, which starts a card. */
export const addInit: AddCommand = (program, context, exit) => {
  program
    .command('init')
    .description('start a card: asks for what it needs, and writes a commented file')
    .argument('[id]', "the agent's id, which becomes the file name; default: made from the name")
    .option('--name <name>', 'what the agent is called')
    .option('--description <text>', 'what the agent does, for whom, and what it needs to know')
    .option('--url <url>', 'where the agent is called: its A2A endpoint')
    .option('--host <name>', 'the host in sync-card.yaml whose schema editors check the file with')
    .action(async (id: string | undefined, flags: Flags) => exit(await init(id, flags, context)))
}

const init = async (id: string | undefined, { host, ...flags }: Flags, context: Context): Promise<number> => {
  const { terminal, cwd } = context
  rejectLinkOutside(CARDS_FOLDER, cwd)
  const { url: hostUrl } = findHost({ ...(host !== undefined && { host }) }, context)
  const idOf = (name: string): string => id ?? toSlug(name, toSlug(STARTER_DEFAULTS.name, ''))
  const problem = id === undefined ? undefined : findIdProblem(id, cwd)
  if (problem !== undefined) throw new UsageError(problem)
  const answers = await complete(flags, idOf, context)
  if (answers === undefined) {
    terminal.info('Nothing is written.')
    return ExitCode.usage
  }
  const file = fileOf(idOf(answers.name))
  const text = starterCard({ ...answers, host: hostUrl })
  if (!createFile(file, text, cwd)) throw new UsageError(existsMessage(file))
  for (const line of [`created ${file}`, ...writeSurroundings(cwd)]) terminal.report(`${colors.green('+')} ${line}`)
  terminal.info(nextSteps(file, text, answers, hostUrl))
  return ExitCode.ok
}

const fileOf = (id: string): string => join(CARDS_FOLDER, `${id}.yaml`)

const existsMessage = (file: string): string => `${file} exists, and is not overwritten: give another id, or edit it.`

/** Returns why no card with this id can be created. */
const findIdProblem = (id: string, cwd: string): string | undefined => {
  if (!agentIdPattern.test(id))
    return `"${id}" is not an id: use lower-case letters, digits and hyphens, such as ${toSlug(id, 'my-agent')}.`
  const name = basename(fileOf(id))
  if (!isCardFileName(name) || DEFAULTS_NAMES.includes(name))
    return `${fileOf(id)} would not be read as a card: give another id.`
  if (existsSync(resolve(cwd, fileOf(id)))) return existsMessage(fileOf(id))
  if (!isFolder(CARDS_FOLDER, cwd)) return undefined
  const { drafts, invalid } = loadManifests([CARDS_FOLDER], localUrl({}), cwd)
  const other = [...drafts, ...invalid].find(draft => draft.id === id)
  return other && existsMessage(other.file)
}

/** Checks the flags and asks for what they do not give. Returns undefined if the prompt was left. */
const complete = async (
  flags: Partial<Answers>,
  idOf: (name: string) => string,
  { terminal, cwd }: Context,
): Promise<Answers | undefined> => {
  const check = (field: keyof Answers, answers: Partial<Answers>, subject: string): string | undefined => {
    const problem = findProblem(field, answers)
    if (problem !== undefined) return `${subject} ${problem}.`
    return field === 'name' ? findIdProblem(idOf(answers.name ?? ''), cwd) : undefined
  }
  for (const field of FIELD_NAMES) {
    const problem = flags[field] === undefined ? undefined : check(field, flags, `--${field}`)
    if (problem !== undefined) throw new UsageError(problem)
  }
  const missing = FIELD_NAMES.filter(field => flags[field] === undefined)
  if (missing.length > 0 && !terminal.canAsk) {
    const names = new Intl.ListFormat('en-GB').format(missing.map(field => `--${field}`))
    throw new UsageError(`Nobody can answer questions here: give ${names} too.`)
  }
  const toAnswers = (given: readonly string[]): Partial<Answers> => ({
    ...flags,
    ...Object.fromEntries(given.map((answer, index) => [missing[index], answer])),
  })
  const toQuestion = (field: keyof Answers): Question => ({
    text: FIELDS[field].question,
    byDefault: before => defaultOf(field, toAnswers(before), idOf),
    check: (answer, before) => check(field, toAnswers([...before, answer]), `The ${FIELDS[field].label}`),
  })
  const given = await terminal.ask(missing.map(toQuestion))
  return given && { ...STARTER_DEFAULTS, ...toAnswers(given) }
}

/** Only the card of an agent that has no name yet may keep the description of every new card: nothing publishes it. */
const defaultOf = (field: keyof Answers, { name }: Partial<Answers>, idOf: (name: string) => string): string => {
  if (name === undefined || name === STARTER_DEFAULTS.name) return STARTER_DEFAULTS[field]
  return field === 'url' ? `https://${idOf(name)}.example.com/a2a` : ''
}

/** Returns what the host or the linter finds wrong with an answer: a sentence without its subject. */
const findProblem = (field: keyof Answers, answers: Partial<Answers>): string | undefined => {
  const result = compile(parse(starterCard(answers)), { id: 'agent', requestOrigin: localUrl({}) })
  const found =
    'errors' in result
      ? result.errors
      : result.compiled.report.issues
          .filter(({ severity }) => severity !== 'info')
          .map(({ pointer, message }) => ({ pointer: `/card${pointer}`, message }))
  return found.find(({ pointer }) => pointer === FIELDS[field].pointer)?.message
}

/** Writes what goes with the first card, and returns what was written. What exists stays as it is. */
const writeSurroundings = (cwd: string): string[] => {
  const repository = foldersOfRepository(cwd).at(-1)
  const hasDefaults = DEFAULTS_NAMES.some(name => existsSync(join(cwd, CARDS_FOLDER, name)))
  const defaults = join(CARDS_FOLDER, 'defaults.yaml')
  const set = toSlug(basename(repository ?? cwd), 'my-cards')
  return [
    ...(!hasDefaults && createFile(defaults, starterDefaults(set), cwd)
      ? [`created ${defaults}: the set ${set}; another owner of the same host needs another name`]
      : []),
    ...(createFile('.env.example', ENV_EXAMPLE, cwd) ? ['created .env.example'] : []),
    ...(repository !== undefined && addMissingLines('.gitignore', IGNORED, cwd) ? ['added .env to .gitignore'] : []),
  ]
}

const IGNORED = ['.env', '.env.*', '!.env.example']

const ENV_EXAMPLE = `# Copy this file to .env, which git must ignore, and fill it in. sync-card sends the token to this host only.

# The host that has your cards.
SYNC_CARD_URL=https://cards.example.com

# A token of that host. Who has its admin token makes one: npx sync-card token create --scope read --scope write
SYNC_CARD_TOKEN=
`

const nextSteps = (file: string, text: string, { url }: Answers, hostUrl: string): string[] => [
  isUneditedStarter(parse(text))
    ? `Edit ${file}: sync-card skips it as long as it describes no agent.`
    : `Edit ${file}${isExample(url) ? `: its URL, ${url}, is only an example` : ' where there is more to say'}.`,
  `Then check it with ${colors.cyan('npx sync-card lint')}, and publish it with ${colors.cyan('npx sync-card')}.`,
  `It goes to ${hostUrl}.${isLoopback(hostUrl) ? ' For another host, copy .env.example to .env and fill it in.' : ''}`,
]

const isExample = (url: string): boolean => /^https:\/\/[^/]*\.example\.com\//.test(url)
