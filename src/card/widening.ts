import type { AgentCard } from './agent-card.ts'
import type { Json, JsonObject } from './json.ts'
import { stringsIn } from './lint/strings.ts'
import { type Pointer, pointer } from './pointer.ts'
import type { CardError } from './report.ts'
import { weakerRequirements } from './weaker-requirements.ts'
import { weakerSchemes } from './weaker-schemes.ts'

/**
 * What of a card widens access beside the one before it: calls or credentials that go to another host, and callers of whom
 * less is asked. Both are canonical cards before any address in them is this host's; pointers are into the later one.
 */
export const widening = (before: AgentCard, after: AgentCard): CardError[] => [
  ...newHosts(endpoints(before), endpoints(after), 'calls'),
  ...newHosts(authorities(before), authorities(after), 'credentials'),
  ...weakerRequirements(before, after),
  ...weakerSchemes(before, after),
]

type Address = { url: URL; place: Pointer }

const addressed = (text: string, place: Pointer): Address[] => {
  const url = URL.parse(text)
  return url === null ? [] : [{ url, place }]
}

const endpoints = ({ supportedInterfaces }: AgentCard): Address[] =>
  supportedInterfaces.flatMap(({ url }, index) => addressed(url, pointer('supportedInterfaces', index, 'url')))

/** Where the OAuth and OpenID Connect schemes of a card send callers. */
const authorities = ({ securitySchemes = {} }: AgentCard): Address[] =>
  stringsIn(securitySchemes as JsonObject as Json)
    .filter(({ name }) => /Url$/.test(name))
    .flatMap(({ value, place }) => addressed(value, `/securitySchemes${place()}`))

/** A host that is reached without encryption is not the one that was reached with it. */
const newHosts = (before: readonly Address[], after: readonly Address[], what: string): CardError[] =>
  after
    .filter(({ url }) => !before.some(({ url: known }) => leadsThere(known, url)))
    .map(({ url, place }) => ({
      pointer: place,
      message: `sends ${what} to ${url.protocol}//${url.host}, where none went before`,
    }))

const leadsThere = (known: URL, url: URL): boolean =>
  known.host === url.host && (known.protocol === url.protocol || url.protocol === 'https:')
