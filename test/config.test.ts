import { describe, expect, it, vi } from 'vitest'
import { config, type Variables } from '../src/config.ts'

const parse = (env: Variables) => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const parsed = config(env)
  const logged = error.mock.calls.map(([line]) => JSON.parse(line))
  error.mockRestore()
  return { ...parsed, logged }
}

describe('the configuration of a host', () => {
  it('has a default for each variable', () => {
    const defaults = {
      adminToken: undefined,
      publicOrigin: undefined,
      rootAgent: undefined,
      role: 'public',
      offersMcp: true,
      cacheSeconds: 86_460,
      maxAgeSeconds: 60,
      publicCacheControl: 'public, max-age=60, stale-while-revalidate=86400',
      upstreamTimeoutSeconds: 60,
      streamIdleTimeoutSeconds: 120,
      allowedOrigins: new Set(),
      localOrigins: undefined,
      webhookUrl: undefined,
      issues: [],
      logged: [],
    }
    expect(parse({})).toEqual(defaults)
    const empty = { PUBLIC_URL: '', ROOT_AGENT: '', ROLE: '', CACHE_MAX_AGE: '', UPSTREAM_TIMEOUT: '', ADMIN_TOKEN: '' }
    expect(parse({ ...empty, ALLOWED_ORIGINS: '', WEBHOOK_URL: '', LOCAL_ORIGINS: '' })).toEqual(defaults)
  })

  it('has the value of a variable that is right', () => {
    for (const [env, expected] of [
      [{ ADMIN_TOKEN: 'of-16-characters' }, { adminToken: 'of-16-characters' }],
      [{ PUBLIC_URL: 'https://cards.example.com' }, { publicOrigin: 'https://cards.example.com' }],
      [{ PUBLIC_URL: 'http://Localhost:8787/' }, { publicOrigin: 'http://localhost:8787' }],
      [{ ROOT_AGENT: 'weather-2' }, { rootAgent: 'weather-2' }],
      [{ ROLE: ' internal ' }, { role: 'internal' }],
      [{ MCP: 'off' }, { offersMcp: false }],
      [
        { CACHE_MAX_AGE: '0', CACHE_STALE_WHILE_REVALIDATE: '999999999' },
        { cacheSeconds: 999_999_999, publicCacheControl: 'public, max-age=0, stale-while-revalidate=999999999' },
      ],
      [{ UPSTREAM_TIMEOUT: '0.3' }, { upstreamTimeoutSeconds: 0.3 }],
      [{ STREAM_IDLE_TIMEOUT: '86400' }, { streamIdleTimeoutSeconds: 86_400 }],
      [
        { ALLOWED_ORIGINS: ' http://localhost:9000/a2a,https://[::1]:8443  ' },
        { allowedOrigins: new Set(['http://localhost:9000', 'https://[::1]:8443']) },
      ],
      [{ WEBHOOK_URL: 'https://hooks.example.com/a?b' }, { webhookUrl: 'https://hooks.example.com/a?b' }],
      [
        { WEBHOOK_URL: 'http://127.0.0.1:9000/hook', ALLOWED_ORIGINS: 'http://127.0.0.1:9000' },
        { webhookUrl: 'http://127.0.0.1:9000/hook' },
      ],
      [
        { LOCAL_ORIGINS: 'http://127.0.0.1:8787 chrome-extension://mine', PUBLIC_URL: 'https://tunnel.example' },
        { localOrigins: ['http://127.0.0.1:8787', 'chrome-extension://mine', 'https://tunnel.example'] },
      ],
    ] as const)
      expect([env, parse(env)]).toEqual([env, expect.objectContaining({ ...expected, issues: [], logged: [] })])
  })

  it('has the default of a variable that is wrong, or what is safe, and reports it by name', () => {
    const origin = 'must be an origin such as https://cards.example.com'
    const cache = 'must be a whole number of seconds'
    const timeout = 'must be more than 0 and at most 86400 seconds'
    const webhook = 'must be a public https URL, or one of an origin in ALLOWED_ORIGINS'
    for (const [name, value, expected, message] of [
      ['ADMIN_TOKEN', 'fifteen-letters', { adminToken: undefined }, 'must be at least 16 characters'],
      ['PUBLIC_URL', 'cards.example.com', { publicOrigin: undefined }, origin],
      ['PUBLIC_URL', 'ftp://cards.example.com', { publicOrigin: undefined }, origin],
      // Without the origin, clients would choose that of the URLs in cards.
      ['PUBLIC_URL', 'https://cards.example.com/a', { publicOrigin: 'https://cards.example.com' }, origin],
      ['PUBLIC_URL', 'https://me@cards.example.com', { publicOrigin: 'https://cards.example.com' }, origin],
      ['ROOT_AGENT', 'My Agent', { rootAgent: undefined }, 'must be the id of an agent'],
      ['ROLE', 'Public', { role: 'internal' }, 'must be public or internal'],
      ['MCP', 'none', { offersMcp: false }, 'must be on or off'],
      ['CACHE_MAX_AGE', '-1', { cacheSeconds: 86_460 }, cache],
      ['CACHE_MAX_AGE', '1.5', { cacheSeconds: 86_460 }, cache],
      ['CACHE_STALE_WHILE_REVALIDATE', '1 day', { cacheSeconds: 86_460 }, cache],
      ...['86401', '1e300', 'Infinity', '0', '-1', 'soon'].map(
        value => ['UPSTREAM_TIMEOUT', value, { upstreamTimeoutSeconds: 60 }, timeout] as const,
      ),
      ['STREAM_IDLE_TIMEOUT', 'never', { streamIdleTimeoutSeconds: 120 }, timeout],
      [
        ...(['ALLOWED_ORIGINS', 'localhost:9000 http://localhost:9001'] as const),
        ...[{ allowedOrigins: new Set(['http://localhost:9001']) }, 'must be origins, separated by spaces'],
      ],
      // Changes wait until it is corrected.
      ['WEBHOOK_URL', 'http://hooks.example.com/', { webhookUrl: 'http://hooks.example.com/' }, webhook],
      ['WEBHOOK_URL', 'hooks', { webhookUrl: 'hooks' }, webhook],
    ] as const) {
      const logged = [{ event: 'misconfigured', 'calling_card.detail': `${name} ${message}` }]
      const parsed = parse({ [name]: value })
      const issues = [{ name, message }]
      expect([name, value, parsed]).toEqual([name, value, expect.objectContaining({ ...expected, issues, logged })])
    }
  })

  it('is parsed and logged once for each environment', () => {
    const env = { ROLE: 'open', CACHE_MAX_AGE: 'x' }
    const detail = 'ROLE must be public or internal; CACHE_MAX_AGE must be a whole number of seconds'
    expect(parse(env).logged).toEqual([{ event: 'misconfigured', 'calling_card.detail': detail }])
    expect(parse(env).logged).toEqual([])
    expect(config(env)).toBe(config(env))
  })
})
