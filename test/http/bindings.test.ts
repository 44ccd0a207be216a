import { expect, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import { resolveSecret } from '../../src/http/bindings.ts'

const config = unstable_readConfig({ config: 'wrangler.toml' }, { hideWarnings: true })
const names = [...Object.keys(config.vars), ...(config.secrets?.required ?? [])]

it('knows variables in wrangler.toml', () => {
  expect(names).toContain('ADMIN_TOKEN')
  expect(names).toContain('PUBLIC_URL')
})

it.each(names)('does not give manifests the host variable %s as a secret', name => {
  expect(resolveSecret(name, { [name]: 'value' } as unknown as Env)).toEqual({
    misconfigured: `This Worker has no secret "${name}".`,
  })
})

it('gives manifests every other secret', () => {
  expect(resolveSecret('WEATHER_TOKEN', { WEATHER_TOKEN: ' value\n' } as unknown as Env)).toEqual({ secret: 'value' })
})

it.each(['s3cret', ' s3cret', 's3cret\n', ' s3cret\r\n'])('trims a secret: %j', value => {
  expect(resolveSecret('WEATHER_TOKEN', { WEATHER_TOKEN: value } as unknown as Env)).toEqual({ secret: 's3cret' })
})

it.each([' ', 'two\r\nX-Other: lines', 'två', 'two words'])('refuses a secret that no header can carry: %j', value => {
  expect(resolveSecret('WEATHER_TOKEN', { WEATHER_TOKEN: value } as unknown as Env)).toEqual({
    misconfigured: 'The secret "WEATHER_TOKEN" is empty, or contains characters that no header can carry.',
  })
})

it.each([{}, { WEATHER_TOKEN: '' }, { WEATHER_TOKEN: {} }])('does not find a secret that is not set: %j', bindings => {
  expect(resolveSecret('WEATHER_TOKEN', bindings as unknown as Env)).toEqual({
    misconfigured: 'This Worker has no secret "WEATHER_TOKEN".',
  })
})
