import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../../tools/docs/commands.ts'
import { Workspace } from './workspace.ts'

/** Returns the program and all commands below it, by the words that name them. */
const listCommands = (): [path: string, command: Command][] => {
  const visit = (command: Command, path: string): [string, Command][] => [
    [path, command],
    ...command.commands.flatMap(child => visit(child, `${path} ${child.name()}`)),
  ]
  return visit(createProgram(), 'sync-card')
}

describe('the help of sync-card', () => {
  it('names the scope that the token needs, and none where any token will do', async () => {
    const help = async (command: string) => (await new Workspace().run([command, '--help'])).stdout
    expect(await help('refresh')).toContain('a token with the scope write;')
    expect(await help('whoami')).toContain('a token; prefer')
  })

  it('has an example that is valid', async () => {
    for (const [path] of listCommands()) {
      const { code, stdout } = await new Workspace().run([...path.split(' ').slice(1), '--help'])
      const [, example = ''] = /\nExample:\n {2}(.+)\n/.exec(stdout) ?? []
      expect(code).toBe(0)
      const [, line = ''] = /(sync-card[^)|>]*)/.exec(example) ?? []
      const words = line.trim().split(' ')
      expect(line).toContain(path)
      // The command of the example itself: the longest path at its beginning.
      const named = listCommands().findLast(([name]) => `${line.trim()} `.startsWith(`${name} `))?.[1]
      const own = words.slice(0, words.includes('--') ? words.indexOf('--') : undefined)
      const flags = own.filter(word => /^--\w/.test(word))
      expect(flags.filter(flag => !named?.options.some(({ long }) => long === flag))).toEqual([])
    }
  })

  it('suggests the command for a mistyped one, and does not print the whole help (exit 2)', async () => {
    const { code, stdout, stderr } = await new Workspace().run(['help', 'lnt'])
    expect(stderr).toMatch(
      /^sync-card: "lnt" is not a command\. Did you mean "lint"\? The commands are init, .*completion and help\.\n$/,
    )
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    for (const args of [['help', 'lint'], ['help']])
      expect(await new Workspace().run(args)).toMatchObject({ code: 0, stderr: '' })
  })

  it('is named after a mistake (exit 2)', async () => {
    const rows: [args: string, message: string, path: string][] = [
      ['--chek', "unknown option '--chek'\n(Did you mean --check?)", ''],
      ['token revoke', "missing required argument 'ids'", ' token revoke'],
      ['whoami weather', "too many arguments for 'whoami'. Expected 0 arguments but got 1.", ' whoami'],
    ]
    for (const [args, message, path] of rows) {
      const stderr = `sync-card: ${message}\nnpx sync-card${path} --help shows the options and an example.\n`
      expect(await new Workspace().run(args.split(' '))).toEqual({ code: 2, stdout: '', stderr })
    }
  })
})
