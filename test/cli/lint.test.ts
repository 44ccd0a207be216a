import { describe, expect, it } from 'vitest'
import { lintSarif } from '../../cli/reporters/sarif.ts'
import type { Issue } from '../../src/card/model/report.ts'
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
    expect(stdout).toMatch(/1 file: 0 invalid, 1 error,/)
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
      expect(stdout).toMatch(/1 file: 0 invalid, 0 errors/)
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
    const [run] = JSON.parse(lintSarif([{ file: at.file, problems: [], issues: findings }])).runs
    expect(run.results.map(({ ruleId, level }: { ruleId: string; level: string }) => [ruleId, level])).toEqual([
      ['rule-error', 'error'],
      ['rule-warning', 'warning'],
      ['rule-info', 'note'],
    ])
    expect(run.results[0].locations[0].physicalLocation.artifactLocation.uri).toBe('cards/a%20b.json')
  })
})

const location = (uri: string, startLine: number, startColumn: number) =>
  expect.objectContaining({
    physicalLocation: { artifactLocation: { uri, uriBaseId: '%SRCROOT%' }, region: { startLine, startColumn } },
  })
