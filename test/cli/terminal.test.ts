import { PassThrough } from 'node:stream'
import { setImmediate as nextTick } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { InterruptedError } from '../../cli/exit-codes.ts'
import {
  colors,
  createTerminal,
  formatCount,
  formatTable,
  type Output,
  withoutProgress,
  withoutReports,
} from '../../cli/terminal.ts'

const create = (env: Record<string, string> = {}, isTTY = false) => {
  const stream = (): PassThrough & Output => Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY })
  const [stdin, stdout, stderr] = [stream(), stream(), stream()]
  const terminal = createTerminal({ stdin, stdout, stderr, env }, 'sync-card')
  return { terminal, stdin, stdout, stderr, read: () => ({ stdout: stdout.read() ?? '', stderr: stderr.read() ?? '' }) }
}

describe('createTerminal', () => {
  it('writes data and reports to stdout, everything else to stderr', () => {
    const { terminal, read } = create()
    terminal.out('{}')
    terminal.report('= unchanged')
    terminal.info('Waiting')
    terminal.error('No token.')
    expect(read()).toEqual({ stdout: '{}\n= unchanged\n', stderr: 'Waiting\nsync-card: No token.\n' })
  })

  it.each([
    ['a terminal', {}, true, true],
    ['no terminal', {}, false, false],
    ['a dumb terminal', { TERM: 'dumb' }, true, false],
    ['NO_COLOR on a terminal', { NO_COLOR: '1', FORCE_COLOR: '1', CI: '1' }, true, false],
    ['FORCE_COLOR without a terminal', { FORCE_COLOR: '1' }, false, true],
    ['FORCE_COLOR=0 on a terminal', { FORCE_COLOR: '0' }, true, false],
    ['a CI log', { CI: 'true' }, false, true],
  ])('shows colours for %s: %j', (_, env, isTTY, hasColors) => {
    const { terminal, read } = create(env, isTTY)
    terminal.report(colors.red('refused'))
    expect(read().stdout).toBe(hasColors ? '\u001b[31mrefused\u001b[39m\n' : 'refused\n')
  })

  it('escapes what else commands a terminal, as JSON does, and keeps data the same JSON', () => {
    const { terminal, read } = create({ FORCE_COLOR: '1' })
    const text = '\u001b[31m\u0007\r\n\t\u007f\u009b0m\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069'
    const escaped =
      '\\u001b[31m\\u0007\\r\\n\\t\\u007f\\u009b0m\\u061c\\u200e\\u200f\\u2028\\u2029\\u202a\\u202e\\u2066\\u2069'
    terminal.info(`${text}: ${colors.bold(text)}`)
    terminal.report([text, 'b'])
    expect(read()).toEqual({ stdout: `${escaped}\nb\n`, stderr: `${escaped}: \u001b[1m${escaped}\u001b[22m\n` })
    terminal.error([text, text])
    expect(read().stderr).toBe(`\u001b[31msync-card:\u001b[39m ${escaped}\n${escaped}\n`)
    terminal.out(`{\n\t"a": ${JSON.stringify(text)}\n}`)
    expect(read().stdout).toBe(`{\n\t"a": "${escaped}"\n}\n`)
  })

  it('keeps the texts of all languages, and emoji', () => {
    const { terminal, read } = create()
    const text = 'naïve नमस्ते 日本語 한국어 السلام שלום می‌خواهم 👩‍👩‍👧 🏴󠁧󠁢󠁳󠁣󠁴󠁿 e\u0301'
    terminal.out(text)
    terminal.report(text)
    expect(read().stdout).toBe(`${text}\n${text}\n`)
  })

  it('writes a line of a file byte for byte, unless a person reads it', () => {
    for (const isTTY of [false, true]) {
      const { terminal, read } = create({}, isTTY)
      terminal.raw('a\u009bb')
      expect(read().stdout).toBe(isTTY ? 'a\\u009bb\n' : 'a\u009bb\n')
    }
  })

  it('writes tables with a head for people, and with tabs for programs', () => {
    for (const isTTY of [false, true]) {
      const { terminal, read } = create({ NO_COLOR: '1' }, isTTY)
      terminal.table(['id', 'name'], [['a\tb', 'c\nd']])
      expect(read().stdout).toBe(isTTY ? 'id    name\na\\tb  c\\nd\n' : 'a\\tb\tc\\nd\n')
    }
  })

  it('escapes what commands a terminal in questions', async () => {
    const { terminal, stdin, stderr } = create()
    const answers = terminal.prompt(ask =>
      ask('a\u009b?', { check: answer => (answer === '' ? 'b\u009b' : undefined) }),
    )
    stdin.write('\nc\n')
    expect(await answers).toBe('c')
    expect(stderr.read()).toBe('a\\u009b?   b\\u009b\na\\u009b? ')
  })

  it('keeps data and drops reports with --json', () => {
    const { terminal, read } = create()
    withoutReports(terminal).report('= unchanged')
    withoutReports(terminal).out('{}')
    expect(read().stdout).toBe('{}\n')
  })

  it.each([
    ['y\n', true],
    ['Yes\n', true],
    ['n\n', false],
    ['\n', false],
    ['yesterday\n', false],
  ])('confirms by the answer %j: %s', async (answer, confirmed) => {
    const { terminal, stdin, read } = create()
    const confirmation = terminal.confirm('Delete a?')
    stdin.write(answer)
    expect(await confirmation).toBe(confirmed)
    expect(read()).toEqual({ stdout: '', stderr: 'Delete a? (y/N) ' })
  })

  it('does not confirm when the prompt is left', async () => {
    const { terminal, stdin } = create()
    const confirmation = terminal.confirm('Delete a?')
    stdin.end()
    expect(await confirmation).toBe(false)
  })

  it('does not confirm after Ctrl-C in the prompt, which interrupts the command', async () => {
    const { terminal, stdin, stderr } = create({}, true)
    const confirmation = terminal.confirm('Delete a?')
    stdin.write('\u0003')
    await expect(confirmation).rejects.toThrow(InterruptedError)
    expect(stderr.read()).toMatch(/Delete a\?.*\n$/)
  })

  it('throws after Ctrl-C in a question, which interrupts the command', async () => {
    const { terminal, stdin } = create({}, true)
    const answers = terminal.prompt(ask => ask('Name?'))
    stdin.write('\u0003')
    await expect(answers).rejects.toThrow(InterruptedError)
  })

  it.each(['before', 'while'])('interrupts a prompt whose signal is aborted %s it is shown', async when => {
    const { terminal } = create()
    const interruption = new AbortController()
    if (when === 'before') interruption.abort()
    const confirmation = terminal.confirm('Delete a?', interruption.signal)
    interruption.abort()
    await expect(confirmation).rejects.toThrow(InterruptedError)
  })
})

/** Returns what a terminal shows after it received a text with carriage returns and erased lines. */
const screenOf = (text: string): string[] =>
  text.split('\n').map(line =>
    line.split('\r').reduce((shown, part) => {
      const [written = '', ...erased] = part.split('\u001b[K')
      return erased.length > 0 ? written + erased.join('') : written + shown.slice(written.length)
    }, ''),
  )

describe('a progress bar', () => {
  /** Starts a bar of four filled out of six steps; `screen` returns what is shown. */
  const start = () => {
    const { terminal, stdout, stderr } = create({}, true)
    let written = ''
    for (const stream of [stdout, stderr]) stream.on('data', (chunk: string) => (written += chunk))
    const progress = terminal.progress('Pushing', 6)
    for (let step = 0; step < 4; step++) progress.tick()
    return { terminal, stderr, progress, screen: () => screenOf(written), written: () => written }
  }
  const bar = `Pushing ${'█'.repeat(20)}${'░'.repeat(10)} 4/6`

  it('shows how many steps are done', async () => {
    const { screen } = start()
    await nextTick()
    expect(screen()).toEqual([bar])
  })

  it.each(['info', 'report', 'out', 'error'] as const)('stays whole below what `%s` writes', async method => {
    const { terminal, screen } = start()
    terminal[method]('retrying')
    await nextTick()
    expect(screen()).toEqual([expect.stringMatching(/^(\S*sync-card:\S* )?retrying$/), bar])
  })

  it('leaves nothing behind when it stops before the end, as after a failure', async () => {
    const { progress, terminal, screen } = start()
    progress.stop()
    terminal.info('Stopped')
    await nextTick()
    expect(screen()).toEqual(['Stopped', ''])
  })

  it('does not hide the cursor, which nobody would show again after a second Ctrl-C', async () => {
    const { written } = start()
    await nextTick()
    expect(written()).not.toContain('\u001b[?25l')
  })

  it.each([
    ['is cut where the line ends: one that wraps could not be erased', 20, `Pushing ${'█'.repeat(11)}`],
    ['is whole on a terminal that does not know its size', 0, `Pushing ${'█'.repeat(25)}${'░'.repeat(5)} 5/6`],
  ])('%s', async (_, columns, shown) => {
    const { stderr, progress, screen } = start()
    Object.assign(stderr, { columns })
    progress.tick()
    await nextTick()
    expect(screen()).toEqual([shown])
  })

  it.each<[string, number, boolean, Record<string, string>]>([
    ['for few steps', 4, true, {}],
    ['in a pipe', 5, false, {}],
    ['in a CI log', 5, false, { CI: '1' }],
    ['on a terminal that cannot move its cursor', 5, true, { TERM: 'dumb' }],
  ])('is not shown %s', (_, total, isTTY, env) => {
    const { terminal, read } = create(env, isTTY)
    const progress = terminal.progress('Pushing', total)
    progress.tick()
    progress.stop()
    expect(read()).toEqual({ stdout: '', stderr: '' })
  })

  it('is not shown with --quiet, nor are notes', () => {
    const { terminal, read } = create({}, true)
    const quiet = withoutProgress(terminal)
    quiet.progress('Pushing', 5).tick()
    quiet.info('retrying')
    expect(read()).toEqual({ stdout: '', stderr: '' })
  })
})

describe('formatCount', () => {
  it.each([
    [0, '0 agents'],
    [1, '1 agent'],
    [2, '2 agents'],
  ])('writes %i as "%s"', (count, text) => {
    expect(formatCount(count, 'agent')).toBe(text)
  })
})

describe('formatTable', () => {
  it('aligns columns two spaces apart, without trailing spaces and regardless of colors', () => {
    const rows = [
      [colors.dim('id'), colors.dim('expires'), colors.dim('note')],
      ['abc', colors.yellow('expired'), ''],
      ['a', 'never', 'CI'],
    ]
    const { terminal, read } = create()
    terminal.report(formatTable(rows))
    expect(read().stdout).toBe('id   expires  note\nabc  expired\na    never    CI\n')
  })

  it.each([
    ['abc', 3],
    ['日本', 4],
    ['한글', 4],
    ['ｆｕｌｌ', 8],
    ['ﾊﾝｶｸ', 4],
    ['e\u0301', 1],
    ['✓', 1],
    ['👩‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['\u200d', 0],
    ['\u001b', 6],
  ])('counts the columns of %s: %i', (cell, columns) => {
    const [first = ''] = formatTable([
      [cell, '|'],
      ['1234567890', '|'],
    ])
    expect(first.slice(cell.length)).toBe(`${' '.repeat(12 - columns)}|`)
  })

  it('does not make each row as long as one very long cell', () => {
    const [first = '', second = ''] = formatTable([
      ['a'.repeat(100_000), 'b'],
      ['a', 'b'],
    ])
    expect([first.length, second.length]).toEqual([100_003, 203])
  })
})
