import type { Command, Option } from 'commander'
import { UsageError } from '../errors.ts'
import { type AddCommand, suggestCommand } from '../options.ts'
import { addCheck, addConvert, addDiff, addInit, addLint, addPull, addSync, addVerify } from './cards/index.ts'
import { addCompletion } from './completion.ts'
import { addAgents, addAudit, addHistory, addKeys, addMove, addRefresh, addToken } from './host/index.ts'

/** The commands beside the program's own action, by their headings in `--help`. */
const GROUPS: Readonly<Record<string, readonly AddCommand[]>> = {
  'Commands for files with cards:': [addInit, addPull, addDiff, addLint, addConvert, addVerify],
  'Commands for the agents of a host:': [addAgents, addRefresh, addCheck, addHistory],
  'Commands for a host:': [addToken, addKeys, addAudit, addMove],
  'Other commands:': [addCompletion],
}

/** Examples for `--help`. A group of commands has the example of the first. */
const EXAMPLES: Readonly<Record<string, string>> = {
  'sync-card': "sync-card cards --host prod --only 'team1-*' --wait",
  'sync-card init': 'sync-card init weather --url https://weather.example.com/a2a',
  'sync-card pull': "sync-card pull --only 'team1-*' --out cards/team1",
  'sync-card diff': 'sync-card diff cards --host prod',
  'sync-card lint': 'sync-card lint cards --format sarif > cards.sarif',
  'sync-card convert': 'sync-card convert cards/weather.yaml --to 1.0',
  'sync-card verify': 'sync-card verify https://agent.example.com --key did:web:example.com',
  'sync-card list': 'sync-card list weather forecast --host prod',
  'sync-card show': 'sync-card show weather --dialect 1.0',
  'sync-card open': 'sync-card open weather',
  'sync-card remove': 'sync-card remove weather --host prod',
  'sync-card tasks clear': 'sync-card tasks clear weather --host prod',
  'sync-card refresh': 'sync-card refresh weather --host prod',
  'sync-card check': 'sync-card check weather --host prod',
  'sync-card history': 'sync-card history weather',
  'sync-card rollback': 'sync-card rollback weather 6',
  'sync-card token create':
    "sync-card token create --scope write --agent 'team1-*' --expires 90d --note 'CI of team 1'",
  'sync-card token revoke': 'sync-card token revoke kn36bnav5bke',
  'sync-card keys create': 'sync-card keys create -- --env staging',
  'sync-card audit': 'sync-card audit --agent weather --since 2027-01-01',
  'sync-card export': 'sync-card export --host old > host.ndjson',
  'sync-card import': 'sync-card import host.ndjson --host new',
  'sync-card completion': 'eval "$(sync-card completion bash)"',
}

/** Adds all commands to the program, each with an example in its help and a hint to the help after a mistake. */
export const addCommands: AddCommand = (program, context, exit) => {
  addSync(program, context, exit)
  for (const [heading, commands] of Object.entries(GROUPS)) {
    program.commandsGroup(heading)
    for (const addCommand of commands) addCommand(program, context, exit)
  }
  // A program with an action of its own has no help command by default.
  program.helpCommand(true)
  addExamples(program, program.name())
}

/** Returns the example of the command of this path. */
export const createExample = (path: string): string =>
  (EXAMPLES[path] ?? `${path} --host prod`).replace(/^sync-card/, 'npx $&')

/** Throws a UsageError for `help` with a word that is no command. Commander would print the help without a message. */
export const rejectUnknownTopic = (program: Command, [word, topic = '']: readonly string[]): void => {
  const isKnown = /^(?:-.*|help|)$/.test(topic) || program.commands.some(command => command.name() === topic)
  if (word === 'help' && !isKnown) throw new UsageError(`"${topic}" is not a command.${suggestCommand(topic, program)}`)
}

/** Returns the words with options before a command moved behind it: commander would give them to the program. */
export const moveOptions = (program: Command, words: readonly string[]): string[] => {
  const options = optionsOf(program)
  const move = (command: Command, rest: readonly string[]): string[] => {
    const findCommand = (word = '') => command.commands.find(each => each.name() === word)
    let at = 0
    for (let word = rest[0]; word !== undefined && /^-./.test(word) && word !== '--'; word = rest[at]) {
      const option = options.find(({ short, long }) => word === short || word === long)
      const next = rest[at + 1]
      const hasValue = option?.required || (option?.optional && !next?.startsWith('-') && !findCommand(next))
      at += hasValue ? 2 : 1
    }
    const found = findCommand(rest[at])
    return found ? [found.name(), ...move(found, [...rest.slice(0, at), ...rest.slice(at + 1)])] : [...rest]
  }
  return move(program, words)
}

/** Returns the options of a command and of all below it. An option takes a value in each of them or in none. */
const optionsOf = (command: Command): Option[] => [...command.options, ...command.commands.flatMap(optionsOf)]

const addExamples = (command: Command, path: string): void => {
  const first = command.commands[0] ? `${path} ${command.commands[0].name()}` : path
  command.addHelpText('after', `\nExample:\n  ${createExample(path in EXAMPLES ? path : first)}`)
  command.showHelpAfterError(`npx ${path} --help shows the options and an example.`)
  for (const child of command.commands) addExamples(child, `${path} ${child.name()}`)
}
