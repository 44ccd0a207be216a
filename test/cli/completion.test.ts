import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { addCommands } from '../../cli/commands/index.ts'
import { createContext } from '../../cli/context.ts'
import { Workspace } from './workspace.ts'

const shells = ['bash', 'zsh', 'fish'] as const

const scriptFor = async (shell: string): Promise<string> => (await new Workspace().run(['completion', shell])).stdout

const isInstalled = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0

const program = (): Command => {
  const command = new Command('sync-card')
  addCommands(command, createContext(new Workspace().io().io, 'sync-card'), () => {})
  return command
}

/** Returns what can be the last of some words, in alphabetical order and without descriptions. */
const suggest = async (...words: string[]): Promise<string[]> => {
  const { stdout } = await new Workspace().run(['completion', 'bash', '--', ...words])
  return stdout
    .split('\n')
    .flatMap(line => line.split('\t')[0] || [])
    .sort()
}

/** Runs a shell in which `sync-card` prints `lines`. Returns its output, and the words that `sync-card` has got. */
const runShell = (args: string[], lines: string[]) => {
  const { folder } = new Workspace({
    'bin/sync-card': `#!/bin/sh\nprintf '%s|' "$@" > bin/called\ncat <<'END'\n${lines.join('\n')}\nEND`,
    ...{ 'cards/a b.yaml': '', 'cards/c.yaml': '', 'c.txt': '' },
  })
  chmodSync(join(folder, 'bin/sync-card'), 0o755)
  const env = { ...process.env, PATH: `${folder}/bin:${process.env.PATH}` }
  const { stdout } = spawnSync(args[0] ?? '', args.slice(1), { cwd: folder, encoding: 'utf8', env })
  return { output: stdout.split('\n').filter(Boolean), called: readFileSync(join(folder, 'bin/called'), 'utf8') }
}

const LINES = ['list\tlist: the agents', 'lint']

describe('sync-card completion', () => {
  it('suggests every command, option and value', async () => {
    let count = 0
    const check = async (command: Command, path: string[]): Promise<void> => {
      const { commands } = command
      const expected: Record<string, string[]> = {
        '': [
          ...commands.map(child => child.name()),
          ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
        ],
        '-': command.options.flatMap(({ short, long }) => [short ?? [], long ?? []].flat()),
      }
      for (const [word, names] of Object.entries(expected))
        expect(await suggest(...path, word), path.join(' ')).toEqual(expect.arrayContaining(names))
      for (const { long, argChoices } of command.options)
        if (argChoices) expect(await suggest(...path, long ?? '', ''), long).toEqual(argChoices.toSorted())
      count += Object.values(expected).flat().length
      for (const child of commands) await check(child, [...path, child.name()])
    }
    await check(program(), [])
    expect(count).toBeGreaterThan(80)
  })

  it('suggests what can follow the words before the cursor', async () => {
    const suggested = {
      l: [':files', 'lint', 'list'],
      'token ': ['create', 'help', 'list', 'revoke'],
      'token create --sc': ['--scope'],
      'token create --scope ': ['admin', 'call', 'read', 'write'],
      'lint --format s': ['sarif'],
      'lint --format json --obs': ['--observed'],
      '--host token cre': [':files'],
      '--host token tok': [':files', 'token'],
      '--url ': [],
      '--wait li': [':files', 'lint', 'list'],
      'show a --dialect sh': ['shaman'],
      'completion ': ['bash', 'fish', 'zsh'],
      'help wh': ['whoami'],
      'help comp': ['completion'],
      'convert --out c': [':folders'],
      'import c': [':files'],
    }
    for (const [line, names] of Object.entries(suggested))
      expect(await suggest(...line.split(' ')), line).toEqual(names)
    const { stdout } = await new Workspace().run(['completion', 'bash', '--', 'token', 'create', '--sc'])
    expect(stdout).toBe('--scope\twhat the token allows; repeatable\n')
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
    const complete = async (words: string[], lines: string[]) => {
      const script = `${await scriptFor('bash')}
COMP_WORDS=(sync-card "$@")
COMP_CWORD=$#
_sync_card
printf '%s\\n' "\${COMPREPLY[@]}"`
      return runShell(['bash', '-c', script, 'bash', ...words], lines)
    }
    expect(await complete(['token', 'l'], LINES)).toEqual({
      output: ['list', 'lint'],
      called: 'completion|bash|--|token|l|',
    })
    for (const [words, called] of [
      [['lint', '--format', '=', ''], 'completion|bash|--|lint|--format||'],
      [['lint', '--format', '=', 'json', '--obs'], 'completion|bash|--|lint|--format|json|--obs|'],
    ] as const)
      expect(await complete([...words], [])).toMatchObject({ called })
    expect(await complete(['cards/a'], [':files'])).toMatchObject({ output: ['cards/a b.yaml'] })
    expect(await complete(['convert', '--out', 'c'], [':folders'])).toMatchObject({ output: ['cards'] })
  })

  it.runIf(isInstalled('zsh'))('completes in zsh', async () => {
    // The functions of the completion system, which need a terminal.
    const system = `compdef() { }
_files() { print \${\${1:+folders}:-files} }
_describe() { print -l -- "\${(@P)2}" }`
    const script = `${system}\n${await scriptFor('zsh')}\nwords=(sync-card token '') CURRENT=3\n_sync_card`
    const complete = (lines: string[]) => runShell(['zsh', '-f', '-c', script], lines)
    const output = ['list:list: the agents', 'lint']
    expect(complete(LINES)).toEqual({ output, called: 'completion|zsh|--|token||' })
    expect(complete([':files'])).toMatchObject({ output: ['files'] })
    expect(complete([':folders'])).toMatchObject({ output: ['folders'] })
  })

  it.runIf(isInstalled('fish'))('completes in fish', async () => {
    const complete = async (line: string, lines: string[]) =>
      runShell(['fish', '--no-config', '-c', `${await scriptFor('fish')}\ncomplete -C '${line}'`], lines)
    const output = ['lint', 'list\tlist: the agents']
    expect(await complete('sync-card token l', LINES)).toEqual({ output, called: 'completion|fish|--|token|l|' })
    expect(await complete('sync-card token ', [])).toEqual({ output: [], called: 'completion|fish|--|token||' })
    expect((await complete('sync-card c', [':files'])).output.map(each => each.split('\t')[0])).toEqual([
      'c.txt',
      'cards/',
    ])
    expect((await complete('sync-card c', [':folders'])).output.map(each => each.split('\t')[0])).toEqual(['cards/'])
  })
})
