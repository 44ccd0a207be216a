import { describe, expect, it } from 'vitest'
import { card, containing, useFakeHost, Workspace } from './workspace.ts'

const { host, run } = useFakeHost(host => {
  host.register('same', { set: 'mine', card: card('same') })
  host.register('changed', { set: 'mine', card: card('changed', { version: '1.0.0' }) })
  host.register('gone', { set: 'mine', card: card('gone') })
})

const files = {
  'cards/defaults.yaml': { set: 'mine' },
  'cards/same.json': card('same'),
  'cards/changed.json': card('changed', { version: '2.0.0' }),
  'cards/new.json': card('new'),
}

describe('sync-card diff', () => {
  it('shows what differs for people, writes nothing, and leaves lint to lint (exit 1)', async () => {
    const lines = [
      'changed (cards/changed.json)',
      '  ~ /card/version "1.0.0" → "2.0.0"',
      '~ to update changed (cards/changed.json)',
      '+ to create new (cards/new.json)',
      `${host.url}: 1 to create, 1 to update, 1 unchanged\n`,
    ]
    expect(await run(files, 'diff')).toMatchObject({ code: 1, stdout: lines.join('\n'), stderr: '', writes: [] })
  })

  it('foresees what the host makes of a breaking change', async () => {
    const higher = 'changed (cards/changed.json) · the version must be 2.0.0 or higher, because'
    const breaking = '~ to update changed (cards/changed.json) · breaking: skill `ask` is removed'
    const rows: [compatibility: string, version: string, code: number, line: string][] = [
      ['enforce', '1.0.1', 3, `✗ refused   ${higher}`],
      ['warn', '1.0.1', 1, `~ to update ${higher}`],
      ['off', '1.0.1', 1, breaking],
      ['enforce', '2.0.0', 1, breaking],
    ]
    const skills = [{ id: 'tell', name: 'Tell', description: 'Tells' }]
    for (const [compatibility, version, code, line] of rows) {
      const manifest = { compatibility, card: card('changed', { version, skills }) }
      const workspace = new Workspace({ ...files, 'cards/changed.json': manifest })
      expect(await run(workspace, 'diff --only changed')).toMatchObject({ code, stdout: containing(line) })
    }
  })

  it('exits with 0 if nothing differs, whatever the linter finds', async () => {
    const thin = card('same', { description: 'Agent', url: 'http://same.example.com' })
    host.register('same', { set: 'mine', card: thin })
    const own = { 'cards/defaults.yaml': { set: 'mine' }, 'cards/same.json': thin }
    expect(await run(own, 'diff')).toMatchObject({ code: 0, stdout: `${host.url}: 1 unchanged\n` })
  })

  it('prints a JSON Patch for each agent with --json or --format=json', async () => {
    const patch = [{ op: 'replace', path: '/card/version', value: '2.0.0' }]
    const agents = [
      { id: 'changed', file: 'cards/changed.json', action: 'to update', patch },
      { id: 'new', file: 'cards/new.json', action: 'to create' },
      { id: 'same', file: 'cards/same.json', action: 'unchanged' },
      { id: 'gone', action: 'to delete' },
    ]
    for (const flag of ['--json', '--format=json']) {
      const { code, stdout } = await run(files, `diff --prune ${flag}`)
      expect([code, JSON.parse(stdout)]).toEqual([1, { url: host.url, exitCode: 1, agents }])
    }
  })

  it('rejects --prune of single files (exit 2)', async () => {
    const stderr = containing('--prune takes folders only')
    expect(await run(files, 'diff --prune cards/same.json')).toMatchObject({ code: 2, stderr })
  })
})

describe('sync-card diff --format markdown', () => {
  const markdown = async (given: Record<string, unknown>, args = '') => {
    const { stdout } = await run(given, `diff --format markdown ${args}`)
    return stdout.replaceAll(host.url, 'https://cards.example.com')
  }

  it('prints a table, the differences to unfold, and a summary', async () => {
    expect(await markdown(files, '--prune')).toBe(`### Agent Cards at \`https://cards.example.com\`

| | agent | file |
|---|---|---|
| update | \`changed\` | \`cards/changed.json\` |
| create | \`new\` | \`cards/new.json\` |
| delete | \`gone\` |  |

<details><summary><code>changed</code></summary>

\`\`\`diff
~ /card/version "1.0.0" → "2.0.0"
\`\`\`

</details>

1 to create, 1 to update, 1 to delete, 1 unchanged.
`)
  })

  it('prints no table if nothing differs', async () => {
    const { 'cards/defaults.yaml': defaults, 'cards/same.json': same } = files
    expect(await markdown({ 'cards/defaults.yaml': defaults, 'cards/same.json': same })).toBe(
      '### Agent Cards at `https://cards.example.com`\n\n1 unchanged.\n',
    )
  })

  it('keeps hostile texts within their code block', async () => {
    const texts = ['```\n</details>\n# Approved', '`````', '@team', '<img src=x onerror=alert(1)>']
    const extra = Object.fromEntries(texts.map(text => [text, text]))
    const text = await markdown({ ...files, 'cards/changed.json': card('changed', extra) })
    const [, fence = '', block = ''] = /^(`{3,})diff\n([\s\S]*?)\n\1$/m.exec(text) ?? []
    expect(fence.length).toBe(6)
    for (const part of ['# Approved', '@team', '<img']) {
      expect(block).toContain(part)
      expect(text.replace(block, '')).not.toContain(part)
    }
    expect(text.match(/^<\/details>$/gm)).toHaveLength(1)
  })

  it('keeps the name of a file within its cell', async () => {
    const names = ['a|b`c`.json', 'x\n# y<img>.json']
    for (const name of names) {
      const text = await markdown({ 'cards/defaults.yaml': { set: 'mine' }, [`cards/${name}`]: '{' })
      const rows = text.split('\n').filter(line => line.startsWith('|'))
      expect(rows).toHaveLength(3)
      expect(rows[2]).toMatch(/^\| invalid \| {2}\| `[^`|<>]+` \|$/)
      const outside = text.replace(/^```diff\n[\s\S]*?\n```$/m, '')
      expect(outside.split('\n').filter(line => /^#+ |^<img/.test(line))).toHaveLength(1)
    }
  })

  it('fits into a comment, however long paths and differences are, and shows the small ones', async () => {
    const folder = Array.from({ length: 12 }, (_, index) => `${index}`.repeat(100)).join('/')
    const ids = Array.from({ length: 119 }, (_, index) => `a${index}`)
    for (const id of [...ids, 'small']) host.register(id, { set: 'mine', card: card('b') })
    const note = 'long '.repeat(900)
    const many = ids.map(id => [`cards/${folder}/${id}.json`, { set: 'mine', card: card('b', { note }) }])
    const small = { set: 'mine', card: card('b', { note: 'small change' }) }
    const text = await markdown({ ...Object.fromEntries(many), 'cards/small.json': small })
    expect(text.length).toBeLessThan(65_536)
    expect(text).toContain('| | and 20 more | |')
    expect(text).toMatch(/^\| update \| `a0` \| `[^`]{199}…` \|$/m)
    expect(text).toContain('small change')
    expect(text).toMatch(/^\d+ more differences too long for a comment\.$/m)
    expect(text).toContain('120 to update.')
  })
})
