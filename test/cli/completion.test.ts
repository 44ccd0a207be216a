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
  addCommands(command, createContext(new Workspace().io().io, 'sync-card'), () => {})
  return root
}

describe('sync-card completion', () => {
  it('prints a script with every command, option and value as a word of its own', async () => {
    for (const shell of shells) {
      const script = await scriptFor(shell)
      const words = new Set(script.split(/[^\w.+-]+/))
      const names = namesOf(program()).map(name => (shell === 'fish' ? name.replace(/^--/, '') : name))
      expect(names.length).toBeGreaterThan(80)
      expect(
        names.filter(name => !words.has(name)),
        shell,
      ).toEqual([])
    }
  })

  it.each(shells.filter(isInstalled))('prints a script that %s can parse', async shell => {
    const { folder } = new Workspace({ script: await scriptFor(shell) })
    const { status, stderr } = spawnSync(shell, ['-n', join(folder, 'script')], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  it('rejects another shell, or none (exit 2)', async () => {
    for (const args of [['powershell'], []])
      expect(await new Workspace().run(['completion', ...args])).toMatchObject({ code: 2, stdout: '' })
  })

  it.runIf(isInstalled('bash'))('completes in bash', async () => {
    const workspace = new Workspace({ 'cards/a b.yaml': '', 'cards/c.yaml': '', 'my cards/x': '', 'c.txt': '' })
    /** The words before the cursor, separated by bars, and what is suggested. */
    const suggested = {
      l: 'lint|list',
      'token|': 'create|help|list|revoke',
      'token|create|--sc': '--scope',
      'token|create|--scope|': 'admin|call|read|write',
      'lint|--format|s': 'sarif',
      'lint|--format|=|': 'json|sarif|text',
      'lint|--format|json|--obs': '--observed',
      'lint|--format|=|json|--obs': '--observed',
      '--host|token|cre': '',
      '--host|token|tok': 'token',
      '--url|': '',
      '--wait|li': 'lint|list',
      'show|a|--dialect|sh': 'shaman',
      'completion|': 'bash|fish|zsh',
      'help|wh': 'whoami',
      'lint|my c': 'my cards',
      'cards/': 'cards/a b.yaml|cards/c.yaml',
      'convert|--out|c': 'cards',
      'import|c': 'c.txt|cards',
    }
    const lines = Object.keys(suggested)
    const script = `${await scriptFor('bash')}
for line in "$@"; do
  COMP_WORDS=(sync-card)
  while [[ $line == *'|'* ]]; do COMP_WORDS+=("\${line%%|*}"); line=\${line#*|}; done
  COMP_WORDS+=("$line")
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  _sync_card
  IFS='|'
  printf '%s\\n' "\${COMPREPLY[*]}"
  unset IFS
done`
    const { stdout } = spawnSync('bash', ['-c', script, 'bash', ...lines], { cwd: workspace.folder, encoding: 'utf8' })
    const found = stdout.split('\n').map(line => line.split('|').sort().join('|'))
    expect(Object.fromEntries(lines.map((line, index) => [line, found[index]]))).toEqual(suggested)
  })

  it.runIf(isInstalled('zsh'))('completes in zsh', async () => {
    const suggested = {
      'token ': ['create', 'list', 'revoke', 'help'],
      'lint --format ': ['text', 'json', 'sarif'],
      'convert --out ': ['folders'],
      'import ': ['files'],
      '--url ': [],
    }
    // The functions of the completion system, which need a terminal.
    const system = `compdef() { }
_files() { print \${\${1:+folders}:-files} }
_describe() { print -l -- "\${(@)\${(@P)2}%%:*}" }`
    for (const [line, suggestions] of Object.entries(suggested)) {
      const words = ['sync-card', ...line.split(' ')].map(word => `'${word}'`)
      const script = `${system}\n${await scriptFor('zsh')}\nwords=(${words.join(' ')}) CURRENT=$#words\n_sync_card`
      const { stdout } = spawnSync('zsh', ['-f', '-c', script], { encoding: 'utf8' })
      expect(stdout.split('\n').filter(Boolean), line).toEqual(suggestions)
    }
  })

  it.runIf(isInstalled('fish'))('completes in fish', async () => {
    const suggested = {
      'sync-card token ': ['create', 'help', 'list', 'revoke'],
      'sync-card lint --format ': ['json', 'sarif', 'text'],
      'sync-card lint --obs': ['--observed'],
    }
    for (const [line, suggestions] of Object.entries(suggested)) {
      const script = `${await scriptFor('fish')}\ncomplete -C '${line}'`
      const { stdout } = spawnSync('fish', ['--no-config', '-c', script], { encoding: 'utf8' })
      expect(
        stdout.split('\n').flatMap(each => each.split('\t')[0] || []),
        line,
      ).toEqual(suggestions)
    }
  })
})
