import { describe, expect, it, onTestFinished } from 'vitest'
import { starterCard } from '../../cli/manifests/starter.ts'
import { lintSarif } from '../../cli/reporters/sarif.ts'
import type { Issue } from '../../src/card/model/report.ts'
import { FakeHost } from './fake-host.ts'
import { Workspace } from './workspace.ts'

const files = {
  'cards/bad.yaml': 'card:\n  name: Bad\n  url: nowhere\n',
  'cards/good.json': {
    name: 'Good',
    description: 'Answers questions about good things',
    url: 'https://good.example.com',
  },
}

describe('sync-card lint', () => {
  it('prints for each file what POST /lint returns, with --format json', async () => {
    const { code, stdout } = await new Workspace(files).run(['lint', '--format', 'json'])
    expect(JSON.parse(stdout)).toMatchObject({
      files: [
        {
          file: 'cards/bad.yaml',
          valid: false,
          errors: expect.arrayContaining([
            { file: 'cards/bad.yaml', line: 3, column: 3, pointer: '/card/url', message: expect.any(String) },
          ]),
        },
        {
          file: 'cards/good.json',
          id: 'good',
          valid: true,
          errors: [],
          dialect: 'gopherhole',
          filled: expect.any(Array),
        },
      ],
    })
    expect(code).toBe(3)
  })

  it('reports that front matter without `exposed` is internal', async () => {
    const text = '---\nname: A\ndescription: Answers questions\nmodel: gpt-4\nurl: https://a.example.com\n---\n'
    const { stdout } = await new Workspace({ 'cards/a.md': text }).run(['lint', '--format', 'json'])
    expect(JSON.parse(stdout).files[0].filled).toContainEqual({
      pointer: '/exposed',
      message: 'set to false: only front matter that sets it to true is public',
    })
  })

  it('fails for an error of the linter (exit 1)', async () => {
    const { code, stdout } = await new Workspace({
      'cards/good.json': { ...files['cards/good.json'], url: 'https://10.0.0.1' },
    }).run(['lint'])
    expect(stdout).toMatch(/^1 file: 1 error, \d infos$/m)
    expect(code).toBe(1)
  })

  it('reports a secret as invalid (exit 3), unless --allow-secret names its place in the file or in the manifest', async () => {
    const workspace = new Workspace({
      'cards/good.json': {
        ...files['cards/good.json'],
        documentationUrl: 'https://good.example.com/?key=a1b2c3d4e5f6',
      },
    })
    const rejected = await workspace.run(['lint', '--format', 'sarif'])
    expect(JSON.parse(rejected.stdout).runs[0].results).toMatchObject([
      { ruleId: 'secret', level: 'error', locations: [location('cards/good.json', 5, 3)] },
    ])
    expect(rejected.code).toBe(3)
    for (const pointer of ['/documentationUrl', '/card/documentationUrl']) {
      const { code, stdout } = await workspace.run(['lint', '--allow-secret', pointer, '--allow-secret', '/card/name'])
      expect(stdout).toMatch(/^1 file: \d infos$/m)
      expect(code).toBe(0)
    }
    expect((await workspace.run(['lint', '--allow-secret', 'documentationUrl'])).code).toBe(2)
  })

  it('prints for people, with the dialect and what the host fills in', async () => {
    const { code, stdout } = await new Workspace({ 'cards/good.json': files['cards/good.json'] }).run(['lint'])
    expect(stdout).toMatch(/^cards\/good\.json gopherhole\n[\s\S]*filled \/protocolVersion set to "1\.0"/)
    expect(code).toBe(0)
  })

  it('prints SARIF 2.1.0 with a known rule, a level and a position for each result', async () => {
    const { stdout } = await new Workspace(files).run(['lint', 'cards', '--format', 'sarif'])
    const { version, runs } = JSON.parse(stdout)
    expect(version).toBe('2.1.0')
    expect(runs).toHaveLength(1)
    const [{ tool, results }] = runs
    const rules: { id: string }[] = tool.driver.rules
    expect(new Set(rules.map(rule => rule.id)).size).toBe(rules.length)
    for (const { ruleId, level, message, locations } of results) {
      expect(rules.map(rule => rule.id)).toContain(ruleId)
      expect(['error', 'warning', 'note']).toContain(level)
      expect(message.text).toMatch(/\S/)
      const { artifactLocation, region } = locations[0].physicalLocation
      expect(artifactLocation.uri).toMatch(/^cards\/\w+\.(?:yaml|json)$/)
      expect(Math.min(region.startLine, region.startColumn)).toBeGreaterThanOrEqual(1)
    }
    expect(results).toContainEqual(
      expect.objectContaining({ ruleId: 'invalid-card', locations: [location('cards/bad.yaml', 3, 3)] }),
    )
  })

  it('gives each SARIF result the level of its severity', () => {
    const at = { file: 'cards/a b.json', line: 2, column: 5, pointer: '/url', message: 'm' }
    const findings = (['error', 'warning', 'info'] as const).map(severity => ({
      issue: { rule: `rule-${severity}`, severity, pointer: '/url', message: 'm' } satisfies Issue,
      at,
    }))
    const [run] = JSON.parse(
      lintSarif({ results: [{ file: at.file, problems: [], issues: findings }], skipped: [] }),
    ).runs
    expect(run.results.map(({ ruleId, level }: { ruleId: string; level: string }) => [ruleId, level])).toEqual([
      ['rule-error', 'error'],
      ['rule-warning', 'warning'],
      ['rule-info', 'note'],
    ])
    expect(run.results[0].locations[0].physicalLocation.artifactLocation.uri).toBe('cards/a%20b.json')
  })
})

it.each([
  ['in the manifest', 'cards/x.yaml', 'id: Not Valid\ncard:\n  name: Bad\n  url: nowhere\n'],
  ['that is no string', 'cards/x.yaml', 'id: 5\ncard:\n  name: Bad\n  url: nowhere\n'],
  ['of its file name', 'cards/Not Valid.yaml', 'card:\n  name: Bad\n  url: nowhere\n'],
])('reports an invalid id %s together with the errors of the card', async (_, file, text) => {
  const { stdout } = await new Workspace({ [file]: text }).run(['lint', '--format', 'json'])
  const pointers = JSON.parse(stdout).files[0].errors.map(({ pointer }: { pointer: string }) => pointer)
  expect(pointers).toEqual(expect.arrayContaining(['/card/description', '/card/url']))
  expect(pointers.filter((pointer: string) => pointer === '/id')).toHaveLength(1)
})

describe('the text of sync-card lint', () => {
  const clean = {
    name: 'Clean',
    description: 'Answers questions about clean things, from a list',
    version: '1.0.0',
    protocolVersion: '0.3.0',
    url: 'https://clean.example.com',
    preferredTransport: 'JSONRPC',
    capabilities: { streaming: false, pushNotifications: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    provider: { organization: 'ACME Corp', url: 'https://acme.example.com' },
    documentationUrl: 'https://acme.example.com/docs',
    iconUrl: 'https://acme.example.com/icon.png',
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    security: [{ token: [] }],
    skills: [
      {
        id: 'ask',
        name: 'Ask about clean things',
        description: 'Answers questions about clean things with a sentence',
        tags: ['questions'],
        examples: ['Is a spoon clean?', 'How clean is my kitchen?'],
      },
    ],
  }
  const warned = { ...clean, url: 'http://warned.example.com' }
  const failed = { ...clean, url: 'https://10.0.0.1' }

  const lintText = async (cards: Record<string, unknown>, ...args: string[]) => {
    const named = Object.entries(cards).map(([name, content]) => [`cards/${name}`, content])
    const { code, stdout } = await new Workspace(Object.fromEntries(named)).run(['lint', ...args])
    return { code, lines: stdout.split('\n').map(line => line.replace(/^( *\S+)(?: \w+)? .*/, '$1')), stdout }
  }

  it('has a block for each file with findings, and only counts the others', async () => {
    const cards = { 'a.json': clean, 'b.json': warned, 'c.json': clean, 'd.json': failed, 'e.json': '{' }
    const { code, lines, stdout } = await lintText(cards)
    expect(lines.slice(0, 6)).toEqual([
      'cards/b.json',
      '  cards/b.json:6:3',
      'cards/d.json',
      '  cards/d.json:6:3',
      'cards/e.json',
      '  cards/e.json:1:2',
    ])
    expect(stdout).toMatch(/^5 files: 1 invalid, 1 error, 1 warning, 2 without findings$/m)
    expect(code).toBe(3)
  })

  it('escapes control characters in what the host changes', async () => {
    const { stdout } = await lintText({ 'a.json': { ...clean, '\u001b[J': 1 } })
    expect(stdout).toMatch(/not in .*: \/\\u001b\[J/)
  })

  it('has what the host changes if there is one file', async () => {
    const { name, description, url } = clean
    const card = { name, description, url }
    expect((await lintText({ 'a.json': card })).stdout).toContain('\n  filled /protocolVersion set to "1.0"')
    expect((await lintText({ 'a.json': card, 'b.json': card })).stdout).not.toContain('\n  filled')
  })

  it('has what becomes of the signatures of the author', async () => {
    const signatures = [{ protected: btoa('{"alg":"ES256","kid":"k"}'), signature: 'c2ln' }]
    const manifest = { card: { ...clean, signatures }, signatures: 'strip' }
    expect((await lintText({ 'a.json': manifest })).stdout).toContain(
      '\n  signatures /signatures left out of every document: the manifest has `signatures: strip`\n',
    )
  })

  it('is one line without findings, or without files', async () => {
    expect((await lintText({ 'my-agent.yaml': starterCard({}) })).stdout).toBe('No file was checked.\n')
    expect((await lintText({ 'a.json': clean, 'b.json': clean })).stdout).toBe('2 files without findings\n')
  })

  it.each<[string[], Record<string, unknown>, number, string[]]>([
    [[], { 'b.json': warned }, 0, []],
    [['--strict'], { 'b.json': warned }, 1, ['cards/b.json', '  cards/b.json:6:3']],
    [[], { 'a.json': clean, 'b.json': failed, 'c.json': warned }, 1, ['cards/b.json', '  cards/b.json:6:3']],
    [['--strict'], { 'a.json': clean }, 0, []],
    [[], { 'a.json': '{' }, 3, ['cards/a.json', '  cards/a.json:1:2']],
  ])('has with --quiet %j only what makes it fail: %#', async (flags, cards, exitCode, expected) => {
    const { code, lines } = await lintText(cards, '--quiet', ...flags)
    expect({ code, lines }).toEqual({ code: exitCode, lines: [...expected, ''] })
    expect((await lintText(cards, ...flags)).code).toBe(exitCode)
  })

  it('has the infos of a single file, and counts those of several', async () => {
    const { securitySchemes: _, security: __, ...plain } = clean
    expect((await lintText({ 'a.json': plain })).stdout).toMatch(
      /^ {2}cards\/a\.json:\d+:\d+ info [\s\S]*^1 file: 1 info$/m,
    )
    const several = await lintText({ 'a.json': plain, 'b.json': plain, 'c.json': failed, 'd.json': clean })
    expect(several.lines.filter(line => line.startsWith('cards/'))).toEqual(['cards/c.json'])
    expect(several.stdout).toMatch(
      /^4 files: 1 error, 2 infos \(shown by npx sync-card lint FILE\), 1 without findings$/m,
    )
  })

  it('has with --only the agents that match, and files without an id', async () => {
    const cards = { 'team1-a.json': failed, 'team2-b.json': failed }
    expect((await lintText(cards, '--only', 'team1-*')).stdout).toMatch(
      /^cards\/team1-a\.json[\s\S]*\n1 file: 1 error$/m,
    )
    expect((await lintText({ ...cards, 'NO ID.json': clean }, '--only', 'team1-*')).stdout).toMatch(
      /^2 files: 1 invalid/m,
    )
    expect((await lintText(cards, '--only', 'team3-*')).code).toBe(2)
    expect((await lintText(cards, '--only', 'team1-*', '--only', 'team2-b')).stdout).toMatch(/^2 files: 2 errors$/m)
  })
})

it.each([[['lint']], [['--dry-run']], [['convert', 'cards', '--to', '1.0', '--out', 'out']]])(
  'removes what commands a terminal or a CI service from file names, keys and messages: %j',
  async args => {
    const host = await new FakeHost().listen()
    onTestFinished(() => host.close())
    const command = '\u001b[J\n::error::'
    const named = {
      [`cards/a${command}.json`]: { id: 'a', [`x${command}`]: 1, card: files['cards/good.json'] },
      'cards/b.json': `{ "x${JSON.stringify(command).slice(1, -1)}": 1, "x${JSON.stringify(command).slice(1, -1)}": 2 }`,
      'cards/c.json': { ...files['cards/good.json'], [`x${command}`]: 1, url: 'https://10.0.0.1' },
      [`cards/d${command}.yaml`]: starterCard({}),
    }
    const env = { SYNC_CARD_URL: host.url, SYNC_CARD_TOKEN: host.token, FORCE_COLOR: '1' }
    const { stdout, stderr } = await new Workspace(named).run(args, env)
    expect(stdout + stderr).toMatch(/d.*is skipped/)
    expect(stdout + stderr).toMatch(/a.*is not a known field/)
    expect(stdout + stderr).toContain('already has the key "x\\u001b[J\\n::error::", in line 1.')
    expect(stdout + stderr).not.toContain('\u001b[J')
    expect(stdout + stderr).not.toMatch(/^\s*::error::/m)
  },
)

it.each([
  ['json', (output: Output) => output.skipped],
  ['sarif', ({ runs }: Output) => runs[0]?.invocations[0]?.toolExecutionNotifications],
])('names the files that it skips with --format %s', async (format, skippedOf) => {
  const workspace = new Workspace({ 'cards/my-agent.yaml': starterCard({}) })
  const { code, stdout, stderr } = await workspace.run(['lint', '--format', format])
  expect(JSON.stringify(skippedOf(JSON.parse(stdout)))).toContain('cards/my-agent.yaml')
  expect(stderr).toContain('cards/my-agent.yaml is skipped: it is the unedited starter card')
  expect(code).toBe(0)
})

type Output = { skipped: unknown; runs: { invocations: { toolExecutionNotifications: unknown }[] }[] }

const location = (uri: string, startLine: number, startColumn: number) =>
  expect.objectContaining({
    physicalLocation: { artifactLocation: { uri, uriBaseId: '%SRCROOT%' }, region: { startLine, startColumn } },
  })
