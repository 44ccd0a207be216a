import { PassThrough } from 'node:stream'
import { setImmediate as nextTick } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { InterruptedError } from '../../cli/errors.ts'
import { colors, createTerminal, formatCount, formatTable, type Output, withoutProgress } from '../../cli/terminal.ts'

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

  it('shows colours on a terminal or in a CI log, unless a variable decides otherwise', () => {
    const rows: [env: Record<string, string>, isTTY: boolean, hasColors: boolean][] = [
      [{}, true, true],
      [{}, false, false],
      [{ TERM: 'dumb' }, true, false],
      [{ NO_COLOR: '1', FORCE_COLOR: '1', CI: '1' }, true, false],
      [{ FORCE_COLOR: '1' }, false, true],
      [{ FORCE_COLOR: '0' }, true, false],
      [{ CI: 'true' }, false, true],
    ]
    for (const [env, isTTY, hasColors] of rows) {
      const { terminal, read } = create(env, isTTY)
      terminal.report(colors.red('refused'))
      const shown = hasColors ? '\u001b[31mrefused\u001b[39m\n' : 'refused\n'
      expect(read().stdout, JSON.stringify([env, isTTY])).toBe(shown)
    }
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

  it('writes a line of a file byte for byte, unless a person reads it, for whom tables have a head', () => {
    for (const isTTY of [false, true]) {
      const { terminal, read } = create({ NO_COLOR: '1' }, isTTY)
      terminal.raw('a\u009bb')
      expect(read().stdout).toBe(isTTY ? 'a\\u009bb\n' : 'a\u009bb\n')
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

  it('confirms only by yes', async () => {
    const confirmed = { 'y\n': true, 'Yes\n': true, 'n\n': false, '\n': false, 'yesterday\n': false }
    for (const [answer, isConfirmed] of Object.entries(confirmed)) {
      const { terminal, stdin, read } = create()
      const confirmation = terminal.confirm('Delete a?')
      stdin.write(answer)
      expect([answer, await confirmation]).toEqual([answer, isConfirmed])
      expect(read()).toEqual({ stdout: '', stderr: 'Delete a? (y/N) ' })
    }
    const { terminal, stdin } = create()
    const confirmation = terminal.confirm('Delete a?')
    // The prompt is left.
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

  it('shows how many steps are done, and stays whole below what is written', async () => {
    for (const method of ['info', 'report', 'out', 'error'] as const) {
      const { terminal, screen } = start()
      terminal[method]('retrying')
      await nextTick()
      expect(screen(), method).toEqual([expect.stringMatching(/^(\S*sync-card:\S* )?retrying$/), bar])
    }
  })

  it('leaves nothing behind when it stops before the end, as after a failure', async () => {
    const { progress, terminal, screen } = start()
    progress.stop()
    terminal.info('Stopped')
    await nextTick()
    expect(screen()).toEqual(['Stopped', ''])
  })

  it('is cut where the line ends, as one that wraps could not be erased, and is whole on an unknown size', async () => {
    for (const [columns, shown] of [
      [20, `Pushing ${'█'.repeat(11)}`],
      [0, `Pushing ${'█'.repeat(25)}${'░'.repeat(5)} 5/6`],
    ] as const) {
      const { stderr, progress, screen } = start()
      Object.assign(stderr, { columns })
      progress.tick()
      await nextTick()
      expect(screen()).toEqual([shown])
    }
  })

  it('is not shown for few steps, in a pipe or log, or on a terminal that cannot move its cursor', () => {
    const rows: [total: number, isTTY: boolean, env: Record<string, string>][] = [
      [4, true, {}],
      [5, false, {}],
      [5, true, { TERM: 'dumb' }],
    ]
    for (const [total, isTTY, env] of rows) {
      const { terminal, read } = create(env, isTTY)
      const progress = terminal.progress('Pushing', total)
      progress.tick()
      progress.stop()
      expect(read()).toEqual({ stdout: '', stderr: '' })
    }
  })

  it('is not shown with --quiet, nor are notes', () => {
    const { terminal, read } = create({}, true)
    const quiet = withoutProgress(terminal)
    quiet.progress('Pushing', 5).tick()
    quiet.info('retrying')
    expect(read()).toEqual({ stdout: '', stderr: '' })
  })
})

it('formatCount writes the plural', () => {
  expect([0, 1, 2].map(count => formatCount(count, 'agent'))).toEqual(['0 agents', '1 agent', '2 agents'])
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

  it('counts the columns that a terminal shows', () => {
    const columns = {
      ...{ abc: 3, 日本: 4, 한글: 4, ｆｕｌｌ: 8, ﾊﾝｶｸ: 4, 'e\u0301': 1, '✓': 1 },
      ...{ '👩‍👩‍👧': 2, '🇩🇪': 2, '❤️': 2, '\u200d': 0, '\u001b': 6 },
    }
    for (const [cell, width] of Object.entries(columns)) {
      const other = ['1234567890', '|']
      const [first = ''] = formatTable([[cell, '|'], other])
      expect(first.slice(cell.length), cell).toBe(`${' '.repeat(12 - width)}|`)
    }
  })

  it('does not make each row as long as one very long cell', () => {
    const long = ['a'.repeat(100_000), 'b']
    const [first = '', second = ''] = formatTable([long, ['a', 'b']])
    expect([first.length, second.length]).toEqual([100_003, 203])
  })
})
