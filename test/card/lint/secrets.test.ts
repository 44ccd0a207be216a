import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/json/json.ts'
import { cleanSkill } from '../../support/cards/cards.ts'
import { formatIssues, lintFields } from '../../support/cards/compile.ts'

describe('the linter on secrets', () => {
  /** A part of every secret below, so that no secret scanner reports this file. */
  const random = 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6kL9n'
  const encodeSegment = (value: Json) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const jwt = `${encodeSegment({ alg: 'HS256', typ: 'JWT' })}.${encodeSegment({ sub: 'agent', name: 'A' })}.${random}`
  const secrets: Record<string, string> = {
    'an API key of a model host': `sk-proj-${random}`,
    'an AWS access key': `AKIA${'I7OSFODNN3Q5K2ZB'}`,
    'a GitHub token': `ghp_${random.slice(0, 36)}`,
    'a fine-grained GitHub token': `github_pat_${random}`,
    'a GitLab token': `glpat-${random.slice(0, 20)}`,
    'a Slack token': `xoxb-${'123456789012'}-${random.slice(0, 24)}`,
    'a Google API key': `AIza${random.slice(0, 35)}`,
    'a payment key': `sk_live_${random.slice(0, 24)}`,
    'a live key of an agent': `a2a_live_${random.slice(0, 24)}`,
    'a token of this host': `cc_7f3a_${random}`,
    'a JSON Web Token': jwt,
    'a private key': `-----BEGIN RSA PRIVATE KEY-----\n${random}`,
    'a password in a URL': `https://admin:${random.slice(0, 9)}@db.example.com/`,
    'a token in a query': `https://api.example.com/v1?access_token=${random.slice(0, 20)}`,
  }

  it.each(Object.entries(secrets))('reports %s in any field, without the value', (_, secret) => {
    const issues = lintFields({
      description: `Analyzes code for bugs and style issues. Call it with ${secret} as the key.`,
      version: secret.slice(0, 400).replaceAll('\n', ' '),
      'x-notes': { deep: [secret] },
      skills: [{ ...cleanSkill, examples: [`curl -H "Authorization: Bearer ${secret}"`, 'Review this function'] }],
    })
    expect(formatIssues(issues)).toEqual(
      [
        'secret error /description',
        'secret error /version',
        'secret error /skills/0/examples/0',
        'secret error /x-notes/deep/0',
        'version-semver warning /version',
      ].sort((left, right) => Number(right.startsWith('secret')) - Number(left.startsWith('secret'))),
    )
    expect(JSON.stringify(issues)).not.toContain(secret.slice(4))
  })

  it.each<[string, string]>([
    ['password', 'hunter2'],
    ['dbPassword', 's3cr3t!pw'],
    ['secret', 'topsecret99'],
    ['client_secret', random.slice(0, 16)],
    ['token', random.slice(0, 12)],
    ['apiKey', 'abcd1234efgh5678'],
    ['api_key', random],
    ['X-Api-Key', random],
    ['accessToken', random],
    ['privateKey', random],
    ['credentials', random],
  ])('reports the value of "%s": %s', (name, value) => {
    expect(formatIssues(lintFields({ 'x-backend': { [name]: value } }))).toEqual([`secret error /x-backend/${name}`])
  })

  it.each<[string, string]>([
    ['password', 'required'],
    ['password', '********'],
    ['password', 'at least 8 characters'],
    ['secret', 'WEATHER_TOKEN_2'],
    ['secret', 'your-secret-123'],
    ['token', 'ERC-8004'],
    ['token', 'USDC-base-8453'],
    ['token', `0x${'833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'}`],
    ['token', 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'],
    ['tokenUrl', `https://id.example.com/${random}`],
    ['apiKey', 'X-API-Key-V2'],
    ['apiKey', 'header'],
    ['apiKey', '<your-api-key-1234>'],
    ['apiKey', '$API_KEY_1_TOKEN'],
    ['publicKey', random],
    ['id', random],
    ['usage', 'Bearer gph_xxx'],
    ['usage', 'Authorization: Bearer a2a_live_xxxxxxxxxxxxxxxx'],
    ['usage', 'sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxx'],
    ['usage', 'AKIAIOSFODNN7EXAMPLE'],
    ['usage', 'postgres://user:password@db.example.com/'],
    ['usage', 'https://example.com/?key=YOUR_API_KEY_123'],
    ['usage', 'https://example.com/?sort_key=created-at-2024'],
    ['usage', '-----BEGIN PUBLIC KEY-----'],
    ['usage', 'task-management-and-planning'],
  ])('allows "%s": "%s"', (name, value) => {
    expect(formatIssues(lintFields({ 'x-backend': { [name]: value } }))).toEqual([])
  })

  it('allows names of schemes, flows and scopes', () => {
    const securitySchemes = {
      apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      token: {
        type: 'oauth2',
        flows: {
          clientCredentials: { tokenUrl: 'https://id.example.com/token2', scopes: { secret: 'Read 2 secrets' } },
        },
      },
    }
    expect(formatIssues(lintFields({ securitySchemes, security: [{ apiKey: [] }, { token: [] }] }))).toEqual([])
  })
})
