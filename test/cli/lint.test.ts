import { describe, expect, it } from 'vitest'
import { lintSarif } from '../../cli/commands/cards/lint.ts'
import { starterCard } from '../../cli/manifests/starter.ts'
import type { Issue } from '../../src/card/model/registration-report.ts'
import { containing, matching, Workspace } from './workspace.ts'

const good = {
  ...{ name: 'Good', description: 'Answers questions about good things' },
  url: 'https://good.example.com',
}
const files = { 'cards/bad.yaml': 'card:\n  name: Bad\n  url: nowhere\n', 'cards/good.json': good }

const lint = (files: Record<string, unknown>, args = '') =>
  new Workspace(files).run(['lint', ...args.split(' ').filter(Boolean)])

/** Lints files, and returns the report of the first. */
const lintFirst = async (files: Record<string, unknown>) =>
  JSON.parse((await lint(files, '--format json')).stdout).files[0]

const location = (uri: string, startLine: number, startColumn: number) =>
  expect.objectContaining({
    physicalLocation: { artifactLocation: { uri, uriBaseId: '%SRCROOT%' }, region: { startLine, startColumn } },
  })

describe('sync-card lint', () => {
  it('prints for each file what POST /lint returns, with --format json', async () => {
    const { code, stdout } = await lint(files, '--format json')
    const error = { file: 'cards/bad.yaml', line: 3, column: 3, pointer: '/card/url', message: expect.any(String) }
    expect(JSON.parse(stdout)).toMatchObject({
      files: [
        { file: 'cards/bad.yaml', valid: false, errors: expect.arrayContaining([error]) },
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
    const message = 'set to false: only front matter that sets it to true is public'
    expect((await lintFirst({ 'cards/a.md': text })).filled).toContainEqual({ pointer: '/exposed', message })
  })

  it('reports a secret as invalid (exit 3), unless --allow-secret names its place in the file or in the manifest', async () => {
    const documentationUrl = 'https://good.example.com/?key=a1b2c3d4e5f6'
    const secret = { 'cards/good.json': { ...good, documentationUrl } }
    const rejected = await lint(secret, '--format sarif')
    expect(JSON.parse(rejected.stdout).runs[0].results).toMatchObject([
      { ruleId: 'secret', level: 'error', locations: [location('cards/good.json', 5, 3)] },
    ])
    expect(rejected.code).toBe(3)
    for (const pointer of ['/documentationUrl', '/card/documentationUrl'])
      expect(await lint(secret, `--allow-secret ${pointer} --allow-secret /card/name`)).toMatchObject({
        ...{ code: 0, stdout: matching(/^1 file: \d infos$/m) },
      })
    expect((await lint(secret, '--allow-secret documentationUrl')).code).toBe(2)
  })

  it('prints SARIF 2.1.0 with a known rule, a level and a position for each result', async () => {
    const { version, runs } = JSON.parse((await lint(files, 'cards --format sarif')).stdout)
    expect([version, runs.length]).toEqual(['2.1.0', 1])
    const [{ tool, results }] = runs
    const rules: string[] = tool.driver.rules.map(({ id }: { id: string }) => id)
    expect(rules).toEqual(expect.arrayContaining(results.map(({ ruleId }: { ruleId: string }) => ruleId)))
    expect(rules).toHaveLength(new Set(rules).size)
    expect(results.length).toBeGreaterThan(2)
    expect(results).toContainEqual(
      expect.objectContaining({ ruleId: 'invalid-card', locations: [location('cards/bad.yaml', 3, 3)] }),
    )
  })

  it('gives each SARIF result the level of its severity', () => {
    const at = { file: 'cards/a b.json', line: 2, column: 5, pointer: '/url', message: 'm' }
    const issues = (['error', 'warning', 'info'] as const).map(severity => ({
      issue: { rule: `rule-${severity}`, severity, pointer: '/url', message: 'm' } satisfies Issue,
      at,
    }))
    const [run] = JSON.parse(lintSarif({ results: [{ file: at.file, problems: [], issues }], skipped: [] })).runs
    expect(run.results).toMatchObject([
      { ruleId: 'rule-error', level: 'error' },
      { ruleId: 'rule-warning', level: 'warning' },
      { ruleId: 'rule-info', level: 'note' },
    ])
    expect(run.results[0].locations[0].physicalLocation.artifactLocation.uri).toBe('cards/a%20b.json')
  })

  it('reports an invalid id together with the errors of the card', async () => {
    const bad = 'card:\n  name: Bad\n  url: nowhere\n'
    for (const [file, text] of [
      ['x.yaml', `id: Not Valid\n${bad}`],
      ['x.yaml', `id: 5\n${bad}`],
      ['Not Valid.yaml', bad],
    ] as const) {
      const { errors } = await lintFirst({ [`cards/${file}`]: text })
      const pointers: string[] = errors.map(({ pointer }: { pointer: string }) => pointer)
      expect(pointers).toEqual(expect.arrayContaining(['/card/description', '/card/url']))
      expect(pointers.filter(pointer => pointer === '/id')).toHaveLength(1)
    }
  })

  it('names the files that it skips in each format', async () => {
    const skipped = { 'cards/my-agent.yaml': starterCard({}) }
    const [json, sarif] = [await lint(skipped, '--format json'), await lint(skipped, '--format sarif')]
    const [{ invocations }] = JSON.parse(sarif.stdout).runs
    for (const part of [JSON.parse(json.stdout).skipped, invocations[0].toolExecutionNotifications])
      expect(JSON.stringify(part)).toContain('cards/my-agent.yaml')
    const stderr = containing('cards/my-agent.yaml is skipped: it is the unedited starter card')
    for (const ended of [json, sarif]) expect(ended).toMatchObject({ code: 0, stderr })
  })
})

describe('the text of sync-card lint', () => {
  const clean = {
    ...{ name: 'Clean', description: 'Answers questions about clean things, from a list', version: '1.0.0' },
    ...{ protocolVersion: '0.3.0', url: 'https://clean.example.com', preferredTransport: 'JSONRPC' },
    capabilities: { streaming: false, pushNotifications: false },
    ...{ defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] },
    provider: { organization: 'ACME Corp', url: 'https://acme.example.com' },
    documentationUrl: 'https://acme.example.com/docs',
    iconUrl: 'https://acme.example.com/icon.png',
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    security: [{ token: [] }],
    skills: [
      {
        ...{ id: 'ask', name: 'Ask about clean things', tags: ['questions'] },
        description: 'Answers questions about clean things with a sentence',
        examples: ['Is a spoon clean?', 'How clean is my kitchen?'],
      },
    ],
  }
  const warned = { ...clean, url: 'http://warned.example.com' }
  const failed = { ...clean, url: 'https://10.0.0.1' }

  /** Lints cards, and returns the lines with the file names and places alone. */
  const lintText = async (cards: Record<string, unknown>, args = '') => {
    const named = Object.entries(cards).map(([name, content]) => [`cards/${name}`, content])
    const { code, stdout } = await lint(Object.fromEntries(named), args)
    return { code, lines: stdout.split('\n').map(line => line.replace(/^( *\S+)(?: \w+)? .*/, '$1')), stdout }
  }

  it('has a block for each file with findings, and only counts the others', async () => {
    const cards = { 'a.json': clean, 'b.json': warned, 'c.json': clean, 'd.json': failed, 'e.json': '{' }
    const { code, lines, stdout } = await lintText(cards)
    const [b, d, e] = ['cards/b.json', 'cards/d.json', 'cards/e.json']
    expect(lines.slice(0, 6)).toEqual([b, `  ${b}:6:3`, d, `  ${d}:6:3`, e, `  ${e}:1:2`])
    expect(stdout).toMatch(/^5 files: 1 invalid, 1 error, 1 warning, 2 without findings$/m)
    expect(code).toBe(3)
  })

  it('has what the host changes if there is one file, and what becomes of the signatures of the author', async () => {
    const { name, description, url } = clean
    const card = { name, description, url }
    const filled = /^cards\/a\.json gopherhole\n[\s\S]*\n {2}filled \/protocolVersion set to "1\.0"/
    expect((await lintText({ 'a.json': card })).stdout).toMatch(filled)
    expect((await lintText({ 'a.json': card, 'b.json': card })).stdout).not.toContain('\n  filled')
    expect((await lintText({ 'a.json': { ...clean, '\u001b[J': 1 } })).stdout).toMatch(/not in .*: \/\\u001b\[J/)
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

  it('has with --quiet only what makes it fail', async () => {
    const b = ['cards/b.json', '  cards/b.json:6:3']
    const rows: [flags: string, cards: Record<string, unknown>, code: number, lines: string[]][] = [
      ['', { 'b.json': warned }, 0, []],
      ['--strict', { 'b.json': warned }, 1, b],
      ['', { 'a.json': clean, 'b.json': failed, 'c.json': warned }, 1, b],
      ['--strict', { 'a.json': clean }, 0, []],
      ['', { 'a.json': '{' }, 3, ['cards/a.json', '  cards/a.json:1:2']],
    ]
    for (const [flags, cards, code, lines] of rows) {
      expect(await lintText(cards, `--quiet ${flags}`)).toMatchObject({ code, lines: [...lines, ''] })
      expect((await lintText(cards, flags)).code).toBe(code)
    }
  })

  it('has the infos of a single file, and counts those of several', async () => {
    const { securitySchemes: _, security: __, ...plain } = clean
    const single = /^ {2}cards\/a\.json:\d+:\d+ info [\s\S]*^1 file: 1 info$/m
    expect((await lintText({ 'a.json': plain })).stdout).toMatch(single)
    const several = await lintText({ 'a.json': plain, 'b.json': plain, 'c.json': failed, 'd.json': clean })
    expect(several.lines.filter(line => line.startsWith('cards/'))).toEqual(['cards/c.json'])
    expect(several.stdout).toMatch(
      /^4 files: 1 error, 2 infos \(shown by npx sync-card lint FILE\), 1 without findings$/m,
    )
  })

  it('has with --only the agents that match, and files without an id', async () => {
    const cards = { 'team1-a.json': failed, 'team2-b.json': failed }
    const both = { ...cards, 'NO ID.json': clean }
    const one = await lintText(cards, '--only team1-*')
    expect(one.stdout).toMatch(/^cards\/team1-a\.json[\s\S]*\n1 file: 1 error$/m)
    expect((await lintText(both, '--only team1-*')).stdout).toMatch(/^2 files: 1 invalid/m)
    expect((await lintText(cards, '--only team3-*')).code).toBe(2)
  })
})

it('removes from keys and messages what commands a terminal or a CI service', async () => {
  const key = JSON.stringify('x\u001b[J\n::error::')
  const files = {
    'cards/a.json': { id: 'a', [JSON.parse(key)]: 1, card: good },
    'cards/b.json': `{ ${key}: 1, ${key}: 2 }`,
  }
  const { stdout } = await lint(files)
  expect(stdout).toContain('/x\\u001b[J\\n::error:: is not a known field')
  expect(stdout).toContain('already has the key "x\\u001b[J\\n::error::", in line 1.')
})
