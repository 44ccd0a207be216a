import { expect, it } from 'vitest'
import { card, useFakeHost } from './workspace.ts'

const { host, renew, run } = useFakeHost()

const withError = card('a', { url: 'https://a.example.com/agent.json' })
const withWarning = card('a', { skills: [{ id: 'ask', name: 'Ask', description: 'Ask', tags: ['a'] }] })

it('sync-card exits with the highest code of its findings', async () => {
  const rows: [args: string, file: unknown, registered: unknown, code: number][] = [
    ['', card('a'), undefined, 0],
    ['--check', withWarning, withWarning, 0],
    ['--force', withError, undefined, 0],
    ['--check', card('a'), undefined, 1],
    ['--check', withError, withError, 1],
    ['--strict --force', withError, undefined, 1],
    ['--strict --check', withWarning, withWarning, 1],
    ['--watch --check', card('a'), undefined, 2],
    ['--dry-run', withError, undefined, 3],
    ['--check', '{', card('a'), 3],
  ]
  for (const [args, file, registered, code] of rows) {
    renew()
    if (registered !== undefined) host.register('a', { card: registered })
    expect((await run({ 'cards/a.json': file }, args)).code, args).toBe(code)
  }
})
