import { parse, stringify } from 'yaml'
import { type Json, type JsonObject, jsonEquals } from '../../src/json/json.ts'
import { isPrivateHost } from '../../src/net/hosts.ts'
import { parseUrl } from '../../src/net/urls.ts'

/** What the owner of a new card has answered. `host` is the host that the card is for, without a trailing slash. */
export type StarterAnswers = {
  id?: string
  name?: string
  description?: string
  /** Where the agent is: its A2A endpoint; with `source`, its MCP server, or the card that somebody else publishes. */
  url?: string
  source?: 'mcp' | 'card' | undefined
  /** The name of the secret that the host sends to the agent; empty if it sends none. */
  secret?: string
  /** `anyone`, `tokens`, or the URL of the OpenID Connect issuer whose users may call. */
  callers?: string
  host?: string
}

/** What a new card says where there is no answer. Until one of them is changed, nothing publishes the card. */
export const STARTER_DEFAULTS = {
  id: 'my-agent',
  name: 'My Agent',
  description: 'What your agent does, for whom, and what it needs to know',
  url: 'https://my-agent.example.com/a2a',
  secret: '',
  callers: 'anyone',
  host: 'http://127.0.0.1:8787',
} as const satisfies StarterAnswers

/** Whether only this machine or its network reaches a URL. */
export const isLocalAddress = (url: string): boolean => isPrivateHost(parseUrl(url)?.hostname ?? 'example.com')

/** Returns how the host serves a new agent; nothing for one that everyone calls at its own public address. */
const hostingOf = ({ id, url, source, secret, callers, host }: FullAnswers): JsonObject => {
  const isIssuer = isIssuerUrl(callers)
  const isForwarded = source === 'mcp' || isLocalAddress(url) || secret !== '' || callers !== 'anyone'
  const upstream = { ...(source && { [source]: url }), ...(secret && { secret }) }
  return {
    ...(Object.keys(upstream).length > 0 && { upstream }),
    ...(isForwarded && { route: 'gateway', callers: isIssuer ? 'issuer' : callers }),
    ...(isIssuer && { jwt: { audience: `${host}/agents/${id}` } }),
  }
}

type FullAnswers = Required<Omit<StarterAnswers, 'source'>> & Pick<StarterAnswers, 'source'>

/** Whether an answer about the callers names an OpenID Connect issuer. */
export const isIssuerUrl = (callers: string): boolean => !['anyone', 'tokens'].includes(callers)

const securityOf = ({ callers }: FullAnswers): JsonObject => {
  const openIdConnectUrl = `${callers.replace(/(?<!\/)\/+$|\/\.well-known\/.*/, '')}/.well-known/openid-configuration`
  return isIssuerUrl(callers) ? { securitySchemes: { issuer: { type: 'openIdConnect', openIdConnectUrl } } } : {}
}

/** Returns the text of a new card: YAML with comments, which an editor completes with the schema of the host. */
export const starterCard = (answers: StarterAnswers): string => {
  const all: FullAnswers = { ...STARTER_DEFAULTS, ...answers }
  const { name, description, url, source, host } = all
  const [hosting, security] = [hostingOf(all), securityOf(all)]
  const head = `# yaml-language-server: $schema=${host}/schema/manifest.json

# An agent: its Agent Card under \`card\`, and how the host serves it. The file name is the agent's id.
# \`npx sync-card lint\` checks it, and \`npx sync-card\` publishes it.
`
  if (source !== undefined) {
    const card = { ...(source === 'mcp' && { name, description }), ...security }
    return [head, hostingText(hosting, source), ...(Object.keys(card).length > 0 ? [`card:${indent(card)}`] : [])].join(
      '\n',
    )
  }
  const isDirect = Object.keys(hosting).length === 0
  return `${head}
card:
  name: ${toYaml(name)}
  # Clients and other agents choose by the description: what the agent does, for whom, and what it needs to know.
  description: ${toYaml(description)}
  version: 1.0.0

  # Where the agent is called, in which binding (JSONRPC, HTTP+JSON or GRPC) and which version of A2A ("1.0" or "0.3").
  supportedInterfaces:
    - url: ${toYaml(url)}
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
${isDirect ? DIRECT_SECURITY : indent(security)}
# public: lists name the agent. internal: only callers with a token see it.
# visibility: public

${isDirect ? DIRECT_ROUTE : hostingText(hosting, source)}`
}

const DIRECT_SECURITY = `
  # How callers authenticate. Without it, they call without credentials.
  # securitySchemes:
  #   token: { type: http, scheme: bearer }
  # security: [{ token: [] }]
`

const DIRECT_ROUTE = `# direct: clients call the agent itself. gateway: clients call the host, which checks each call against the card and forwards it.
# closed: the card is published, and nobody can call the agent.
# route: direct
`

/** Writes how the host serves an agent, with comments. */
const hostingText = (hosting: JsonObject, source: StarterAnswers['source']): string =>
  [
    ...(source
      ? ['# The host fetches the card from here, or makes it from the tools of the MCP server. `card` adds to it.']
      : []),
    ...(hosting.route ? [FORWARDED] : []),
    stringify(hosting),
  ].join('\n')

const FORWARDED = `# Clients call the host, which checks each call and forwards it, with the secret of this name if the agent needs one.
# callers: anyone. tokens: who has one of \`npx sync-card token create --scope call\`. issuer: also users of the issuer in the card.`

/** Writes members of the card as the text has them. */
const indent = (members: JsonObject): string =>
  Object.keys(members).length === 0 ? '' : `\n${stringify(members, { lineWidth: 0 }).replace(/^/gm, '  ').trimEnd()}\n`

/** Returns the text of a folder's new defaults: YAML with comments. */
export const starterDefaults = (set: string): string => `# Fields that all other files of this folder inherit.

# The set that these cards belong to at the host. \`npx sync-card --prune\` deletes agents of this set only. Choose a name that
# nobody else uses at the host, and keep it.
set: ${set}
`

let unedited: Json | undefined

/** Whether a parsed file says no more than a new card without answers. */
export const isUneditedStarter = (value: Json): boolean => {
  unedited ??= parse(starterCard({})) as Json
  return jsonEquals(value, unedited)
}

/** Writes a text as YAML on one line. */
const toYaml = (text: string): string => stringify(text, { lineWidth: 0, blockQuote: false }).trimEnd()
