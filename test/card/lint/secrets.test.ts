import { describe, expect, it } from 'vitest'
import { containsSecret, createRedaction } from '../../../src/card/lint/index.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { cleanCard, cleanSkill } from '../../support/cards/cards.ts'
import {
  compileCard,
  expectIssues,
  formatIssues,
  getCompileErrors,
  lintCard,
  lintFields,
  parseDocument,
} from '../../support/cards/compile.ts'
import { growth, linear } from '../../support/cpu-time.ts'

/** A part of every secret below, so that no secret scanner reports this file. */
const random = 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6kL9n'
const key = `sk-proj-${random}`
const did = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'

describe('the linter on secrets', () => {
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
    'credentials of a header': `Authorization: Bearer ${random}`,
    'credentials of HTTP Basic': `basic ${random.slice(0, 22)}==`,
    'a token in a fragment': `https://api.example.com/v1#access_token=${random.slice(0, 20)}`,
    'a token in a query': `https://api.example.com/v1?access_token=${random.slice(0, 20)}`,
  }

  it('reports each kind of secret in any field, without the value', () => {
    for (const [name, secret] of Object.entries(secrets)) {
      const issues = lintFields({
        description: `Analyzes code for bugs and style issues. Call it with ${secret} as the key.`,
        version: secret.slice(0, 400).replaceAll('\n', ' '),
        'x-notes': { deep: [secret] },
        skills: [{ ...cleanSkill, examples: [`curl -H "Authorization: Bearer ${secret}"`, 'Review this function'] }],
      })
      expect([name, ...formatIssues(issues)]).toEqual([
        name,
        'secret error /description',
        'secret error /version',
        'secret error /skills/0/examples/0',
        'secret error /x-notes/deep/0',
        'version-semver warning /version',
      ])
      expect(JSON.stringify(issues)).not.toContain(secret.slice(4))
    }
  })

  it('reports the value of a field with the name of a secret', () => {
    const values: Record<string, string> = {
      password: 'hunter2',
      secret: 'topsecret99',
      token: random.slice(0, 12),
      apiKey: 'abcd1234efgh5678',
      accessToken: random,
      privateKey: random,
    }
    for (const [name, value] of Object.entries(values))
      expectIssues([[{ 'x-backend': { [name]: value } }, `secret error /x-backend/${name}`]])
  })

  it('allows names, places, samples and placeholders of secrets', () => {
    const values: Record<string, string[]> = {
      headers: ['Authorization: Bearer header.of.OAuth2-access'],
      note: ['Basic base64-encoded-credentials'],
      password: ['required', '********', 'at least 8 characters'],
      secret: ['WEATHER_TOKEN_2', 'your-secret-123'],
      token: ['ERC-8004', 'USDC-base-8453', `0x${'833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'}`, did],
      tokenUrl: [`https://id.example.com/${random}`],
      apiKey: ['X-API-Key-V2', 'header', '<your-api-key-1234>', '$API_KEY_1_TOKEN'],
      publicKey: [random],
      id: [random],
      usage: [
        'Bearer gph_xxx',
        'Authorization: Bearer a2a_live_xxxxxxxxxxxxxxxx',
        'AKIAIOSFODNN7EXAMPLE',
        'postgres://user:password@db.example.com/',
        'https://example.com/?key=YOUR_API_KEY_123',
        'task-management-and-planning',
      ],
    }
    for (const [name, list] of Object.entries(values))
      expectIssues(list.map(value => [{ 'x-backend': { [name]: value } }]))
  })

  it('allows names of schemes, flows and scopes', () => {
    const apiKey = { type: 'apiKey', in: 'header', name: 'X-API-Key' }
    const flow = { tokenUrl: 'https://id.example.com/token2', scopes: { secret: 'Read 2 secrets' } }
    const token = { type: 'oauth2', flows: { clientCredentials: flow } }
    expectIssues([[{ securitySchemes: { apiKey, token }, security: [{ apiKey: [] }, { token: [] }] }]])
  })
})

/** Returns the pointers of the secrets for which a document is not registered, as seen before and after a card is fetched. */
const findPlaces = (document: Json, fetched?: JsonObject): string[] => {
  const { secrets } = compileCard(document, fetched)
  if (fetched === undefined) expect(parseDocument(document).secrets).toEqual(secrets)
  return secrets.map(({ pointer }) => pointer)
}

describe('the secrets for which a card is not registered', () => {
  const { url, ...cardWithoutUrl } = cleanCard
  const source = { upstream: { card: 'https://agent.example.com/card.json' } }
  const addressWithKey = `https://agent.example.com/a2a?key=${random}`

  it('are found in everything that is served', () => {
    const rows: [Json, string][] = [
      [{ ...cleanCard, 'x-key': key }, '/x-key'],
      [{ card: cleanCard, extended: { description: key } }, '/extended/description'],
      [{ card: cleanCard, tiers: { gold: { 'x-a/b': key } } }, '/tiers/gold/x-a~1b'],
      // Front matter of Shaman, and an address that the card shows.
      [{ ...cleanCard, exposed: true, agentcard: { 'x-key': key } }, '/agentcard/x-key'],
      [{ card: cardWithoutUrl, upstream: { url: addressWithKey } }, '/upstream/url'],
    ]
    for (const [document, place] of rows) {
      expect(findPlaces(document)).toEqual([place])
      expect(formatIssues(compileCard(document).report.issues)[0]).toMatch(/^secret error /)
    }
  })

  it('are found in names, at the object that has them', () => {
    const card = { ...cleanCard, 'x-keys': { [key]: { [`a ${key}`]: 1 } } }
    const { report, secrets } = compileCard({ card })
    expect(secrets.map(({ pointer }) => pointer)).toEqual(['/card/x-keys', '/card/x-keys/[secret]'])
    expect(JSON.stringify([report, secrets])).not.toContain(random)
  })

  it('are found in a fetched card, unless the manifest overrides the field', () => {
    const fetched = { ...cleanCard, 'x-key': key }
    expect(findPlaces(source, fetched)).toEqual(['/x-key'])
    expect(findPlaces({ ...source, card: { 'x-key': null } }, fetched)).toEqual([])
    expect(findPlaces({ ...source, card: { 'x-other': key } }, cleanCard)).toEqual(['/card/x-other'])
  })

  it('are found in the tools of an MCP server, and in its address where the card shows it', () => {
    const tools = {
      name: 'a',
      description: 'b',
      skills: [{ name: 'a', inputSchema: { properties: { q: { default: key } } } }],
    }
    const mcp = { upstream: { mcp: addressWithKey.replace('a2a', 'mcp') } }
    expect(findPlaces(mcp, tools)).toEqual(['/skills/0/inputSchema/properties/q/default'])
    expect(findPlaces({ ...mcp, route: 'direct' }, { ...tools, skills: [] })).toEqual(['/upstream/mcp'])
  })

  it('are not found in an address that the card does not show', () => {
    for (const document of [
      { card: cardWithoutUrl, route: 'gateway', upstream: { url: addressWithKey } },
      { card: cleanCard, upstream: { url: addressWithKey } },
    ]) {
      expect(findPlaces(document)).toEqual([])
      expect(formatIssues(lintCard(document.card, document)).join()).not.toContain('secret')
    }
  })

  it('are allowed, and not reported, where `allowSecrets` names their place', () => {
    const rows: [JsonObject, string][] = [
      [{ card: { ...cleanCard, 'x-key': key } }, '/card/x-key'],
      [{ card: cleanCard, tiers: { gold: { 'x-key': key } } }, '/tiers/gold/x-key'],
      [{ card: cardWithoutUrl, upstream: { url: addressWithKey } }, '/upstream/url'],
    ]
    for (const [document, pointer] of rows) {
      expect(findPlaces({ ...document, allowSecrets: ['/card/name'] })).toEqual([pointer])
      const allowed = { ...document, allowSecrets: [pointer] }
      expect(findPlaces(allowed)).toEqual([])
      expect(compileCard(allowed).report.issues).not.toContainEqual(expect.objectContaining({ rule: 'secret' }))
    }
  })

  it('are allowed at one place only', () => {
    const card = { ...cleanCard, 'x-a': key, 'x-b': key, 'x-c': { deep: key } }
    expect(findPlaces({ card, allowSecrets: ['/card/x-a', '/card/x-c'] })).toEqual(['/card/x-b', '/card/x-c/deep'])
  })

  it('come with the pointer to allow, in the manifest that a bare card needs', () => {
    const message = (document: Json, fetched?: JsonObject) => compileCard(document, fetched).secrets[0]?.message
    expect(message({ card: { ...cleanCard, 'x-a': key } })).toMatch(/add "\/card\/x-a" to `allowSecrets`$/)
    expect(message({ ...cleanCard, 'x-a': key })).toMatch(/card under `card`, and "\/card\/x-a" in `allowSecrets`$/)
    expect(message(source, { ...cleanCard, 'x-a': key })).toMatch(/add "\/x-a" to `allowSecrets`$/)
  })
})

describe('a report on a card with secrets', () => {
  it('does not repeat one in a note or an error', () => {
    const fields: Record<string, Json>[] = [
      { description: `Reads code with ${key}`, skills: [] },
      { description: 'x', password: 'hunter2', skills: [] },
      { skills: [{ name: key, description: 'Reads code' }] },
      { capabilities: [key] },
      { defaultInputModes: [key] },
      { securitySchemes: { a: { type: key } }, security: [{ a: [] }] },
    ]
    for (const document of [...fields.map(each => ({ ...cleanCard, ...each })), { id: key, card: cleanCard }]) {
      const text = JSON.stringify(compileOrErrors(document as Json))
      expect(text).not.toContain(random.slice(0, 8))
      expect(text).not.toContain('hunter2')
    }
  })

  it('does not repeat one of an MCP server', () => {
    const tool = { id: key, name: key, inputSchema: { properties: { q: {} } } }
    const fetched = { name: 'a', description: 'b', skills: [tool] }
    const { filled, converted } = compileCard({ upstream: { mcp: 'https://a.example.com/mcp' } }, fetched).report
    const notes = JSON.stringify([filled, converted])
    expect(notes).toContain('Calls the tool [secret] with q.')
    // Also not as the id of a skill, which has other letters.
    expect(notes.toLowerCase().replaceAll('-', '')).not.toContain(random.toLowerCase().slice(0, 12))
  })

  it('keeps the rest of a message, and messages without a secret', () => {
    const { filled } = compileCard({ ...cleanCard, description: `Reads code with ${key}`, skills: [] }).report
    const message = filled.find(({ pointer }) => pointer === '/skills')?.message
    expect(message).toContain('"description":"Reads code with [secret]"')
    const { report } = compileCard({ ...cleanCard, description: 'Reads code', skills: [] })
    expect(report.filled.find(({ pointer }) => pointer === '/skills')?.message).toContain('"Reads code"')
  })

  it('takes linear time for the number of secrets that begin alike', () => {
    const redactMany = (count: number) => {
      const keys = Array.from({ length: count }, (_, index) => `${key}${index}`)
      return createRedaction([keys])(keys.map(message => ({ pointer: '', message })))
    }
    expect(redactMany(40).map(({ message }) => message)).toEqual(Array(40).fill('[secret]'))
    expect(growth(50, redactMany)).toBeLessThan(linear)
  })
})

const compileOrErrors = (document: Json) => {
  try {
    return compileCard(document).report
  } catch {
    return getCompileErrors(document)
  }
}

it('finds a secret in any JSON value', () => {
  expect(containsSecret([{ deep: key }])).toBe(true)
  expect(containsSecret('hunter2', 'password')).toBe(true)
  expect(containsSecret('hunter2', 'name')).toBe(false)
})
