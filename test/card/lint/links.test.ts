import { expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { formatIssues, lintFields } from '../../support/cards/compile.ts'

const provider = { organization: 'Acme', url: 'https://acme.example' }

it.each<[string, JsonObject, string[]]>([
  [
    'whole links',
    { documentationUrl: 'https://docs.example.com', iconUrl: 'http://cdn.example.com/i.png', provider },
    [],
  ],
  ['a relative link', { documentationUrl: '/docs' }, ['link-url warning /documentationUrl']],
  ['a mail address', { termsOfServiceUrl: 'mailto:legal@example.com' }, ['link-url warning /termsOfServiceUrl']],
  ['a local icon', { iconUrl: 'http://localhost:3000/icon.png' }, ['link-url warning /iconUrl']],
  ['a bare host', { privacyPolicyUrl: 'example.com/privacy' }, ['link-url warning /privacyPolicyUrl']],
  ['a provider without a link', { provider: { organization: 'Acme' } }, ['provider-incomplete warning /provider']],
  [
    'a provider without a name',
    { provider: { url: 'https://acme.example' } },
    ['provider-incomplete warning /provider'],
  ],
  ['a provider that is a name', { provider: 'Acme' }, ['provider-incomplete warning /provider']],
  [
    'a provider with a bare host',
    { provider: { ...provider, url: 'acme.example' } },
    ['link-url warning /provider/url'],
  ],
  ["Shaman's provider", { provider: { name: 'Acme', url: 'https://acme.example' } }, []],
])('a card with %s: %j', (_, fields, expected) => {
  expect(formatIssues(lintFields(fields as Record<string, Json>))).toEqual(expected)
})

it("points at Shaman's own name of the icon", () => {
  expect(
    formatIssues(
      lintFields({
        icon: 'http://localhost/icon.png',
        capabilities: { streaming: true, pushNotifications: false, stateHistory: true },
      }),
    ),
  ).toEqual(['link-url warning /icon'])
})

it('lets an internal card link to the network that it lives in', () => {
  expect(formatIssues(lintFields({ documentationUrl: 'http://wiki.internal/' }, { visibility: 'internal' }))).toEqual(
    [],
  )
})
