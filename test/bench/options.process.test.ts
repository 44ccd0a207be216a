import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { HELP, parseOptions, SCENARIOS } from '../../bench/options.ts'

const root = join(import.meta.dirname, '../..')
const names = Object.keys(SCENARIOS)
const all = { scenarios: names, agents: 100_000, only: '', beside: '', quick: false, json: false, accept: false }

describe('the options of the benchmark', () => {
  it.each<[args: string[], expected: object]>([
    [[], all],
    [['--quick', '--json', '--accept'], { ...all, quick: true, json: true, accept: true }],
    [['registry', '--agents=1000000'], { ...all, scenarios: ['registry'], agents: 1_000_000 }],
    [['--beside', 'HEAD~1', 'writes'], { ...all, scenarios: ['writes'], beside: 'HEAD~1' }],
    [['--agents=many'], { error: '--agents must be a number from 1000 to 9999999.' }],
    [['--agents=0'], { error: '--agents must be a number from 1000 to 9999999.' }],
    [['--only', 'careful'], { ...all, scenarios: ['calls'], only: 'careful' }],
    [['--only=token', 'calls'], { ...all, scenarios: ['calls'], only: 'token' }],
    [['--only', ''], all],
    [
      ['--only=token', 'calls', 'starts'],
      { error: '--only chooses figures of the scenario calls: leave out the others.' },
    ],
    [['calls', 'starts'], { ...all, scenarios: ['calls', 'starts'] }],
    [['--help'], { help: HELP }],
    [['-h', 'calls'], { help: HELP }],
    [['call'], { error: `Unknown scenario "call". Scenarios: ${names.join(', ')}.` }],
    [['toString'], { error: `Unknown scenario "toString". Scenarios: ${names.join(', ')}.` }],
    [['--fast'], { error: "Unknown option '--fast'. See npm run bench -- --help." }],
  ])('are read from %j', (args, expected) => {
    expect(parseOptions(args)).toEqual(expected)
  })

  it('are explained by --help, which measures nothing', () => {
    const printed = execFileSync(process.execPath, ['bench/run.ts', '--help'], { cwd: root, encoding: 'utf8' })
    expect(printed).toBe(`${HELP}\n`)
    expect(printed.split('\n').filter(line => line.length > 120)).toEqual([])
    for (const [name, text] of Object.entries(SCENARIOS))
      expect(printed).toMatch(new RegExp(`^  ${name} +${text.slice(0, 20)}`, 'm'))
    for (const option of ['--quick', '--json', '--agents', '--only', '--beside', '--accept', '-h, --help'])
      expect(printed).toContain(`  ${option} `)
  })

  it('that do not exist end the command with 2', () => {
    const { status, stderr, stdout } = spawnSync(process.execPath, ['bench/run.ts', '--fast'], { cwd: root })
    expect([status, `${stderr}`, `${stdout}`]).toEqual([
      2,
      "Unknown option '--fast'. See npm run bench -- --help.\n",
      '',
    ])
  })

  it('name a commit that this clone has, or end the command with 2', () => {
    const { status, stderr } = spawnSync(process.execPath, ['bench/run.ts', '--beside', 'no-such-ref'], { cwd: root })
    expect([status, `${stderr}`]).toEqual([2, 'This clone has no commit "no-such-ref".\n'])
  })

  it('are in docs/design/bench.md', () => {
    const page = readFileSync(join(root, 'docs/design/bench.md'), 'utf8')
    expect(page).toContain(`Scenarios: ${names.map(name => `\`${name}\``).join(', ')}.`)
    for (const option of ['--quick', '--json', '--agents', '--only', '--beside', '--accept', '--help'])
      expect(page).toContain(`npm run bench -- ${option}`)
  })
})
