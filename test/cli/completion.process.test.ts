import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { addCommands } from '../../cli/commands/index.ts'
import { createContext } from '../../cli/context.ts'
import { Workspace } from './workspace.ts'

const shells = ['bash', 'zsh', 'fish'] as const

const scriptFor = async (shell: string): Promise<string> => (await new Workspace().run(['completion', shell])).stdout

const isInstalled = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0

/** Returns every name that a person can type: of commands, of options, and of the values that options and arguments list. */
const namesOf = (command: Command): string[] =>
  command.commands.flatMap(child => [
    child.name(),
    ...child.options.flatMap(({ long, argChoices = [] }) => [...(long ? [long] : []), ...argChoices]),
    ...child.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    ...namesOf(child),
  ])

const program = (): Command => {
  const root = new Command('root')
  const command = root.command('sync-card')
  const context = createContext(new Workspace().io().io, 'sync-card')
  addCommands(command, context, () => {})
  return root
}

describe('sync-card completion', () => {
  it.each(shells)('prints a script with every command, option and value for %s', async shell => {
    const script = await scriptFor(shell)
    const names = namesOf(program()).map(name => (shell === 'fish' ? name.replace(/^--/, '-l ') : name))
    expect(names.length).toBeGreaterThan(80)
    expect(names.filter(name => !script.includes(name))).toEqual([])
  })

  it.each(shells.filter(isInstalled))('prints a script that %s can parse', async shell => {
    const { folder } = new Workspace({ script: await scriptFor(shell) })
    const { status, stderr } = spawnSync(shell, ['-n', join(folder, 'script')], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  it.each([['powershell'], []])('rejects another shell (%s, exit 2)', async (...args) => {
    expect(await new Workspace().run(['completion', ...args])).toMatchObject({ code: 2, stdout: '' })
  })

  describe.runIf(isInstalled('bash'))('in bash', () => {
    it.each<[string[], string[]]>([
      [['l'], ['lint', 'list']],
      [
        ['token', ''],
        ['create', 'list', 'revoke', 'help'],
      ],
      [['token', 'create', '--sc'], ['--scope']],
      [
        ['token', 'create', '--scope', ''],
        ['read', 'call', 'write', 'admin'],
      ],
      [['lint', '--format', 's'], ['sarif']],
      [
        ['lint', '--format', '=', ''],
        ['text', 'json', 'sarif'],
      ],
      [['lint', '--format', 'json', '--obs'], ['--observed']],
      [['lint', '--format', '=', 'json', '--obs'], ['--observed']],
      [['--host', 'token', 'cre'], []],
      [['--host', 'token', 'tok'], ['token']],
      [['--url', ''], []],
      [
        ['--wait', 'li'],
        ['lint', 'list'],
      ],
      [['show', 'a', '--dialect', 'sh'], ['shaman']],
      [
        ['completion', ''],
        ['bash', 'zsh', 'fish'],
      ],
      [['help', 'wh'], ['whoami']],
      [['lint', 'my c'], ['my cards']],
      [['cards/'], ['cards/a b.yaml', 'cards/c.yaml']],
      [['convert', '--out', 'c'], ['cards']],
    ])('completes %j with %j', async (words, suggestions) => {
      const workspace = new Workspace({ 'cards/a b.yaml': '', 'cards/c.yaml': '', 'my cards/x': '', 'c.txt': '' })
      const script = `${await scriptFor('bash')}
COMP_WORDS=(sync-card "$@")
COMP_CWORD=$#
_sync_card
printf '%s\\n' "\${COMPREPLY[@]}"`
      const { stdout } = spawnSync('bash', ['-c', script, 'bash', ...words], {
        cwd: workspace.folder,
        encoding: 'utf8',
      })
      expect(stdout.split('\n').filter(Boolean).sort()).toEqual([...suggestions].sort())
    })
  })

  describe.runIf(isInstalled('fish'))('in fish', () => {
    it.each([
      ['sync-card token ', ['create', 'help', 'list', 'revoke']],
      ['sync-card lint --format ', ['json', 'sarif', 'text']],
      ['sync-card lint --obs', ['--observed']],
    ])('completes "%s" with %j', async (line, suggestions) => {
      const script = `${await scriptFor('fish')}\ncomplete -C '${line}'`
      const { stdout } = spawnSync('fish', ['--no-config', '-c', script], { encoding: 'utf8' })
      expect(stdout.split('\n').flatMap(each => each.split('\t')[0] || [])).toEqual(suggestions)
    })
  })
})
