import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import {
  colors,
  createTerminal,
  formatTable,
  type Output,
  withoutControls,
  withoutReports,
} from '../../cli/terminal.ts'

const create = (env: Record<string, string> = {}, isTTY = false) => {
  const stream = (): PassThrough & Output => Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY })
  const [stdin, stdout, stderr] = [stream(), stream(), stream()]
  const terminal = createTerminal({ stdin, stdout, stderr, env }, 'sync-card')
  return { terminal, stdin, read: () => ({ stdout: stdout.read() ?? '', stderr: stderr.read() ?? '' }) }
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

  it.each([
    ['many steps on a terminal', 5, true, true],
    ['few steps', 4, true, false],
    ['many steps without a terminal', 5, false, false],
  ])('shows progress for %s: %i', (_, total, isTTY, isShown) => {
    const { terminal, read } = create({}, isTTY)
    const progress = terminal.progress('Pushing', total)
    progress.tick()
    progress.stop()
    expect(read().stderr.includes('Pushing')).toBe(isShown)
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
