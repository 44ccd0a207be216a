import type { AgentCard } from '../../card/model/index.ts'
import { allowsAnonymous } from '../../card/read/index.ts'

/** A header field: a fixed text, and the environment variable that follows it. */
type HeaderCredential = { kind: 'header'; name: string; prefix: string; variable: string }

/** How a snippet gives a credential that a card requires. */
export type Credential =
  | HeaderCredential
  | { kind: 'query'; name: string; variable: string }
  | { kind: 'basic'; user: string; password: string }
  | { kind: 'certificate'; certificate: string; key: string }

/** The names of HTTP header fields and authentication schemes (RFC 9110 §5.6.2). */
const httpToken = /^[!#$%&'*+.^_`|~\w-]+$/

/** Returns the header with an access token of the agent, or with one of this host. */
export const bearerHeader = (variable: string): HeaderCredential => ({
  kind: 'header',
  name: 'Authorization',
  prefix: 'Bearer ',
  variable,
})

/** Returns what a call has to send: the credentials of the first alternative of a card, none where anonymous calls are allowed. */
export const callCredentials = ({ securityRequirements = [], securitySchemes = {} }: AgentCard): Credential[] => {
  if (allowsAnonymous(securityRequirements)) return []
  const names = Object.keys(securityRequirements[0]?.schemes ?? {})
  const credentials: Credential[] = []
  for (const name of names) {
    const scheme = Object.hasOwn(securitySchemes, name) ? securitySchemes[name] : undefined
    const count = credentials.filter(({ kind }) => kind === 'header' || kind === 'query').length
    const credential = scheme && toCredential(scheme, count === 0 ? '' : `_${count + 1}`)
    if (credential) credentials.push(credential)
  }
  return credentials
}

/** Returns how a scheme is used; undefined where the card gives a name that HTTP does not allow. */
const toCredential = (
  {
    apiKeySecurityScheme: key,
    httpAuthSecurityScheme: http,
    oauth2SecurityScheme: oauth,
    openIdConnectSecurityScheme: openId,
    mtlsSecurityScheme: mtls,
  }: NonNullable<AgentCard['securitySchemes']>[string],
  suffix: string,
): Credential | undefined => {
  if (key) return apiKey(key, `AGENT_API_KEY${suffix}`)
  if (http) return httpCredential(http.scheme, suffix)
  if (oauth || openId) return bearerHeader(`AGENT_TOKEN${suffix}`)
  return mtls && { kind: 'certificate', certificate: 'AGENT_CERTIFICATE', key: 'AGENT_CERTIFICATE_KEY' }
}

const apiKey = ({ name, location }: { name: string; location: string }, variable: string): Credential | undefined => {
  if (location === 'query') return { kind: 'query', name, variable }
  if (!httpToken.test(name)) return undefined
  return location === 'cookie'
    ? { kind: 'header', name: 'Cookie', prefix: `${name}=`, variable }
    : { kind: 'header', name, prefix: '', variable }
}

const httpCredential = (scheme: string, suffix: string): Credential | undefined => {
  const name = scheme.toLowerCase()
  if (name === 'bearer') return bearerHeader(`AGENT_TOKEN${suffix}`)
  if (name === 'basic') return { kind: 'basic', user: 'AGENT_USER', password: 'AGENT_PASSWORD' }
  return httpToken.test(scheme)
    ? { kind: 'header', name: 'Authorization', prefix: `${scheme} `, variable: 'AGENT_CREDENTIALS' }
    : undefined
}
