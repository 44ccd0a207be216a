import { Command, InvalidArgumentError, type Option } from 'commander'
import { describe, expect, it } from 'vitest'
import { addCommands, moveOptions } from '../../cli/commands/index.ts'
import { createContext } from '../../cli/context.ts'
import { matching, useFakeHost, Workspace } from './workspace.ts'

/** What the action of a command gets. */
type Received = { path: string; args: string[]; options: Record<string, unknown> }

const pathOf = (command: Command): string[] => (command.parent ? [...pathOf(command.parent), command.name()] : [])

const below = (command: Command): Command[] => command.commands.flatMap(child => [child, ...below(child)])

/** Creates the program with all commands, whose actions only return what they get. */
const createProgram = () => {
  const program = new Command('sync-card').enablePositionalOptions()
  addCommands(program, createContext(new Workspace().io().io, 'sync-card'), () => {})
  let received: Received | undefined
  const commands = below(program).filter(command => command.commands.length === 0 || command.options.length > 0)
  for (const command of [program, ...commands])
    command
      .action(() => {
        received = { path: pathOf(command).join(' '), args: command.args, options: command.opts() }
      })
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
  const run = (...words: string[]): Received | string => {
    received = undefined
    try {
      program.parse(moveOptions(program, words), { from: 'user' })
    } catch (error) {
      return (error as Error).message
    }
    return received ?? 'no action'
  }
  return { program, commands, run }
}

/** What options take: each gets the first two that it accepts, to see which of them wins. */
const VALUES = ['one', 'two', '7', '8', '30d', '60d', '/card/a', '/card/b', 'a.example', 'b.example']
VALUES.push(...['a', 'b'].flatMap(each => [`1:${each.repeat(64)}`, `https://${each}.example/`]))

const valuesOf = ({ parseArg, argChoices = VALUES }: Option): string[] =>
  argChoices.filter(value => {
    try {
      parseArg?.(value, undefined)
      return true
    } catch (error) {
      if (error instanceof InvalidArgumentError) return false
      throw error
    }
  })

/** Returns an option as it is written on a command line. */
const written = (option: Option, which = 0): string[] => {
  const value = option.required ? valuesOf(option)[which] : undefined
  return value === undefined ? [`${option.long}`] : [`${option.long}`, value]
}

/** Returns what a command needs besides an option: each argument, and each mandatory option. */
const neededBy = (command: Command, option: Option): { args: string[]; options: string[] } => ({
  args: command.registeredArguments.filter(({ required }) => required).map(({ argChoices }) => argChoices?.[0] ?? '1'),
  options: command.options
    .filter(({ mandatory, long }) => mandatory && long !== option.long)
    .flatMap(other => written(other)),
})

describe('an option of sync-card', () => {
  it('means the same before each word of a command as after them', () => {
    const { commands, run } = createProgram()
    let count = 0
    for (const command of commands)
      for (const option of command.options) {
        const path = pathOf(command)
        const { args, options } = neededBy(command, option)
        const [first, second] = [written(option), written(option, 1)]
        const after = run(...path, ...options, ...first, ...args)
        expect(after, `${path.join(' ')} ${option.long}`).toMatchObject({ path: path.join(' '), args })
        expect((after as Received).options[option.attributeName()]).toBeTruthy()
        for (const at of path.keys())
          expect(run(...path.slice(0, at), ...options, ...first, ...path.slice(at), ...args)).toEqual(after)
        const twice = run(...path, ...options, ...first, ...second, ...args)
        expect(run(...first, ...path, ...options, ...args, ...second)).toEqual(twice)
        count++
      }
    expect(count).toBeGreaterThan(100)
  })

  it('is an error before a command that does not accept it', () => {
    const { program, commands, run } = createProgram()
    for (const command of commands)
      for (const option of program.options.filter(({ long }) => command.options.every(other => other.long !== long))) {
        const { args, options } = neededBy(command, option)
        const message = run(...written(option), ...pathOf(command), ...options, ...args)
        expect(message).toMatch(`error: unknown option '${option.long}'`)
      }
  })

  it('takes a value in every command, or in none', () => {
    const { program, commands } = createProgram()
    const kinds = new Map<string, Set<string>>()
    for (const { long, required, optional } of [program, ...commands].flatMap(({ options }) => options))
      kinds.set(`${long}`, new Set([...(kinds.get(`${long}`) ?? []), required ? 'one' : optional ? 'or none' : 'none']))
    expect([...kinds].filter(([, { size }]) => size > 1)).toEqual([])
  })
})

describe('sync-card with options before a command', () => {
  const { host, run } = useFakeHost()

  it('sends nothing if the command does not accept them (exit 2)', async () => {
    const rows = {
      '--dry-run rollback weather 6': ["unknown option '--dry-run'", 'rollback'],
      '--retries 3 token list': ["unknown option '--retries'", 'token list'],
      '--wait 5 list': ["unknown option '--wait'", 'list'],
    }
    for (const [args, [message, path]] of Object.entries(rows)) {
      const stderr = matching(new RegExp(`^sync-card: ${message}\n(?:.*\n)?npx sync-card ${path} --help shows`))
      expect(await run({}, args)).toMatchObject({ code: 2, stdout: '', stderr })
    }
    expect([...host.contacts, ...host.seen]).toEqual([])
  })

  it('uses the host that they name', async () => {
    const [url, token] = [`--url ${host.url}`, `--token ${host.token}`]
    for (const args of [
      `--url=${host.url} --json whoami --token=${host.token}`,
      `--url https://a.example --json whoami ${url} ${token}`,
    ]) {
      const { code, stdout } = await run({}, args, { env: { SYNC_CARD_URL: 'https://other.example' } })
      expect([code, JSON.parse(stdout).url]).toEqual([0, host.url])
    }
  })

  it('is told to write a command before the files (exit 2)', async () => {
    const stderr = 'sync-card: "lint" is a command: write it before the files, such as sync-card lint cards.\n'
    expect(await run({ 'cards/a.json': '{}' }, 'cards --dry-run lint')).toMatchObject({ code: 2, stderr })
  })
})
