import { validateStrict } from 'compare-versions'
import { majorMinor } from '../model/protocol-version.ts'
import { type Authored, getAuthored, getAuthoredItems, isBlank } from './authored.ts'
import { type LintContext, type Rule, rule } from './rule.ts'

/** The versions of A2A that there are, as text and as the number that some write; and MCP's, which are dates. */
const published = /^(?:0\.[123]|1\.0|1|\d{4}-\d\d-\d\d)$/

const placesOf = (found: Authored[]) => found.map(({ place }) => place)

/** Where a card says which version of the protocol it speaks: in each interface that it lists, else on top. */
const spoken = (subject: LintContext): Authored[] => {
  const listed = getAuthoredItems(subject, '/supportedInterfaces').map(({ item, place }) => ({
    place: `${place}/protocolVersion`,
    value: item.protocolVersion,
  }))
  return listed.length > 0 ? listed : [getAuthored(subject, '/protocolVersion')]
}

/** The agent's version and the protocol's. */
export const versions: readonly Rule[] = [
  rule('version-semver', 'warning', 'is not a semantic version, such as "1.4.0"', subject =>
    placesOf(
      [getAuthored(subject, '/version')].filter(({ value }) => !isBlank(value) && !validateStrict(String(value))),
    ),
  ),
  rule(
    'protocol-version-unknown',
    'warning',
    'is not a version of A2A, such as "1.0": clients may refuse the agent',
    subject =>
      placesOf(spoken(subject).filter(({ value }) => !isBlank(value) && !published.test(majorMinor(String(value))))),
  ),
]
