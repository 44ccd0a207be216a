import { html } from 'hono/html'
import type { AgentCard } from '../../card/model/index.ts'
import { allowsAnonymous, findScheme, type Scheme } from '../../card/read/index.ts'
import type { Html } from '../layout/index.ts'
import { code, inline, printable, sentenceList, webLink } from './markup.ts'

type Schemes = NonNullable<AgentCard['securitySchemes']>

type Flows = NonNullable<Scheme['oauth2SecurityScheme']>['flows']

/** Describes in a sentence what callers need. `subject` begins it, such as "Callers need". */
export const requirementSentence = (
  requirements: AgentCard['securityRequirements'] = [],
  schemes: Schemes = {},
  subject = 'Callers need',
): Html => {
  const alternatives = requirements
    .map(requirement => Object.entries(requirement.schemes))
    .filter(required => required.length > 0)
    .map(required => required.map(([name, { list }]) => credential(name, schemes, list)))
    .map(credentials => sentenceList(credentials, 'and'))
  if (alternatives.length === 0) return html`<p>Anyone may call this agent: its card asks for no credentials.</p>`
  const either = alternatives.length > 1 ? 'either ' : ''
  const anonymous = allowsAnonymous(requirements) && ' Calls without credentials are answered too.'
  return html`<p>${subject} ${either}${sentenceList(alternatives, 'or')}.${anonymous}</p>`
}

const credential = (name: string, schemes: Schemes, scopes: readonly string[] = []): Html => {
  const words = schemeWords(findScheme(schemes, name) ?? {})
  const noun = words ?? html`what the card calls ${inline(name)}, and does not describe`
  if (scopes.length === 0) return noun
  return html`${noun} with the ${scopes.length === 1 ? 'scope' : 'scopes'} ${sentenceList(scopes.map(code), 'and')}`
}

/** Names what a scheme asks for; undefined for a type that A2A does not define. */
const schemeWords = (scheme: Partial<Scheme>): Html | undefined => {
  const { apiKeySecurityScheme: key, httpAuthSecurityScheme: http } = scheme
  if (key)
    return html`an API key in the ${key.location === 'query' ? 'query parameter' : key.location} ${code(key.name)}`
  const httpScheme = http?.scheme.toLowerCase()
  if (httpScheme === 'basic') return html`a user name and a password (HTTP Basic)`
  if (http && httpScheme !== 'bearer') return html`HTTP credentials of the scheme ${inline(http.scheme)}`
  if (http) return html`a bearer token${http.bearerFormat !== undefined && html` (${inline(http.bearerFormat)})`}`
  if (scheme.oauth2SecurityScheme) return html`an OAuth 2.0 access token`
  if (scheme.openIdConnectSecurityScheme) return html`a token from an OpenID Connect provider`
  return scheme.mtlsSecurityScheme && html`a TLS client certificate`
}

/** Describes how to get credentials of each scheme of a card. */
export const schemeList = (schemes: Schemes = {}): Html | false => {
  const items = Object.entries(schemes).map(
    ([name, scheme]) => html`<dt>${code(name)}</dt>\n<dd>${schemeDetails(scheme)}</dd>`,
  )
  return items.length > 0 && html`<p>The card describes these credentials:</p>\n<dl class="schemes">${items}</dl>`
}

const schemeDetails = (scheme: Scheme): Html => {
  const words = schemeWords(scheme)
  if (words === undefined) return html`<p>Of a type that A2A 1.0 does not define.</p>`
  const { oauth2SecurityScheme: oauth, openIdConnectSecurityScheme: openId } = scheme
  const inner = Object.values(scheme).find(value => typeof value === 'object' && value !== null)
  const description = inner && 'description' in inner ? inner.description : undefined
  const { oauth2MetadataUrl: metadata, flows = {} } = oauth ?? {}
  return html`<p class="words">${words}</p>
${typeof description === 'string' && html`<p dir="auto">${printable(description)}</p>`}
${oauth && html`<ul>${flowTitles.map(([name, title]) => flows[name] && flowItem(title, flows[name] as Flow))}</ul>`}
${metadata !== undefined && html`<p>The metadata of the server: ${webLink(metadata)}</p>`}
${openId && html`<p>The configuration of the provider: ${webLink(openId.openIdConnectUrl)}</p>`}`
}

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
type Flow = Partial<Record<(typeof flowUrls)[number][0], string> & Flows['authorizationCode']>

const flowItem = (title: string, flow: Flow): Html => {
  const { scopes = {}, pkceRequired } = flow
  const urls = flowUrls.map(([member, label]) => {
    const url = flow[member]
    return url !== undefined && html`<li>${label} ${webLink(url)}</li>`
  })
  const meanings = Object.entries(scopes).map(
    ([scope, meaning]) => html`<li>Scope ${code(scope)}${meaning !== '' && html`: ${inline(meaning)}`}</li>`,
  )
  return html`<li>${title}${pkceRequired && ', with PKCE'}\n<ul>${urls}\n${meanings}</ul></li>`
}
