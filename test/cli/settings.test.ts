import { describe, expect, it } from 'vitest'
import { readSettings } from '../../cli/settings.ts'
import { UsageError } from '../../cli/usage-error.ts'

describe('where the command learns the host and the token', () => {
  it.each([
    ['nothing: the host that npm start runs', {}, {}, { url: 'http://127.0.0.1:8787', token: 'dev' }],
    ['PORT', {}, { PORT: '9000' }, { url: 'http://127.0.0.1:9000', token: 'dev' }],
    [
      'flags before the environment',
      { url: 'https://a.example.com/', token: 'x' },
      { SYNC_CARD_URL: 'https://b.example.com', ADMIN_TOKEN: 'y' },
      { url: 'https://a.example.com', token: 'x' },
    ],
    [
      'SYNC_CARD_TOKEN before ADMIN_TOKEN',
      {},
      { SYNC_CARD_URL: 'https://b.example.com', SYNC_CARD_TOKEN: 'x', ADMIN_TOKEN: 'y' },
      { url: 'https://b.example.com', token: 'x' },
    ],
    ['ADMIN_TOKEN', {}, { ADMIN_TOKEN: 'y' }, { url: 'http://127.0.0.1:8787', token: 'y' }],
  ])('%s', (_, flags, environment, settings) => {
    expect(readSettings(flags, environment)).toEqual(settings)
  })

  it.each([
    ['no token for a host elsewhere', { url: 'https://a.example.com' }],
    ['an address with a password', { url: 'https://a:hidden@a.example.com', token: 'x' }],
    ['no address', { url: 'cards', token: 'x' }],
    ['another scheme', { url: 'ftp://a.example.com', token: 'x' }],
    ['a token that is none', { token: 'hidden\n' }],
  ])('refuses %s, and repeats no secret', (_, flags) => {
    expect(() => readSettings(flags, {})).toThrow(UsageError)
    expect(() => readSettings(flags, {})).not.toThrow(/hidden/)
  })
})
