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
  withoutControls,
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

  it('writes data byte for byte, whatever it contains', () => {
    const { terminal, read } = create()
    terminal.out('\u001b[31m\u009b0m')
    expect(read().stdout).toBe('\u001b[31m\u009b0m\n')
  })

  it.each([
    [{}, 'mode: done\t1'],
    [{ FORCE_COLOR: '1' }, '\u001b[1mmode\u001b[22m: done\t1'],
  ])('removes what else commands a terminal from texts for people (%j)', (env, text) => {
    const { terminal, read } = create(env)
    terminal.info('\u001b[1mmode\u001b[22m: \u001b\u0007\r\u009ddone\t1')
    terminal.report('a\u001b\r\nb')
    expect(read()).toEqual({ stdout: 'a\nb\n', stderr: `${text}\n` })
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
    const answers = terminal.ask([{ text: 'Name?', byDefault: () => '', check: () => undefined }])
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
  it('aligns columns two spaces apart, without trailing spaces and regardless of colours', () => {
    const rows = [
      [colors.dim('id'), colors.dim('expires'), colors.dim('note')],
      ['abc', colors.yellow('expired'), ''],
      ['a', 'never', 'CI'],
    ]
    const { terminal, read } = create()
    terminal.report(formatTable(rows))
    expect(read().stdout).toBe('id   expires  note\nabc  expired\na    never    CI\n')
  })
})

describe('withoutControls', () => {
  it('removes control characters and keeps all others', () => {
    expect(withoutControls('\u001b[2Ja\u0007\u009bb\nü日')).toBe('[2Jabü日')
  })
})
