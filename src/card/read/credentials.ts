import type { AgentCard } from '../model/index.ts'
import { allowsAnonymous } from './security-requirements.ts'

type Schemes = NonNullable<AgentCard['securitySchemes']>

/** A security scheme of a card. */
export type Scheme = Schemes[string]

/** Returns the scheme that a requirement names, if the card has it. */
export const findScheme = (schemes: Schemes, name: string): Scheme | undefined =>
  Object.hasOwn(schemes, name) ? schemes[name] : undefined

/** A credential that a card requires, as a snippet sends it. A header has `prefix`, then the variable. */
export type Credential =
  | { kind: 'header'; name: string; prefix: string; variable: string }
  | { kind: 'query'; name: string; variable: string }
  | { kind: 'basic'; user: string; password: string }
  | { kind: 'certificate'; certificate: string; key: string }

/** The names of HTTP header fields and authentication schemes (RFC 9110 §5.6.2). */
const httpToken = /^[!#$%&'*+.^_`|~\w-]+$/

/** By default, the header has an access token of the agent, or one of this host. */
export const headerCredential = (variable: string, prefix = 'Bearer ', name = 'Authorization') =>
  ({ kind: 'header', name, prefix, variable }) as const

/** Returns the credentials of the first alternative of a card; none where anonymous calls are allowed. */
export const callCredentials = ({ securityRequirements = [], securitySchemes = {} }: AgentCard): Credential[] => {
  if (allowsAnonymous(securityRequirements)) return []
  const credentials: Credential[] = []
  for (const name of Object.keys(securityRequirements[0]?.schemes ?? {})) {
    const scheme = findScheme(securitySchemes, name)
    const count = credentials.filter(({ kind }) => kind === 'header' || kind === 'query').length
    const credential = scheme && toCredential(scheme, count === 0 ? '' : `_${count + 1}`)
    if (credential) credentials.push(credential)
  }
  return credentials
}

/** Returns how a scheme is used; undefined where the card gives a name that HTTP does not allow. */
const toCredential = (scheme: Scheme, suffix: string): Credential | undefined => {
  const { apiKeySecurityScheme: key, httpAuthSecurityScheme: http } = scheme
  const variable = `AGENT_API_KEY${suffix}`
  if (key?.location === 'query') return { kind: 'query', name: key.name, variable }
  if (key && !httpToken.test(key.name)) return undefined
  if (key?.location === 'cookie') return headerCredential(variable, `${key.name}=`, 'Cookie')
  if (key) return headerCredential(variable, '', key.name)
  const httpScheme = http?.scheme.toLowerCase()
  if (httpScheme === 'basic') return { kind: 'basic', user: 'AGENT_USER', password: 'AGENT_PASSWORD' }
  if (http && httpScheme !== 'bearer')
    return httpToken.test(http.scheme) ? headerCredential('AGENT_CREDENTIALS', `${http.scheme} `) : undefined
  if (http || scheme.oauth2SecurityScheme || scheme.openIdConnectSecurityScheme)
    return headerCredential(`AGENT_TOKEN${suffix}`)
  if (!scheme.mtlsSecurityScheme) return undefined
  return { kind: 'certificate', certificate: 'AGENT_CERTIFICATE', key: 'AGENT_CERTIFICATE_KEY' }
}
