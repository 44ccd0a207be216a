import { parse, stringify } from 'yaml'
import { isPrivateHost, parseUrl } from '../../src/http/shared.ts'
import { type Json, type JsonObject, jsonEquals } from '../../src/json/index.ts'

/** The answers of a new card where there is no other. Until one of them is changed, nothing publishes the card. */
export const STARTER_DEFAULTS = {
  id: 'my-agent',
  /** `public` or `local`: the agent is called at `url`; `mcp`, `card`: the host gets the card from there. */
  reach: 'public',
  name: 'My Agent',
  description: 'What your agent does, for whom, and what it needs to know',
  url: 'https://my-agent.example.com/a2a',
  /** The name of the secret that the host sends to the agent; empty if it sends none. */
  secret: '',
  /** `anyone`, `tokens`, or the URL of the OpenID Connect issuer whose users may call. */
  callers: 'anyone',
  /** The host that the card is for, without a trailing slash. */
  host: 'http://127.0.0.1:8787',
} as const

/** The answers of the owner of a new card. */
export type StarterAnswers = Partial<Record<keyof typeof STARTER_DEFAULTS, string>>

/** Checks whether only this machine or its network reaches a URL. */
export const isLocalAddress = (url: string): boolean => isPrivateHost(parseUrl(url)?.hostname ?? 'example.com')

/** Checks whether an answer about the callers names an OpenID Connect issuer. */
export const isIssuerUrl = (callers: string): boolean => !['anyone', 'tokens'].includes(callers)

/** Returns the text of a new card: YAML with comments, which an editor completes with the schema of the host. */
export const starterCard = (answers: StarterAnswers): string => {
  const { id, reach, name, description, url, secret, callers, host } = { ...STARTER_DEFAULTS, ...answers }
  const isRemote = reach === 'mcp' || reach === 'card'
  const isIssuer = isIssuerUrl(callers)
  const isForwarded = reach === 'mcp' || isLocalAddress(url) || secret !== '' || callers !== 'anyone'
  const upstream = { ...(isRemote && { [reach]: url }), ...(secret && { secret }) }
  const hosting = toYaml({
    ...(Object.keys(upstream).length > 0 && { upstream }),
    ...(isForwarded && { route: 'gateway', callers: isIssuer ? 'issuer' : callers }),
    ...(isIssuer && { jwt: { audience: `${host}/agents/${id}` } }),
  })
  const openIdConnectUrl = `${callers.replace(/(?<!\/)\/+$|\/\.well-known\/.*/, '')}/.well-known/openid-configuration`
  const schemes = { securitySchemes: { issuer: { type: 'openIdConnect', openIdConnectUrl } } }
  const security = isIssuer ? `${toYaml(schemes).replace(/^(?=.)/gm, '  ')}\n` : isForwarded ? '' : DIRECT_SECURITY
  const head = `# yaml-language-server: $schema=${host}/schema/manifest.json

# An agent: its Agent Card under \`card\`, and how the host serves it. The file name is the agent's id.
# \`npx sync-card lint\` checks it, and \`npx sync-card\` publishes it.
`
  if (isRemote) {
    const card = { ...(reach === 'mcp' && { name, description }), ...(isIssuer && schemes) }
    return `${head}
# The host fetches the card from here, or makes it from the tools of the MCP server. \`card\` adds to it.
${isForwarded ? FORWARDED : ''}${hosting}${Object.keys(card).length > 0 ? `\n${toYaml({ card })}` : ''}`
  }
  return `${head}
card:
  name: ${toLine(name)}
  # Clients and other agents choose by the description: what the agent does, for whom, and what it needs to know.
  description: ${toLine(description)}
  version: 1.0.0

  # Where the agent is called, in which binding (JSONRPC, HTTP+JSON or GRPC) and which version of A2A ("1.0" or "0.3").
  supportedInterfaces:
    - url: ${toLine(url)}
      protocolBinding: JSONRPC
      protocolVersion: "1.0"

  # What the agent supports besides plain calls. Clients rely on it.
  capabilities:
    streaming: false
    pushNotifications: false

  # The media types that the agent accepts and produces.
  defaultInputModes: [text/plain]
  defaultOutputModes: [text/plain]

  # What the agent can do, one entry each. Without any, the host makes one skill of the name and the description.
  # skills:
  #   - id: forecast
  #     name: Weather Forecast
  #     description: Returns the weather of a place for the next ten days
  #     tags: [weather]
  #     examples: [Will it rain in Tokyo tomorrow?, How warm will it be in Oslo on Sunday?]

${security}# public: lists name the agent. internal: only callers with a token see it.
# visibility: public

${isForwarded ? FORWARDED + hosting : DIRECT_ROUTE}`
}

const DIRECT_SECURITY = `  # How callers authenticate. Without it, they call without credentials.
  # securitySchemes:
  #   token: { type: http, scheme: bearer }
  # security: [{ token: [] }]

`

const DIRECT_ROUTE = `\
# direct: clients call the agent itself. gateway: through the host, which checks each call.
# closed: the card is published, and nobody can call the agent.
# route: direct
`

const FORWARDED = `\
# Clients call the host, which checks and forwards each call, with the secret of this name if the agent needs one.
# callers: anyone. tokens: who has one of \`npx sync-card token create --scope call\`. issuer: also its users.
`

/** Returns the text of a folder's new defaults: YAML with comments. */
export const starterDefaults = (set: string): string => `# Fields that all other files of this folder inherit.

# The set that these cards belong to at the host. \`npx sync-card --prune\` deletes agents of this set only.
# Choose a name that nobody else uses at the host, and keep it.
set: ${set}
`

let unedited: Json | undefined

/** Checks whether a parsed file has no more than a new card without answers. */
export const isUneditedStarter = (value: Json): boolean => {
  unedited ??= parse(starterCard({})) as Json
  return jsonEquals(value, unedited)
}

const toYaml = (value: JsonObject): string => stringify(value, { lineWidth: 0 })

const toLine = (text: string): string => stringify(text, { lineWidth: 0, blockQuote: false }).trimEnd()
