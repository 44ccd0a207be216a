import type { JsonObject } from '../../json/json.ts'
import { formatPointer, type Pointer } from '../../json/pointer.ts'
import { isPrivateHost } from '../../net/private-host.ts'
import { type LintContext, type Rule, rule } from './rule.ts'

/** Links for people, and where each stands in the canonical card. */
export const linksOf = ({ card }: LintContext): [Pointer, unknown][] => [
  ...['documentationUrl', 'iconUrl', 'termsOfServiceUrl', 'privacyPolicyUrl'].map((name): [Pointer, unknown] => [
    formatPointer(name),
    (card as JsonObject)[name],
  ]),
  ['/provider/url', card.provider?.url],
]

const isFollowable = (value: unknown, isPublic: boolean): boolean => {
  const url = URL.parse(String(value))
  return url !== null && /^https?:$/.test(url.protocol) && !(isPublic && isPrivateHost(url.hostname))
}

/** What tells people who is behind an agent, and where to read on. */
export const links: readonly Rule[] = [
  rule('link-url', 'warning', 'is not an http or https URL that everyone can follow', subject =>
    linksOf(subject)
      .filter(([, value]) => value !== undefined && value !== null && value !== '')
      .filter(([, value]) => !isFollowable(value, subject.manifest.visibility === 'public'))
      .map(([place]) => subject.at(place)),
  ),
  rule(
    'provider-incomplete',
    'warning',
    'needs both organization and url: A2A 0.3 and 1.0 require them, so their cards are served without a provider',
    ({ card: { provider }, at }) =>
      provider && (provider.organization === undefined || provider.url === undefined) ? [at('/provider')] : [],
  ),
]
