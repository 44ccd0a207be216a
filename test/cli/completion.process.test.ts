import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Workspace } from './workspace.ts'

const shells = ['bash', 'zsh', 'fish'] as const

const scriptFor = async (shell: string): Promise<string> => (await new Workspace().run(['completion', shell])).stdout

const isInstalled = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0

describe('sync-card completion', () => {
  it.each(shells.filter(isInstalled))('prints a script that %s can parse', async shell => {
    const script = await scriptFor(shell)
    expect(script).toMatch(/token create[\s\S]*gopherhole/)
    const { folder } = new Workspace({ script })
    const { status, stderr } = spawnSync(shell, ['-n', join(folder, 'script')], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  it.runIf(isInstalled('bash'))('completes in bash', async () => {
    const workspace = new Workspace({ 'cards/a b.yaml': '', 'cards/c.yaml': '', 'my cards/x': '', 'c.txt': '' })
    /** The words before the cursor, separated by bars, and what is suggested. */
    const suggested = {
      l: 'lint|list',
      'token|': 'create|help|list|revoke',
      'token|create|--scope|': 'admin|call|read|write',
      'lint|--format|=|': 'json|sarif|text',
      'lint|--format|json|--obs': '--observed',
      'lint|--format|=|json|--obs': '--observed',
      '--host|token|tok': 'token',
      '--url|': '',
      '--wait|li': 'lint|list',
      'completion|': 'bash|fish|zsh',
      'help|wh': 'whoami',
      'cards/': 'cards/a b.yaml|cards/c.yaml',
      'convert|--out|c': 'cards',
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
})
