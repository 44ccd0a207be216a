import { describe, expect, it } from 'vitest'
import { loadEnv, resolveHost } from '../../cli/config.ts'
import { UsageError } from '../../cli/exit-codes.ts'
import { Workspace } from './workspace.ts'

describe('resolveHost', () => {
  it.each([
    ['the host that npm start runs by default', {}, {}, { url: 'http://127.0.0.1:8787', token: 'dev' }],
    ['PORT', {}, { PORT: '9000' }, { url: 'http://127.0.0.1:9000', token: 'dev' }],
    [
      'flags over the environment',
      { url: 'https://a.example.com/', token: 'x' },
      { SYNC_CARD_URL: 'https://b.example.com', ADMIN_TOKEN: 'y' },
      { url: 'https://a.example.com', token: 'x' },
    ],
    [
      'SYNC_CARD_TOKEN over ADMIN_TOKEN',
      {},
      { SYNC_CARD_URL: 'https://b.example.com', SYNC_CARD_TOKEN: 'x', ADMIN_TOKEN: 'y' },
      { url: 'https://b.example.com', token: 'x' },
    ],
    ['ADMIN_TOKEN', {}, { ADMIN_TOKEN: 'y' }, { url: 'http://127.0.0.1:8787', token: 'y' }],
  ])('uses %s', (_, flags, environment, settings) => {
    expect(resolveHost(flags, environment)).toEqual(settings)
  })

  it.each([
    ['a remote host without a token', { url: 'https://a.example.com' }],
    ['a URL with a password', { url: 'https://a:hidden@a.example.com', token: 'x' }],
    ['text that is no URL', { url: 'cards', token: 'x' }],
    ['another scheme', { url: 'ftp://a.example.com', token: 'x' }],
    ['a token with a line break', { token: 'hidden\n' }],
  ])('rejects %s without repeating a secret', (_, flags) => {
    expect(() => resolveHost(flags, {})).toThrow(UsageError)
    expect(() => resolveHost(flags, {})).not.toThrow(/hidden/)
  })
})

describe('loadEnv', () => {
  it('overrides .env by the environment, and ignores empty variables in both', () => {
    const { folder } = new Workspace({ '.env': 'PORT=\nSYNC_CARD_URL=""\nADMIN_TOKEN=of-the-file\nROLE=file\n' })
    expect(loadEnv(folder, { ADMIN_TOKEN: 'of-the-shell', ROLE: '', VERBOSE: '1' })).toEqual({
      ADMIN_TOKEN: 'of-the-shell',
      ROLE: 'file',
      VERBOSE: '1',
    })
  })

  it('works without a .env', () => {
    expect(loadEnv(new Workspace().folder, { PORT: '9000' })).toEqual({ PORT: '9000' })
  })
})
