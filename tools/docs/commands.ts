import { type Argument, Command, type Option } from 'commander'
import { addCommands, createExample } from '../../cli/commands/index.ts'
import type { Context } from '../../cli/context.ts'
import { EXIT_CODE_MEANINGS } from '../../cli/errors.ts'
import { ACTIONS } from '../../cli/sync/index.ts'
import { code, linkPages, type Page, table, wrap } from './page.ts'

/** An argument or option: how it is written, and what it means. */
type Row = readonly [written: string, meaning: string]

/** A command that does something, with its name in the tables. */
type Listed = { name: string; path: string; group: string; command: Command; rows: readonly Row[] }

const PROGRAM = 'sync-card'

/** The page of the commands. */
export const createCommands = (): Page => {
  const commands = listCommands()
  const shared = listShared(commands)
  const isShared = (row: Row): boolean => shared.some(([written, meaning]) => row.join() === [written, meaning].join())
  return {
    name: 'commands',
    title: 'Commands',
    contents: 'every command, option and exit code of `sync-card`; `npm start` and `npm run deploy`',
    parts: [
      wrap(
        'In a clone of the host, `npx sync-card` runs the program from source; ' +
          '[Synchronize](docs/guide/owners.md#synchronize) shows how it is used. Options can come before or after ' +
          'the command; one that the command does not have is an error. Results go to stdout, progress and notes to ' +
          'stderr. `NO_COLOR` and `FORCE_COLOR` are respected.',
      ),
      wrap(
        '"Token" is the scope that a command requires. Without a token, `list`, `show` and `open` find the public ' +
          'agents.',
      ),
      '## Shared arguments and options',
      'Several commands have these, and the other tables leave them out.',
      table(['argument or option', 'meaning', 'commands'], shared),
      ...[...Map.groupBy(commands, ({ group }) => group)].flatMap(([group, members]) => [
        `## ${group}`,
        table(
          ['command, arguments and options', 'meaning'],
          members.flatMap(each => [toRow(each), ...each.rows.filter(row => !isShared(row))]),
        ),
      ]),
      '## JSON output',
      wrap(
        'With `--json`, `sync-card`, `pull` and `diff` print an object with `url`, `exitCode` and `agents`, and with ' +
          '`skipped`, the files that were not read. Each agent has `id`, `file` and `action`, and where they apply ' +
          '`detail`, the reason; `patch`, a JSON Patch from the manifest of the host to that of the file; `problems` ' +
          'and `issues`, each with `file`, `line` and `column`; and `seq`, `etag`, `class` and `changes` of a write. ' +
          'Most other commands print the response of the host.',
      ),
      table(
        ['`action`', 'exit code'],
        [...Map.groupBy(Object.entries(ACTIONS), ([, { exit }]) => exit)].map(([exit, actions]) => [
          actions.map(([action]) => code(action)).join(', '),
          code(exit),
        ]),
      ),
      '## npm start and npm run deploy',
      table(['script and settings', 'meaning'], scripts),
      '## Exit codes',
      'Those of `sync-card` and `npm run deploy`. If several apply, the highest wins.',
      table(
        ['code', 'meaning'],
        Object.entries(EXIT_CODE_MEANINGS).map(([number, meaning]) => [code(number), meaning]),
      ),
    ],
  }
}

/** The npm scripts of a clone. They take variables and one or no option, which they read themselves. */
const scripts: readonly Row[] = [
  [
    '**`npm start`**',
    `Runs the host on this machine, with the samples and your cards (${linkPages('docs/guide/start.md')}).`,
  ],
  ['`-- --state <folder>`', 'where the host keeps what is registered; default: `.wrangler/state`'],
  ['`PORT`', 'the port; default: 8787'],
  [
    '`ADMIN_TOKEN`',
    'the admin token; default: the one in `.dev.vars`, else a random one. That of a deployment, in `.env`, is not read',
  ],
  ['`VERBOSE`', 'shows the log of wrangler'],
  [
    '`LOCAL_ORIGINS`, `ALLOWED_ORIGINS` …',
    'every [variable](variables.md) is passed to the Worker. Secrets that manifests name are lines of `.dev.vars`',
  ],
  [
    '**`npm run deploy`**',
    'Deploys the host, gives it an `ADMIN_TOKEN` if it has none, and registers the cards of `cards/` ' +
      `(${linkPages('docs/guide/deploy.md')}).`,
  ],
  ['`-- <args>`', 'arguments for `wrangler deploy`. With `--dry-run`, nothing is deployed, and no cards are sent'],
  [
    '`PUBLIC_URL`, `SYNC_CARD_URL`',
    'the address to which cards are sent; default: the one in `.env`, else the one that wrangler reports',
  ],
]

/** Returns the program, to read its commands. None can be run, so nothing reads the context. */
export const createProgram = (): Command => {
  const program = new Command(PROGRAM)
  addCommands(program, {} as Context, () => {})
  return program
}

/** Returns the commands, but for those that only group others, in the order of `--help`. */
const listCommands = (): Listed[] => {
  const visit = (command: Command, path: string, heading: string): Listed[] => {
    const { commands, registeredArguments, options } = command
    const args = registeredArguments.filter(({ description }) => !/^the agents?$/.test(description))
    const rows = [...args.map(argumentRow), ...options.map(optionRow)]
    const name = path.replace(`${PROGRAM} `, '')
    const listed = { name, path, group: heading.replace(/:$/, ''), command, rows }
    const isGroup = commands.length > 0 && rows.length === 0
    return [
      ...(isGroup ? [] : [listed]),
      ...commands.flatMap(child => visit(child, `${path} ${child.name()}`, child.helpGroup() || heading)),
    ]
  }
  return visit(createProgram(), PROGRAM, 'Synchronize')
}

/** Returns what several commands have, arguments first, with their names. */
const listShared = (commands: readonly Listed[]): (readonly [...Row, commands: string])[] => {
  const found = commands.flatMap(each => each.rows.map(row => ({ row, each })))
  const shared = [...Map.groupBy(found, ({ row }) => row.join()).values()].filter(having => having.length > 1)
  const list = (some: readonly Listed[]): string => some.map(({ name }) => code(name)).join(', ')
  return shared
    .map(having => {
      const names = having.map(({ each }) => each)
      const others = commands.filter(each => !names.includes(each))
      const [written = '', meaning = ''] = having[0]?.row ?? []
      return [written, meaning, others.length < names.length ? `all except ${list(others)}` : list(names)] as const
    })
    .toSorted(([one], [other]) => Number(one.startsWith('`-')) - Number(other.startsWith('`-')))
}

const toRow = ({ name, path, command }: Listed): Row => {
  const usage = command.registeredArguments.map(argument => ` ${writeArgument(argument)}`).join('')
  const [first = '', ...rest] = command.description() || 'compare files with a host, and push what differs'
  const scope = findScope(command.options)
  const needs = scope === undefined ? '' : ` Token: ${markCode(scope.replace(/\b(?:read|write|admin)\b/g, code))}.`
  const text = markCode(`${first.toUpperCase()}${rest.join('')}.`)
  return [`**${code(`${name}${usage}`)}**`, `${text}${needs} ${code(createExample(path))}`]
}

const argumentRow = (argument: Argument): Row => [code(writeArgument(argument)), describe(argument)]

const optionRow = (option: Option): Row => [code(option.flags), describe(option)]

const writeArgument = (argument: Argument): string => {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`
  return argument.required ? `<${name}>` : `[${name}]`
}

const describe = ({ description, argChoices, defaultValue, ...rest }: Argument | Option): string =>
  [
    ...(argChoices === undefined ? [] : [`${argChoices.map(code).join(', ')}: `]),
    markCode(description.replace(SCOPE, '')),
    ...('mandatory' in rest && rest.mandatory ? ['; required'] : []),
    ...(defaultValue === undefined ? [] : [`; default: ${code(defaultValue)}`]),
  ].join('')

/** Marks options, variables and names of files as code. */
const markCode = (text: string): string =>
  text.replace(
    /`[^`]*`|--[a-z][a-z-]*|\b[A-Z]+_[A-Z_]+\b|\bsync-card\.yaml\b|(?<=[ (])\.env(?:\.NAME)?\b|\bcards\/(?![\w])/g,
    part => (part.startsWith('`') ? part : code(part)),
  )

/** The part of the text of `--token` that differs between commands. */
const SCOPE = / with the scope (.*?)(?=; prefer)/

const findScope = (options: readonly Option[]): string | undefined =>
  options.map(({ description }) => SCOPE.exec(description)?.[1]).find(scope => scope !== undefined)
