import { parse, stringify } from 'yaml'
import { type Json, jsonEquals } from '../../src/json/json.ts'

/** What the owner of a new card has answered. `host` is the host that the card is for, without a trailing slash. */
export type StarterAnswers = { name?: string; description?: string; url?: string; host?: string }

/** What a new card says where there is no answer. Until one of them is changed, nothing publishes the card. */
export const STARTER_DEFAULTS = {
  name: 'My Agent',
  description: 'What your agent does, for whom, and what it needs to know',
  url: 'https://my-agent.example.com/a2a',
  host: 'http://127.0.0.1:8787',
} as const satisfies Required<StarterAnswers>

/** Returns the text of a new card: YAML with comments, which an editor completes with the schema of the host. */
export const starterCard = (answers: StarterAnswers): string => {
  const { name, description, url, host } = { ...STARTER_DEFAULTS, ...answers }
  return `# yaml-language-server: $schema=${host}/schema/manifest.json

# An agent: its Agent Card under \`card\`, and how the host serves it. The file name is the agent's id.
# \`npx sync-card lint\` checks it, and \`npx sync-card\` publishes it.

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

  # How callers authenticate. Without it, they call without credentials.
  # securitySchemes:
  #   token: { type: http, scheme: bearer }
  # security: [{ token: [] }]

# public: lists name the agent. internal: only callers with a token see it.
# visibility: public

# direct: clients call the agent itself. gateway: clients call the host, which checks each call against the card and forwards it.
# closed: the card is published, and nobody can call the agent.
# route: direct
`
}

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
