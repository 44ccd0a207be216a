import { describe, expect, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import { parseSeconds, resolveSecret } from '../../src/http/bindings.ts'

const config = unstable_readConfig({ config: 'wrangler.toml' }, { hideWarnings: true })
const variables = [...Object.keys(config.vars), ...(config.secrets?.required ?? [])]

describe('resolveSecret', () => {
  it('is tested with the variables of wrangler.toml', () => {
    expect(variables).toContain('ADMIN_TOKEN')
    expect(variables).toContain('PUBLIC_URL')
  })

  it.each(variables)("does not resolve the host's own variable %s", name => {
    expect(resolveSecret(name, { [name]: 'value' } as unknown as Env)).toEqual({
      misconfigured: `This Worker has no secret "${name}".`,
    })
  })

  it.each([{}, { WEATHER_TOKEN: '' }, { WEATHER_TOKEN: {} }])('does not resolve a secret that is not set: %j', env => {
    expect(resolveSecret('WEATHER_TOKEN', env as unknown as Env)).toEqual({
      misconfigured: 'This Worker has no secret "WEATHER_TOKEN".',
    })
  })

  it.each(['s3cret', ' s3cret', 's3cret\n', ' s3cret\r\n'])('trims a secret: %j', WEATHER_TOKEN => {
    expect(resolveSecret('WEATHER_TOKEN', { WEATHER_TOKEN } as unknown as Env)).toEqual({ secret: 's3cret' })
  })

  it.each([' ', 'two\r\nX-Other: lines', 'två', 'two words'])(
    'rejects a secret that no header can carry: %j',
    WEATHER_TOKEN => {
      expect(resolveSecret('WEATHER_TOKEN', { WEATHER_TOKEN } as unknown as Env)).toEqual({
        misconfigured: 'The secret "WEATHER_TOKEN" is empty, or contains characters that no header can carry.',
      })
    },
  )
})

describe('parseSeconds', () => {
  it.each([
    ['0.3', 0.3],
    ['1', 1],
    ['86400', 86_400],
  ])('parses %j', (text, seconds) => {
    expect(parseSeconds(text, 60)).toBe(seconds)
  })

  it.each(['86401', '1e300', 'Infinity', '0', '-1', 'soon', ''])('returns the default for %j', text => {
    expect(parseSeconds(text, 60)).toBe(60)
  })
})
