import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, CommanderError } from 'commander'
import * as v from 'valibot'
import { HostError } from './client/index.ts'
import { COMMANDS } from './commands/index.ts'
import { createContext, type Io } from './config.ts'
import { ExitCode, UsageError } from './exit-codes.ts'

const Package = v.object({ version: v.string() })

/** Runs `sync-card` with the arguments of a command line, and returns its exit code. */
export const run = async (args: readonly string[], io: Io): Promise<number> => {
  const context = createContext(io, 'sync-card')
  const { terminal } = context
  let exitCode: number = ExitCode.ok
  const program = new Command('sync-card')
    .description('Keep the cards of a host in line with your files.')
    .version(readVersion(), '--version')
    .enablePositionalOptions()
    // A program with an action of its own has no help command by default.
    .helpCommand(true)
    .exitOverride()
    .configureOutput({
      writeOut: text => terminal.out(text.trimEnd()),
      writeErr: text => terminal.info(text.trimEnd()),
    })
  for (const addCommand of COMMANDS)
    addCommand(program, context, code => {
      exitCode = code
    })
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (error) {
    // Commander has written its message itself. Its exit code is 0 after --help and --version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage
    if (error instanceof UsageError) {
      terminal.error(error.message)
      return ExitCode.usage
    }
    if (error instanceof HostError) {
      terminal.error(`${error.message}.`)
      return ExitCode.unreachable
    }
    throw error
  }
}

const readVersion = (): string =>
  v.parse(Package, JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'))).version
