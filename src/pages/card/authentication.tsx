import type { AgentCard } from '../../card/model/index.ts'
import { allowsAnonymous, findScheme, type Scheme } from '../../card/read/index.ts'
import {
  type Child,
  Code,
  Facts,
  Fold,
  List,
  listWords,
  Paragraph,
  plural,
  printable,
  quote,
  Sentence,
  WebLink,
} from '../components/index.ts'

type Schemes = NonNullable<AgentCard['securitySchemes']>

type Flows = NonNullable<Scheme['oauth2SecurityScheme']>['flows']

/** Returns a sentence with the credentials that callers need. It begins with `subject`, such as "Callers need". */
export const requirementSentence = (
  requirements: AgentCard['securityRequirements'] = [],
  schemes: Schemes = {},
  subject = 'Callers need',
): string => {
  const alternatives = requirements
    .map(requirement => Object.entries(requirement.schemes))
    .filter(required => required.length > 0)
    .map(required => listWords(required.map(([name, { list }]) => credentialWords(name, schemes, list))))
  if (alternatives.length === 0) return 'Anyone may call this agent: its card asks for no credentials.'
  const either = alternatives.length > 1 ? 'either ' : ''
  const anonymous = allowsAnonymous(requirements) ? ' Calls without credentials are answered too.' : ''
  return `${subject} ${either}${listWords(alternatives, 'or')}.${anonymous}`
}

const credentialWords = (name: string, schemes: Schemes, scopes: readonly string[] = []): string => {
  const words =
    schemeWords(findScheme(schemes, name) ?? {}) ?? `what the card calls ${quote(name)}, and does not describe`
  if (scopes.length === 0) return words
  return `${words} with the ${scopes.length === 1 ? 'scope' : 'scopes'} ${listWords(scopes.map(quote))}`
}

/** Names what a scheme asks for; undefined for a type that A2A does not define. */
const schemeWords = (scheme: Partial<Scheme>): string | undefined => {
  const { apiKeySecurityScheme: key, httpAuthSecurityScheme: http } = scheme
  if (key) return `an API key in the ${key.location === 'query' ? 'query parameter' : key.location} ${quote(key.name)}`
  const httpScheme = http?.scheme.toLowerCase()
  if (httpScheme === 'basic') return 'a user name and a password (HTTP Basic)'
  if (http && httpScheme !== 'bearer') return `HTTP credentials of the scheme ${quote(http.scheme)}`
  if (http) return `a bearer token${http.bearerFormat === undefined ? '' : ` (${quote(http.bearerFormat)})`}`
  if (scheme.oauth2SecurityScheme) return 'an OAuth 2.0 access token'
  if (scheme.openIdConnectSecurityScheme) return 'a token from an OpenID Connect provider'
  return scheme.mtlsSecurityScheme && 'a TLS client certificate'
}

/** What callers need, and how to get it. `moreSkills` are those that only callers with a token see. */
export const Authentication = ({ card, moreSkills }: { card: AgentCard; moreSkills: number }) => {
  const schemes = Object.entries(card.securitySchemes ?? {})
  const more = moreSkills > 0 ? ` A token shows ${plural(moreSkills, 'more skill')}.` : ''
  return (
    <section aria-labelledby="authentication">
      <h2 id="authentication">Authentication</h2>
      <Sentence text={requirementSentence(card.securityRequirements, card.securitySchemes) + more} />
      {schemes.length > 0 && (
        <Fold title={`How to get credentials (${schemes.length})`}>
          <Facts rows={schemes.map(([name, scheme]) => [<Code text={name} />, <SchemeDetails scheme={scheme} />])} />
        </Fold>
      )}
    </section>
  )
}

const SchemeDetails = ({ scheme }: { scheme: Scheme }) => {
  const { oauth2SecurityScheme: oauth, openIdConnectSecurityScheme: openId } = scheme
  const inner = Object.values(scheme).find(value => typeof value === 'object' && value !== null)
  const description = inner && 'description' in inner ? inner.description : undefined
  const flows: Partial<Flows> = oauth?.flows ?? {}
  const links = [
    ...labeledLink('The metadata of the server:', oauth?.oauth2MetadataUrl),
    ...labeledLink('The configuration of the provider:', openId?.openIdConnectUrl),
  ]
  return (
    <>
      <Sentence class="words" text={schemeWords(scheme) ?? 'Of a type that A2A 1.0 does not define.'} />
      {typeof description === 'string' && <Paragraph text={description} />}
      {flowTitles.map(([name, title]) => flows[name] && <Flow title={title} flow={flows[name] as OAuthFlow} />)}
      {links.length > 0 && <List items={links} />}
    </>
  )
}

/** Returns a link of which the card may have none, as an item of a list. */
const labeledLink = (label: string, url: string | undefined): Child[] =>
  url === undefined ? [] : [[label, ' ', <WebLink url={url} />]]

const flowTitles: readonly (readonly [keyof Flows & string, title: string])[] = [
  ['authorizationCode', 'A person signs in with a browser (authorization code)'],
  ['clientCredentials', 'A program gets a token with its own credentials (client credentials)'],
  ['deviceCode', 'A person signs in on another device (device code)'],
  ['implicit', 'A person signs in with a browser (implicit, deprecated)'],
  ['password', 'A program sends the password of a person (deprecated)'],
]

const flowUrls = [
  ['authorizationUrl', 'Sign in at'],
  ['deviceAuthorizationUrl', 'Begin at'],
  ['tokenUrl', 'Tokens from'],
  ['refreshUrl', 'Renew tokens at'],
] as const

/** The members of a flow that the page shows, whichever flow it is. */
type OAuthFlow = Partial<Record<(typeof flowUrls)[number][0], string> & Flows['authorizationCode']>

const Flow = ({ title, flow }: { title: string; flow: OAuthFlow }) => {
  const urls = flowUrls.flatMap(([member, label]) => labeledLink(label, flow[member]))
  const scopes = Object.entries(flow.scopes ?? {}).map(([scope, meaning]) => (
    <>
      Scope <Code text={scope} />
      {meaning !== '' && `: ${printable(meaning)}`}
    </>
  ))
  return (
    <>
      <p>
        {title}
        {flow.pkceRequired && ', with PKCE'}
      </p>
      <List items={[...urls, ...scopes]} />
    </>
  )
}
