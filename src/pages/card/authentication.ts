import { html } from 'hono/html'
import type { AgentCard } from '../../card/model/index.ts'
import { allowsAnonymous } from '../../card/read/index.ts'
import type { Html } from '../layout/index.ts'
import { code, inline, printable, sentenceList, webLink } from './text.ts'

type Schemes = NonNullable<AgentCard['securitySchemes']>
type Scheme = Schemes[string]
type Requirements = NonNullable<AgentCard['securityRequirements']>
type Flows = NonNullable<Scheme['oauth2SecurityScheme']>['flows']

/** Describes in a sentence what callers need. `subject` begins it, such as "Callers need". */
export const requirementSentence = (
  requirements: Requirements | undefined,
  schemes: Schemes = {},
  subject = 'Callers need',
): Html => {
  if (requirements === undefined || requirements.length === 0)
    return html`<p>Anyone may call this agent: its card asks for no credentials.</p>`
  const alternatives = requirements
    .filter(requirement => Object.keys(requirement.schemes).length > 0)
    .map(requirement =>
      sentenceList(
        Object.entries(requirement.schemes).map(([name, { list }]) => credential(name, schemes, list)),
        'and',
      ),
    )
  if (alternatives.length === 0) return html`<p>Anyone may call this agent: its card asks for no credentials.</p>`
  const either = alternatives.length > 1 ? 'either ' : ''
  const anonymous = allowsAnonymous(requirements) ? ' Calls without credentials are answered too.' : ''
  return html`<p>${subject} ${either}${sentenceList(alternatives, 'or')}.${anonymous}</p>`
}

/** Names what a scheme asks for, with the scopes that are required. */
const credential = (name: string, schemes: Schemes, scopes: readonly string[] = []): Html => {
  const scheme = Object.hasOwn(schemes, name) ? schemes[name] : undefined
  const words = scheme === undefined ? undefined : schemeWords(scheme)
  const noun = words ?? html`what the card calls ${inline(name)}, and does not describe`
  if (scopes.length === 0) return noun
  return html`${noun} with the ${scopes.length === 1 ? 'scope' : 'scopes'} ${sentenceList(scopes.map(code), 'and')}`
}

/** Names what a scheme asks for; undefined for a type that A2A does not define. */
const schemeWords = ({
  apiKeySecurityScheme: key,
  httpAuthSecurityScheme: http,
  oauth2SecurityScheme: oauth,
  openIdConnectSecurityScheme: openId,
  mtlsSecurityScheme: mtls,
}: Scheme): Html | undefined => {
  if (key) return html`an API key in the ${apiKeyPlaces[key.location]} ${code(key.name)}`
  if (http) return httpWords(http)
  if (oauth) return html`an OAuth 2.0 access token`
  if (openId) return html`a token from an OpenID Connect provider`
  if (mtls) return html`a TLS client certificate`
  return undefined
}

const apiKeyPlaces = { header: 'header', query: 'query parameter', cookie: 'cookie' } as const

const httpWords = ({ scheme, bearerFormat }: NonNullable<Scheme['httpAuthSecurityScheme']>): Html => {
  const name = scheme.toLowerCase()
  if (name === 'bearer')
    return html`a bearer token${bearerFormat === undefined ? '' : html` (${inline(bearerFormat)})`}`
  if (name === 'basic') return html`a user name and a password (HTTP Basic)`
  return html`HTTP credentials of the scheme ${inline(scheme)}`
}

/** Describes how to get credentials of each scheme of a card. */
export const schemeList = (schemes: Schemes = {}): Html | string => {
  const entries = Object.entries(schemes)
  if (entries.length === 0) return ''
  return html`<p>The card describes these credentials:</p>
<dl class="schemes">${entries.map(
    ([name, scheme]) => html`<dt>${code(name)}</dt>
<dd>${schemeWords(scheme) === undefined ? html`<p>Of a type that A2A 1.0 does not define.</p>` : schemeDetails(scheme)}</dd>`,
  )}</dl>`
}

const schemeDetails = (scheme: Scheme): Html => {
  const { oauth2SecurityScheme: oauth, openIdConnectSecurityScheme: openId } = scheme
  const inner = Object.values(scheme).find(value => typeof value === 'object' && value !== null)
  const description = inner && 'description' in inner ? inner.description : undefined
  return html`<p class="words">${schemeWords(scheme)}</p>
${typeof description === 'string' ? html`<p dir="auto">${printable(description)}</p>` : ''}
${oauth ? flowList(oauth.flows) : ''}
${oauth?.oauth2MetadataUrl === undefined ? '' : html`<p>The metadata of the server: ${webLink(oauth.oauth2MetadataUrl)}</p>`}
${openId ? html`<p>The configuration of the provider: ${webLink(openId.openIdConnectUrl)}</p>` : ''}`
}

const flowTitles: readonly (readonly [keyof Flows & string, title: string])[] = [
  ['authorizationCode', 'A person signs in with a browser (authorization code)'],
  ['clientCredentials', 'A program gets a token with its own credentials (client credentials)'],
  ['deviceCode', 'A person signs in on another device (device code)'],
  ['implicit', 'A person signs in with a browser (implicit, deprecated)'],
  ['password', 'A program sends the password of a person (deprecated)'],
]

/** The members of a flow that the page shows, whichever flow it is. */
type Flow = {
  authorizationUrl?: string
  deviceAuthorizationUrl?: string
  tokenUrl?: string
  refreshUrl?: string | undefined
  scopes?: Record<string, string>
  pkceRequired?: boolean | undefined
}

const flowUrls: readonly (readonly [keyof Flow, label: string])[] = [
  ['authorizationUrl', 'Sign in at'],
  ['deviceAuthorizationUrl', 'Begin at'],
  ['tokenUrl', 'Tokens from'],
  ['refreshUrl', 'Renew tokens at'],
]

const flowList = (flows: Flows): Html =>
  html`<ul>${flowTitles.map(([name, title]) => {
    const flow = flows[name] as Flow | undefined
    if (flow === undefined) return ''
    const scopes = Object.entries(flow.scopes ?? {})
    return html`<li>${title}${flow.pkceRequired ? ', with PKCE' : ''}
<ul>${flowUrls.map(([member, label]) => {
      const url = flow[member]
      return typeof url === 'string' ? html`<li>${label} ${webLink(url)}</li>` : ''
    })}
${scopes.map(([scope, meaning]) => html`<li>Scope ${code(scope)}${meaning === '' ? '' : html`: ${inline(meaning)}`}</li>`)}</ul></li>`
  })}</ul>`
